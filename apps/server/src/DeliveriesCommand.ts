/**
 * The operator's commands `deliveries find | show | retry`: the deliveries of a workspace's events to its webhook. They
 * have the rules and the fields of `/internal/webhook/deliveries`. The running servers carry out a retry.
 */
import { Deliveries, Delivery, DeliveryStore, Event, Events, Id, Page, Time } from "@wac/core"
import { DeliveriesHandlers } from "@wac/http"
import { Duration, Effect, Layer, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as MomentFlag from "./MomentFlag.ts"
import * as OperatorCommand from "./OperatorCommand.ts"
import * as WorkspaceChoice from "./WorkspaceChoice.ts"

/** A delivery as `--json` prints it. */
const toJson = (view: DeliveryStore.ListedDelivery) => ({
  ...DeliveriesHandlers.listed(view),
  webhookId: view.webhook.id
})

const describe = (view: DeliveryStore.ListedDelivery): string => {
  const shown = toJson(view)
  const { attemptCount, completedAt, createdAt, customer, eventId, eventType, id, lastAttempt, nextAttemptAt } = shown
  return `${id}  ${shown.status}  ${eventType} ${eventId}` + (customer === null ? "" : ` about ${customer}`) +
    `, recorded ${createdAt}, attempts: ${attemptCount}` +
    (lastAttempt === null ? "" : `, the last: ${lastAttempt.statusCode ?? lastAttempt.outcome}`) +
    (completedAt === null ? "" : `, ended ${completedAt}`) +
    (nextAttemptAt === null ? "" : `, next attempt ${nextAttemptAt}`)
}

const find = Command.make(
  "find",
  {
    workspace: WorkspaceChoice.flag,
    webhook: Flag.String("webhook").pipe(
      Flag.withDescription("Only deliveries to this webhook (whk_…), which may have been removed"),
      Flag.withSchema(Id.WebhookId),
      Flag.optional
    ),
    status: Flag.Literals("status", Delivery.DeliveryStatus.literals).pipe(
      Flag.withDescription("Only deliveries with this status"),
      Flag.optional
    ),
    event: Flag.String("event").pipe(Flag.withDescription("Only deliveries of this event (evt_…)"), Flag.optional),
    eventType: Flag.Literals("event-type", Event.EventType.literals).pipe(
      Flag.withDescription("Only deliveries of events of this type"),
      Flag.optional
    ),
    messageId: Flag.String("message").pipe(
      Flag.withDescription("Only deliveries of events about this message (msg_…)"),
      Flag.withSchema(Id.MessageId),
      Flag.optional
    ),
    outcome: Flag.Literals("outcome", Delivery.AttemptOutcome.literals).pipe(
      Flag.withDescription("Only deliveries whose last attempt had this outcome"),
      Flag.optional
    ),
    statusCode: Flag.Int("status-code").pipe(
      Flag.withDescription("Only deliveries whose last attempt got this HTTP status"),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 599 }))),
      Flag.optional
    ),
    since: MomentFlag.make("since", "Only deliveries recorded at or after this time, such as 2026-01-31T12:00:00Z")
      .pipe(Flag.optional),
    until: MomentFlag.make("until", "Only deliveries recorded before this time").pipe(Flag.optional),
    limit: Flag.Int("limit").pipe(
      Flag.withDescription(`How many deliveries at most; defaults to ${Page.defaultLimit}`),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: OperatorCommand.mostFound }))),
      Flag.withDefault(Page.defaultLimit)
    )
  },
  Effect.fnUntraced(function*({ event, limit, webhook, workspace, ...flags }) {
    const { id: workspaceId } = yield* WorkspaceChoice.chosen(workspace)
    const { list } = yield* Deliveries.Deliveries
    const { eventType, messageId, outcome, since, status, statusCode, until } = flags
    const about = Option.isNone(event)
      ? undefined
      : yield* Events.Events.use(({ get }) => get(workspaceId, event.value))
    // a delivery's time is close to its event's, with which it was recorded
    const apart = Duration.toMillis(DeliveryStore.idsApart)
    const from = Math.max(Option.getOrElse(since, () => 0), about === undefined ? 0 : about.createdAt - apart)
    const to = Math.min(
      Option.getOrElse(until, () => Infinity),
      about === undefined ? Infinity : about.createdAt + apart
    )
    const filter: DeliveryStore.DeliveryFilter = {
      ...Option.isSome(status) ? { status: status.value } : {},
      ...Option.isSome(eventType) ? { eventType: eventType.value } : {},
      ...Option.isSome(messageId) ? { messageId: messageId.value } : {},
      ...Option.isSome(outcome) ? { outcome: outcome.value } : {},
      ...Option.isSome(statusCode) ? { statusCode: statusCode.value } : {},
      ...from > 0 ? { since: from } : {},
      ...to < Infinity ? { until: to } : {}
    }
    const found: Array<DeliveryStore.ListedDelivery> = []
    let after: string | null = null
    do {
      const page: Page.Page<DeliveryStore.ListedDelivery> = yield* list(workspaceId, filter, {
        limit: Page.maxLimit,
        after
      })
      found.push(...page.items.filter((view) =>
        (about === undefined || view.delivery.eventId === about.id) &&
        (Option.isNone(webhook) || view.webhook.id === webhook.value)
      ))
      after = page.next
      // one more than is shown tells that there are more
    } while (after !== null && found.length <= limit)
    const shown = found.slice(0, limit)
    const hasMore = found.length > limit
    yield* OperatorCommand.printed(
      { deliveries: shown.map(toJson), hasMore },
      shown.length === 0 ? "no delivery was found" : shown.map(describe).join("\n")
    )
    if (hasMore) yield* OperatorCommand.notedMore(limit)
  })
).pipe(Command.withDescription("Find deliveries of a workspace, newest first"))

