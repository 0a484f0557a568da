/**
 * The operator's commands `messages find | outbox | show | cancel | retry | confirm`: the messages of a workspace, and the queue
 * of those that are sent later (contract §15). They have the rules and the fields of `/v1/messages`. The running
 * servers send what they queue.
 */
import {
  Capabilities,
  ContactStore,
  CustomerNames,
  CustomerRecords,
  Id,
  type Idempotency,
  Limits,
  Lookup,
  Message,
  MessageStore,
  NameHashes,
  OutboxCancel,
  OutboxEntry,
  OutboxStore,
  Page,
  PhoneNumberStore,
  QueueStore,
  Time,
  Vault,
  WorkspaceStore
} from "@wac/core"
import { Composition } from "@wac/effect"
import { MessagesHandlers } from "@wac/http"
import { Clock, Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { SecureRandom } from "effect/crypto"
import * as MomentFlag from "./MomentFlag.ts"
import * as OperatorCommand from "./OperatorCommand.ts"
import * as WorkspaceChoice from "./WorkspaceChoice.ts"

const toJson = (message: Message.Message) => ({
  ...MessagesHandlers.shown(message),
  campaignId: message.campaignId
})

const describe = (message: Message.Message): string => {
  const { campaignId, createdAt, error, from, messageId, sendAt, status, to, type } = toJson(message)
  return `${messageId}  ${status}  ${type} from ${from} to ${to}, accepted ${createdAt}` +
    (campaignId === null ? "" : `, of ${campaignId}`) +
    (status === "queued" && sendAt !== null ? `, to be sent ${sendAt}` : "") +
    (error === null ? "" : `: ${error.message}`)
}

/** How many messages are read together: a campaign that is left out can have millions. */
const readAtOnce = 1000

const find = Command.make(
  "find",
  {
    workspace: WorkspaceChoice.flag,
    status: Flag.Literals("status", Message.MessageStatus.literals).pipe(
      Flag.withDescription("Only messages with this status"),
      Flag.optional
    ),
    to: Flag.String("to").pipe(
      Flag.withDescription("Only messages to this customer, by any of their names"),
      Flag.optional
    ),
    reference: Flag.String("reference").pipe(
      Flag.withDescription("Only messages with this client_reference"),
      Flag.optional
    ),
    since: MomentFlag.make("since", "Only messages accepted at or after this time, such as 2026-01-31T12:00:00Z")
      .pipe(Flag.optional),
    until: MomentFlag.make("until", "Only messages accepted before this time").pipe(Flag.optional),
    noCampaign: Flag.Boolean("no-campaign").pipe(
      Flag.withDescription("Only messages of callers, without those of campaigns"),
      Flag.withDefault(false),
      Flag.withoutNegation
    ),
    limit: Flag.Int("limit").pipe(
      Flag.withDescription(`How many messages at most; defaults to ${Page.defaultLimit}`),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: OperatorCommand.mostFound }))),
      Flag.withDefault(Page.defaultLimit)
    )
  },
  Effect.fnUntraced(function*({ limit, noCampaign, reference, since, status, to, until, workspace }) {
    const store = yield* MessageStore.MessageStore
    const contacts = yield* ContactStore.ContactStore
    const { id: workspaceId } = yield* WorkspaceChoice.chosen(workspace)
    const filter: MessageStore.MessageFilter = {
      ...Option.isSome(status) ? { status: status.value } : {},
      ...Option.isSome(reference) ? { clientReference: reference.value } : {},
      ...Option.isSome(since) ? { since: since.value } : {},
      ...Option.isSome(until) ? { until: until.value } : {},
      ...Option.isSome(to)
        ? {
          to: CustomerRecords.namesOf(
            to.value,
            yield* contacts.named(workspaceId, CustomerNames.keyOf(to.value))
          ).texts
        }
        : {}
    }
    const found: Array<Message.Message> = []
    let after: string | null = null
    do {
      const page: Page.Page<Message.Message> = yield* store.list(workspaceId, filter, { limit: readAtOnce, after })
      found.push(...noCampaign ? page.items.filter(({ campaignId }) => campaignId === null) : page.items)
      after = page.next
      // one more than is shown tells that there are more
    } while (after !== null && found.length <= limit)
    const shown = found.slice(0, limit)
    const hasMore = found.length > limit
    yield* OperatorCommand.printed(
      { messages: shown.map(toJson), hasMore },
      shown.length === 0 ? "no message was found" : shown.map(describe).join("\n")
    )
    if (hasMore) yield* OperatorCommand.notedMore(limit)
  })
).pipe(Command.withDescription("Find messages of a workspace, newest first"))

