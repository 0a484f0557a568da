/**
 * The commands `campaigns list | confirm`: the operator lists the campaigns that wait because the database was
 * restored or no server ran for a while, and lets them continue (contract §11). The commands work on `DATABASE_URL`
 * directly, while servers run on it.
 */
import {
  type Campaign,
  Campaigns,
  CampaignStore,
  Capabilities,
  MediaInspector,
  MediaLibrary,
  Provider,
  Retention
} from "@wac/core"
import { Effect, Layer, Result } from "effect"
import { Command } from "effect/cli"
import * as OperatorCommand from "./OperatorCommand.ts"
import { retentionFromEnvironment } from "./ServerConfig.ts"

/** The campaigns that wait because the database was restored, or because no server ran for a while. */
export const waiting = Effect.map(
  CampaignStore.CampaignStore.use((store) => store.paused(null)),
  (paused) => paused.filter(({ pausedFor }) => pausedFor === "restored")
)

const shown = ({ counts, id, name, workspaceId }: Campaign.Campaign) => ({ id, workspaceId, name, counts })

/** A campaign that was not resumed, or not all of it, and why. */
interface NotResumed {
  readonly campaign: Campaign.Campaign
  readonly message: string
}

const shownWithMessage = ({ campaign, message }: NotResumed) => ({ ...shown(campaign), message })

const told = (campaigns: ReadonlyArray<Campaign.Campaign>, done: string): ReadonlyArray<string> =>
  campaigns.map(({ counts, id, name, workspaceId }) =>
    `${id} of ${workspaceId} ${done}, with ${counts.queued} recipients left: ${name}`
  )

const printed = (answer: Readonly<Record<string, unknown>>, lines: ReadonlyArray<string>) =>
  OperatorCommand.printed(answer, lines.length === 0 ? "no campaign waits" : lines.join("\n"))

const list = Command.make(
  "list",
  {},
  () => Effect.flatMap(waiting, (found) => printed({ campaigns: found.map(shown) }, told(found, "waits")))
).pipe(
  Command.withDescription(
    "List the campaigns that wait because the database was restored from a backup, or no server ran for 5 minutes"
  )
)

/** A provider with which nothing is sent, and no file downloaded or uploaded: this process has none. */
const noProvider = Layer.succeed(
  Provider.Provider,
  Provider.Provider.of({
    name: "",
    capabilities: Capabilities.all,
    send: () => Effect.die("there is no provider"),
    firstNumber: Effect.die("there is no provider"),
    templates: () => Effect.die("there is no provider")
  })
)

const noUploads = Layer.succeed(
  MediaInspector.MediaInspector,
  MediaInspector.MediaInspector.of({
    begin: () => ({ take: () => {}, digest: () => "" }),
    typeOf: () => Effect.undefined
  })
)

/** What people do with campaigns; their files are found, and kept until they are sent. */
const service = Campaigns.Campaigns.layer.pipe(
  Layer.provide(MediaLibrary.MediaLibrary.layer),
  Layer.provide(Layer.mergeAll(
    noProvider,
    noUploads,
    Layer.effect(
      Retention.CurrentRetention,
      Effect.flatMap(OperatorCommand.Variables, retentionFromEnvironment)
    )
  )),
  Layer.provideMerge(OperatorCommand.unopened)
)

const confirm = Command.make(
  "confirm",
  {},
  Effect.fnUntraced(function*() {
    const resumed: Array<Campaign.Campaign> = []
    const refused: Array<NotResumed> = []
    const failed: Array<NotResumed> = []
    const { change } = yield* Campaigns.Campaigns
    for (const campaign of yield* waiting) {
      const { id, workspaceId } = campaign
      const resume = Effect.tap(
        change(workspaceId, id, { _tag: "Resume" }),
        OperatorCommand.audited(workspaceId, { action: "campaign.resume", target: id })
      )
      // the campaign may run, without its files kept and its entry in the audit: only a repetition does both
      const repeated = Effect.retry(resume, { times: 1, while: ({ _tag }) => _tag === "StoreError" })
      const changed = yield* Effect.result(repeated)
      if (Result.isSuccess(changed)) resumed.push(changed.success)
      // one that is not found was deleted in the meantime
      else if (changed.failure._tag !== "NotFound") {
        const list = changed.failure._tag === "StoreError" ? failed : refused
        list.push({ campaign, message: changed.failure.message })
      }
    }
    yield* printed(
      { campaigns: resumed.map(shown), refused: refused.map(shownWithMessage), failed: failed.map(shownWithMessage) },
      [
        ...told(resumed, "continues"),
        ...refused.map(({ campaign: { id, name, workspaceId }, message }) =>
          `${id} of ${workspaceId} still waits: ${name}; ${message}`
        ),
        ...failed.map(({ campaign: { id, name, workspaceId }, message }) =>
          `${id} of ${workspaceId} waits, or continues without its files being kept for it: ${name}; ${message}`
        )
      ]
    )
    const problems = [
      ...refused.length === 0
        ? []
        : [refused.length === 1 ? "one campaign still waits" : `${refused.length} campaigns still wait`],
      ...failed.length === 0 ? [] : [
        `the storage failed for ${failed.length === 1 ? "one campaign" : `${failed.length} campaigns`}: repeat the ` +
        "command, and pause and resume in the dashboard what continues by then"
      ]
    ]
    if (problems.length > 0) return yield* new OperatorCommand.CannotDo({ message: problems.join("; ") })
  })
).pipe(
  Command.withDescription(
    "Let all campaigns continue that wait because the database was restored from a backup, or no server ran for 5 minutes"
  )
)

export const campaigns = Command.make("campaigns").pipe(
  Command.withDescription("The campaigns that wait for the operator, in the storage of DATABASE_URL"),
  Command.withSubcommands([
    Command.provide(list, OperatorCommand.unopened),
    Command.provide(confirm, service)
  ])
)
