/**
 * The operator's commands `webhook show | test | resume | replay`: a workspace's webhook. They use the storage of
 * `DATABASE_URL`. `test`, and `resume` of a paused webhook without `--force`, also post a test event to the receiver.
 */
import { Replay, Replays, Time, type Webhook, WebhookHealth, Webhooks, type WebhookStep } from "@wac/core"
import { ReceiverGuardDns, WebhookTransportHttp } from "@wac/receivers"
import { Effect, Layer, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as MomentFlag from "./MomentFlag.ts"
import * as OperatorCommand from "./OperatorCommand.ts"
import { receiverRulesFromEnvironment } from "./ServerConfig.ts"
import * as WorkspaceChoice from "./WorkspaceChoice.ts"

/** The webhook as `--json` prints it; `show` adds the held events. */
const toJson = ({ createdAt, envelope, eventTypes, health, id, pausedAt, updatedAt, url }: Webhook.Webhook) => ({
  id,
  url,
  status: pausedAt === null ? "active" : "paused",
  envelope,
  eventTypes,
  createdAt: Time.iso(createdAt),
  updatedAt: Time.iso(updatedAt),
  pausedAt: Time.isoOrNull(pausedAt),
  failingSince: Time.isoOrNull(WebhookHealth.failingSince(health)),
  lastFailure: health.lastFailure === null
    ? null
    : { at: Time.iso(health.lastFailure.at), message: health.lastFailure.message }
})

const show = Command.make(
  "show",
  { workspace: WorkspaceChoice.flag },
  Effect.fnUntraced(function*({ workspace }) {
    const { id } = yield* WorkspaceChoice.chosen(workspace)
    const { heldCount, oldestHeldAt, webhook } = yield* Webhooks.Webhooks.use((webhooks) => webhooks.get(id))
    const { failingSince, lastFailure, pausedAt, status, url } = toJson(webhook)
    yield* OperatorCommand.printed(
      { ...toJson(webhook), heldCount, oldestHeldAt: Time.isoOrNull(oldestHeldAt) },
      [
        `${url}: ${status}${pausedAt === null ? "" : ` since ${pausedAt}, ${heldCount} events held`}`,
        ...failingSince === null ? [] : [`  failing since ${failingSince}`],
        ...lastFailure === null ? [] : [`  last failure at ${lastFailure.at}: ${lastFailure.message}`]
      ].join("\n")
    )
  })
).pipe(Command.withDescription("Show a workspace's webhook and its health"))

const test = Command.make(
  "test",
  { workspace: WorkspaceChoice.flag },
  Effect.fnUntraced(function*({ workspace }) {
    const { id } = yield* WorkspaceChoice.chosen(workspace)
    const { durationMs, message, outcome, statusCode } = yield* Webhooks.Webhooks.use((webhooks) => webhooks.test(id))
    yield* OperatorCommand.audited(id, { action: "webhook.test", detail: { outcome } })
    if (outcome !== "delivered") {
      return yield* new OperatorCommand.CannotDo({ message: `the receiver did not accept the test event: ${message}` })
    }
    yield* OperatorCommand.printed(
      { outcome, statusCode, durationMs },
      `the receiver accepted the test event after ${durationMs} ms`
    )
  })
).pipe(Command.withDescription("Post a test event to a workspace's receiver; fails unless it is accepted"))

const resume = Command.make(
  "resume",
  {
    workspace: WorkspaceChoice.flag,
    force: Flag.Boolean("force").pipe(
      Flag.withDescription("Do not post a test event first, which must be accepted"),
      Flag.withDefault(false)
    ),
    replay: Flag.String("replay").pipe(
      Flag.withDescription("The held events to deliver: all, none, or those since a time"),
      Flag.withSchema(Schema.String.check(
        Schema.makeFilter((text: string) =>
          text === "all" || text === "none" || MomentFlag.read(text) !== undefined || "must be all, none or a time"
        )
      )),
      Flag.withDefault("all")
    )
  },
  Effect.fnUntraced(function*({ force, replay, workspace }) {
    const { id } = yield* WorkspaceChoice.chosen(workspace)
    const held: WebhookStep.Replay = replay === "all" || replay === "none"
      ? replay
      : { since: MomentFlag.read(replay)! }
    const { probe, webhook } = yield* Webhooks.Webhooks.use((webhooks) =>
      webhooks.resume({ workspaceId: id, replay: held, force })
    )
    if (webhook.pausedAt !== null) {
      return yield* new OperatorCommand.CannotDo({
        message: `the webhook is still paused, because its receiver does not accept a test event: ${probe?.message}`
      })
    }
    yield* OperatorCommand.audited(id, { action: "webhook.resume", detail: { replay } })
    yield* OperatorCommand.printed(toJson(webhook), `${webhook.url} is active`)
  })
).pipe(Command.withDescription("Resume a paused webhook once its receiver accepts a test event"))

const replay = Command.make(
  "replay",
  {
    workspace: WorkspaceChoice.flag,
    since: MomentFlag.make("since", "Events recorded at or after this time, such as 2026-01-31T12:00:00Z"),
    until: MomentFlag.make("until", "Events recorded before this time; defaults to now").pipe(Flag.optional),
    status: Flag.Literals("status", Replay.statuses).pipe(
      Flag.withDescription("Only deliveries that ended with this status; by default, all that have ended"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function*({ since, status, until, workspace }) {
    const { id: workspaceId } = yield* WorkspaceChoice.chosen(workspace)
    const { webhook: { pausedAt } } = yield* Webhooks.Webhooks.use((webhooks) => webhooks.get(workspaceId))
    const job = yield* Replays.Replays.use((replays) =>
      replays.create({
        workspaceId,
        since,
        until: Option.getOrUndefined(until),
        status: Option.getOrUndefined(status)
      })
    )
    yield* OperatorCommand.audited(workspaceId, { action: "replay.create", target: job.id })
    yield* OperatorCommand.printed(
      { id: job.id, state: job.state, total: job.total },
      `${job.id} delivers ${job.total ?? "the"} events again${
        pausedAt === null ? "" : " once the webhook is resumed"
      }, while a server runs`
    )
  })
).pipe(Command.withDescription("Deliver the events of a time again, in the background of the running servers"))

const receivers = Layer.unwrap(Effect.gen(function*() {
  const rules = yield* receiverRulesFromEnvironment(yield* OperatorCommand.Variables)
  return Layer.merge(ReceiverGuardDns.layer(rules), WebhookTransportHttp.layer(rules))
}))

const opened = Layer.merge(Webhooks.Webhooks.layer, Replays.Replays.layer).pipe(
  Layer.provide(receivers),
  Layer.provideMerge(OperatorCommand.opened)
)

export const webhook = Command.make("webhook").pipe(
  Command.withDescription("A workspace's webhook, in the storage of DATABASE_URL"),
  Command.withSubcommands([
    Command.provide(show, opened),
    Command.provide(test, opened),
    Command.provide(resume, opened),
    Command.provide(replay, opened)
  ])
)