/** An entry of the outbox, with what can be listed of its message. */
const entryToJson = (entry: OutboxEntry.OutboxEntry) => {
  const { clientReference, from, to, type } = OutboxEntry.unreadable(entry.message)
  return {
    messageId: entry.messageId,
    workspaceId: entry.workspaceId,
    to,
    from: from ?? null,
    type,
    enqueuedAt: Time.iso(entry.enqueuedAt),
    sendAt: momentOf(entry.sendAt),
    sendUntil: momentOf(entry.sendUntil),
    tries: entry.tries,
    clientReference: clientReference ?? null
  }
}

/** A time that a host gave, which PostgreSQL may call infinite. */
const momentOf = (at: Time.Instant | null): string | null =>
  at === null ? null : Number.isFinite(at) ? Time.iso(at) : at > 0 ? "infinity" : "-infinity"

const describeEntry = (entry: OutboxEntry.OutboxEntry): string => {
  const { enqueuedAt, messageId, sendAt, to, tries, type } = entryToJson(entry)
  return `${messageId}  ${type} to ${to}, enqueued ${enqueuedAt}` +
    (sendAt === null ? "" : `, to be sent ${sendAt}`) +
    (tries === 0 ? "" : `, tried in vain ${tries === 1 ? "once" : `${tries} times`}`)
}

const outbox = Command.make(
  "outbox",
  {
    workspace: WorkspaceChoice.flag,
    after: Flag.String("after").pipe(
      Flag.withDescription("Only messages after this place, which an earlier list named as its end"),
      Flag.withSchema(Schema.String.check(Schema.isPattern(/^\d{1,15}$/))),
      Flag.optional
    ),
    limit: Flag.Int("limit").pipe(
      Flag.withDescription(`How many messages at most; defaults to ${Page.defaultLimit}`),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: OperatorCommand.mostFound }))),
      Flag.withDefault(Page.defaultLimit)
    )
  },
  Effect.fnUntraced(function*({ after, limit, workspace }) {
    const store = yield* OutboxStore.OutboxStore
    const { id } = yield* WorkspaceChoice.chosen(workspace)
    const found: Array<OutboxEntry.OutboxEntry> = []
    let next = Option.getOrNull(after)
    do {
      const page: Page.Page<OutboxEntry.OutboxEntry> = yield* store.list(id, {
        limit: Math.min(readAtOnce, limit - found.length),
        after: next
      })
      found.push(...page.items)
      next = page.next
    } while (next !== null && found.length < limit)
    yield* OperatorCommand.printed(
      { messages: found.map(entryToJson), hasMore: next !== null, next },
      found.length > 0
        ? found.map(describeEntry).join("\n")
        : Option.isSome(after)
        ? "the outbox has no more"
        : "the outbox is empty"
    )
    if (next !== null) {
      yield* OperatorCommand.noted(
        `more than ${limit}: give ${
          limit < OperatorCommand.mostFound ? "--limit, or " : ""
        }--after ${next} for those that follow`
      )
    }
  })
).pipe(
  Command.withDescription("List the messages that hosts enqueued and that are not queued yet, in the order of arrival")
)

const message = Argument.String("message").pipe(Argument.withDescription("The message's id (msg_…)"))

const get = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId, text: string) {
  const store = yield* MessageStore.MessageStore
  return yield* Lookup.find("message", Id.parse(Id.MessageId, text), (id) => store.get(workspaceId, id))
})

