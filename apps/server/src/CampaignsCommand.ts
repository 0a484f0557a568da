/**
 * The commands `campaigns list | confirm`: the operator lists the campaigns that wait because the database was
 * restored, and lets them continue (contract §11). The commands work on `DATABASE_URL` directly, while servers run on
 * it.
 */
import { type Campaign, CampaignStore } from "@wac/core"
import { Clock, Effect, Option, Result } from "effect"
import { Command } from "effect/cli"
import * as OperatorCommand from "./OperatorCommand.ts"

const waiting = Effect.map(
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
  Command.withDescription("List the campaigns that wait because the database was restored from a backup")
)

const confirm = Command.make(
  "confirm",
  {},
  Effect.fnUntraced(function*() {
    const resumed: Array<Campaign.Campaign> = []
    const refused: Array<{ readonly campaign: Campaign.Campaign; readonly message: string }> = []
    for (const campaign of yield* waiting) {
      const { id, workspaceId } = campaign
      const now = yield* Clock.currentTimeMillis
      const changed = yield* CampaignStore.CampaignStore.use((store) =>
        store.change({ workspaceId, id, now, change: { _tag: "Resume" } })
      )
      // the campaign may have been deleted in the meantime
      if (Option.isNone(changed)) continue
      if (Result.isFailure(changed.value)) {
        refused.push({ campaign, message: changed.value.failure.message })
        continue
      }
      resumed.push(changed.value.success)
      yield* OperatorCommand.audited(workspaceId, { action: "campaign.resume", target: id })
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
).pipe(Command.withDescription("Let all campaigns continue that wait because the database was restored from a backup"))

export const campaigns = Command.make("campaigns").pipe(
  Command.withDescription("The campaigns that wait for the operator, in the storage of DATABASE_URL"),
  Command.withSubcommands([
    Command.provide(list, OperatorCommand.unopened),
    Command.provide(confirm, OperatorCommand.unopened)
  ])
)