const delivery = Argument.String("delivery").pipe(Argument.withDescription("The delivery's id (dlv_…)"))

const show = Command.make(
  "show",
  { delivery, workspace: WorkspaceChoice.flag },
  Effect.fnUntraced(function*({ delivery, workspace }) {
    const { id } = yield* WorkspaceChoice.chosen(workspace)
    const found = yield* Deliveries.Deliveries.use(({ get }) => get(id, delivery))
    yield* OperatorCommand.printed(
      { ...toJson(found), attempts: found.attempts.map(DeliveriesHandlers.attempt) },
      [
        describe(found),
        ...found.attempts.map(({ durationMs, message, number, startedAt, trigger, url }) =>
          `  ${number}  ${Time.iso(startedAt)}  ${trigger}  ${url}  ${Math.round(durationMs)} ms: ${message}`
        )
      ].join("\n")
    )
  })
).pipe(Command.withDescription("Show a delivery with its attempts, oldest first; --json adds requests and responses"))

const retry = Command.make(
  "retry",
  { delivery, workspace: WorkspaceChoice.flag },
  Effect.fnUntraced(function*({ delivery, workspace }) {
    const { id } = yield* WorkspaceChoice.chosen(workspace)
    const retried = yield* Deliveries.Deliveries.use((deliveries) => deliveries.retry(id, delivery))
    yield* OperatorCommand.audited(id, { action: "delivery.retry", target: retried.delivery.id })
    yield* OperatorCommand.printed(
      toJson(retried),
      retried.status === "held"
        ? `${retried.delivery.id} is held until the webhook is resumed (\`wac webhook resume --workspace ${id}\`)`
        : `${retried.delivery.id} is attempted again, while a server runs`
    )
  })
).pipe(
  Command.withDescription(
    "Attempt a delivery again, by a new run of the retry schedule, even if it has ended; tests and deliveries to a " +
      "removed webhook are refused"
  )
)

const opened = Layer.merge(Deliveries.Deliveries.layer, Events.Events.layer).pipe(
  Layer.provideMerge(OperatorCommand.unopened)
)

export const deliveries = Command.make("deliveries").pipe(
  Command.withDescription("The deliveries of a workspace's events to its webhook, in the storage of DATABASE_URL"),
  Command.withSubcommands([
    Command.provide(find, opened),
    Command.provide(show, opened),
    Command.provide(retry, opened)
  ])
)