const show = Command.make(
  "show",
  { message, workspace: WorkspaceChoice.flag },
  Effect.fnUntraced(function*({ message, workspace }) {
    const { id } = yield* WorkspaceChoice.chosen(workspace)
    const found = yield* get(id, message)
    yield* OperatorCommand.printed(toJson(found), describe(found))
  })
).pipe(Command.withDescription("Show a message, without its content"))

/** The provider that servers run with, or that of the workspace's default number. */
const providerOf = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId) {
  const { PROVIDER } = yield* OperatorCommand.Variables
  if (PROVIDER !== undefined && PROVIDER !== "") return PROVIDER
  const numbers = yield* PhoneNumberStore.PhoneNumberStore.use(({ list }) => list(workspaceId))
  // the newest decides, as when a number is added
  const defaults = numbers.filter(({ isDefault }) => isDefault).toSorted((one, other) => one.id < other.id ? 1 : -1)
  return defaults[0]?.provider ?? ""
})

const cancel = Command.make(
  "cancel",
  { message, workspace: WorkspaceChoice.flag },
  Effect.fnUntraced(function*({ message, workspace }) {
    const store = yield* MessageStore.MessageStore
    const enqueuedOf = yield* OutboxCancel.make
    const { id: workspaceId } = yield* WorkspaceChoice.chosen(workspace)
    const provider = yield* providerOf(workspaceId)
    const now = yield* Clock.currentTimeMillis
    const cancelled = yield* Effect.fromResult(
      yield* Lookup.find(
        "message",
        Id.parse(Id.MessageId, message),
        (messageId) =>
          Effect.flatMap(
            enqueuedOf(messageId, provider),
            (enqueued) => store.cancel({ now, workspaceId, messageId, boundTo: null, enqueued })
          )
      )
    )
    yield* OperatorCommand.audited(workspaceId, { action: "message.cancel", target: cancelled.id })
    yield* OperatorCommand.printed(toJson(cancelled), `${cancelled.id} is cancelled: it will not be sent`)
  }, Effect.provide(Composition.outboxReader))
).pipe(Command.withDescription("Cancel a queued message"))

