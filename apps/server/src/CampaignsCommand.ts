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
    const refused: Array<{ readonly campaign: Campaign.Campaign; readonly message: string }> = []
    const { change } = yield* Campaigns.Campaigns
    for (const campaign of yield* waiting) {
      const { id, workspaceId } = campaign
      const changed = yield* Effect.result(change(workspaceId, id, { _tag: "Resume" }))
      if (Result.isSuccess(changed)) {
        resumed.push(changed.success)
        yield* OperatorCommand.audited(workspaceId, { action: "campaign.resume", target: id })
      } else if (changed.failure._tag === "StoreError") {
        return yield* changed.failure
      } else if (changed.failure._tag !== "NotFound") {
        // one that is not found was deleted in the meantime
        refused.push({ campaign, message: changed.failure.message })
      }
    }
    yield* printed(
      {
        campaigns: resumed.map(shown),
        refused: refused.map(({ campaign, message }) => ({ ...shown(campaign), message }))
      },
      [
        ...told(resumed, "continues"),
        ...refused.map(({ campaign: { id, name, workspaceId }, message }) =>
          `${id} of ${workspaceId} still waits: ${name}; ${message}`
        )
      ]
    )
    if (refused.length > 0) {
      return yield* new OperatorCommand.CannotDo({
        message: refused.length === 1 ? "one campaign still waits" : `${refused.length} campaigns still wait`
      })
    }
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