const retry = Command.make(
  "retry",
  {
    message,
    workspace: WorkspaceChoice.flag,
    force: Flag.Boolean("force").pipe(
      Flag.withDescription(
        "Also if the message may have been sent (`delivery_unknown`): the customer may get it twice"
      ),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function*({ force, message, workspace }) {
    const store = yield* MessageStore.MessageStore
    const random = yield* SecureRandom.SecureRandom
    const vault = yield* Vault.Vault
    const { id: workspaceId } = yield* WorkspaceChoice.chosen(workspace)
    const failed = yield* get(workspaceId, message)
    const { content, id, phoneNumberId } = failed
    if (failed.status !== "failed") {
      return yield* new OperatorCommand.CannotDo({
        message: `${id} is ${failed.status}: only a failed message is retried`
      })
    }
    if (Message.isDeliveryUnknown(failed) && !force) {
      return yield* new OperatorCommand.CannotDo({
        message: `${id} may have been sent: ${failed.error!.message}; --force sends it again`
      })
    }
    const numbers = yield* PhoneNumberStore.PhoneNumberStore.use(({ list }) => list(workspaceId))
    const number = numbers.find((one) => one.id === phoneNumberId)
    if (Message.isErased(failed) || Message.isWithoutBody(content) || number === undefined) {
      return yield* new OperatorCommand.CannotDo({
        message: `${id} cannot be sent again: ${
          number === undefined ? "its number was removed" : "its content was deleted"
        }`
      })
    }
    const now = yield* Clock.currentTimeMillis
    const name = CustomerNames.keyOf(content.to)
    const { [name]: hash } = yield* NameHashes.of(vault, workspaceId, [name])
    const accepted = yield* store.accept({
      now,
      // a message is retried once, however often the command is repeated
      request: {
        workspaceId,
        route: "wac messages retry",
        key: id as string as Idempotency.IdempotencyKey,
        fingerprint: id
      },
      apiKeyId: null,
      queue: null,
      later: { isInBatch: true },
      message: { ...content, from: failed.from },
      hash: hash!,
      messageId: yield* Id.generate(random, "msg"),
      claimToken: id,
      leaseUntil: now,
      limits: yield* Limits.CurrentLimits,
      provider: number.provider,
      // this process has no provider: the server checks the capabilities when it sends the message
      capabilities: Capabilities.all
    })
    if (accepted._tag === "Refused") return yield* accepted.error
    const answer = accepted._tag === "Queued" || accepted._tag === "Answered" ? accepted.answer : undefined
    if (answer?._tag !== "Queued") {
      return yield* new OperatorCommand.CannotDo({ message: `${id} is being retried by somebody else` })
    }
    const { messageId } = answer
    if (accepted._tag === "Queued") {
      yield* OperatorCommand.audited(workspaceId, {
        action: "message.retry",
        target: messageId,
        detail: { failed: id }
      })
    }
    const instead = yield* get(workspaceId, messageId)
    yield* OperatorCommand.printed(
      { failed: id, ...toJson(instead) },
      accepted._tag === "Queued"
        ? `${messageId} is queued in the place of ${id}, which failed; it is sent while a server runs`
        : `${id} was retried before: ${messageId} took its place, and is ${instead.status}` +
          (instead.status === "failed" ? `; to send that again: wac messages retry ${messageId}` : "")
    )
  })
).pipe(
  Command.withDescription(
    "Send a failed message again, as a new message; repeated within 24 hours, it queues no other. A message that may " +
      "have been sent is refused"
  )
)

const confirm = Command.make(
  "confirm",
  {
    force: Flag.Boolean("force").pipe(
      Flag.withDescription("Also while messages from before the restore are in the outbox: they are sent once queued"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function*({ force }) {
    const store = yield* QueueStore.QueueStore
    const { enqueuedUntil } = yield* OutboxStore.OutboxStore
    const now = yield* Clock.currentTimeMillis
    const queues: Array<{ readonly workspaceId: Id.WorkspaceId; readonly queued: number; readonly enqueued: number }> =
      []
    for (const { id: workspaceId } of yield* WorkspaceStore.WorkspaceStore.use(({ list }) => list)) {
      const { heldSince, queued } = yield* store.backlog(workspaceId, now)
      if (heldSince === null) continue
      const enqueued = yield* enqueuedUntil(workspaceId, heldSince)
      if (queued + enqueued > 0) queues.push({ workspaceId, queued, enqueued })
    }
    const lines = queues.map(({ enqueued, queued, workspaceId }) =>
      `${workspaceId}: ${queued} queued${enqueued === 0 ? "" : `, ${enqueued} in the outbox`}`
    )
    const enqueued = queues.reduce((sum, queue) => sum + queue.enqueued, 0)
    if (enqueued > 0 && !force) {
      yield* OperatorCommand.printed({ released: false, queues }, ["the queue stays held", ...lines].join("\n"))
      return yield* new OperatorCommand.CannotDo({
        message: `${enqueued} ${enqueued === 1 ? "message" : "messages"} in the outbox from before the restore ` +
          "would be sent once queued: look at them (`wac messages outbox`), cancel what must not go out " +
          "(`wac messages cancel`), then confirm with --force"
      })
    }
    const isReleased = yield* store.release(null)
    if (isReleased) {
      for (const { workspaceId } of queues) {
        yield* OperatorCommand.audited(workspaceId, { action: "queue.release", target: workspaceId })
      }
    }
    yield* OperatorCommand.printed(
      { released: isReleased, queues },
      isReleased ? ["the queue is released", ...lines].join("\n") : "the queue is not held"
    )
  })
).pipe(
  Command.withDescription("Let the queue of all workspaces continue that is held because the database was restored")
)

export const messages = Command.make("messages").pipe(
  Command.withDescription(
    "The messages of a workspace, and the queue of those to be sent later, in the storage of DATABASE_URL"
  ),
  Command.withSubcommands([
    Command.provide(find, OperatorCommand.unopened),
    Command.provide(outbox, OperatorCommand.unopened),
    Command.provide(show, OperatorCommand.unopened),
    Command.provide(cancel, OperatorCommand.unopened),
    Command.provide(retry, OperatorCommand.opened),
    Command.provide(confirm, OperatorCommand.unopened)
  ])
)
