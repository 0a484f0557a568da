/**
 * Cancels queued messages (core's `OutcomeStep.cancel`), and those in the outbox that are not queued yet. It waits for
 * the lock of a message, such as for a transaction that claims it. A transaction that comes to claim the message
 * meanwhile skips it, since it is locked. Lock order: the outbox, then messages.
 */
import {
  type Id,
  type Idempotency,
  type Message,
  type MessageStore,
  OutcomeStep,
  type PhoneNumber,
  type Time
} from "@wac/core"
import type { Result } from "effect"
import { list, result } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { sender } from "../numbers/Sender.ts"
import { keepMade, move } from "../outbox/EndEntries.ts"
import { type Rows, statement, value } from "../Statement.ts"
import { awaitDeadlines, keepSends } from "./KeepSends.ts"
import { lockSends, sendsIn } from "./StoredSend.ts"

/**
 * Locks entries that are not moved, with the numbers that their messages are sent from. `coalesce` keeps the planner
 * from the indexes of entries that wait, which may be many.
 */
const lockEntries = statement(
  { ids: list<Id.MessageId>("text"), provider: value<string>() },
  ({ ids, provider }) =>
    `select o.message_id, o.workspace_id, o.key, o.message,
    case when o.claim_token is not null then o.due_at end as claimed_until, p.id as phone_number_id, p.phone_number
  from wac.outbox o
  ${
      sender("p.id, p.phone_number", {
        workspaceId: "o.workspace_id",
        provider: `${provider}::text`,
        named: "(o.message->>'from')"
      })
    }
  where o.message_id = any (${ids}) and coalesce(o.moved_at, -1) = -1 and o.message is not null
  order by o.message_id for update of o`
)

const entry = result<{
  readonly messageId: Id.MessageId
  readonly workspaceId: Id.WorkspaceId
  readonly key: Idempotency.IdempotencyKey
  readonly message: unknown
  readonly claimedUntil: Time.Instant | null
  readonly phoneNumberId: Id.PhoneNumberId | null
  readonly phoneNumber: PhoneNumber.PhoneNumber["phoneNumber"] | null
}>({
  messageId: "text",
  workspaceId: "text",
  key: "text",
  message: "json",
  claimedUntil: "bigint",
  phoneNumberId: "text",
  phoneNumber: "text"
})

const entriesIn = (rows: Rows): OutcomeStep.LoadedCancels["enqueued"] => {
  const found = new Map(rows.map((row) => {
    const { messageId, phoneNumber, phoneNumberId: id, ...one } = entry.read(row)
    const sender = id === null || phoneNumber === null ? undefined : { id, phoneNumber }
    return [messageId, { ...one, sender }]
  }))
  return (id) => found.get(id)
}

/** `MessageStore.cancel`. */
export const cancel: StepOptions<
  MessageStore.CancelSend,
  OutcomeStep.LoadedCancels,
  Result.Result<Message.Message, MessageStore.CancelRefusal> | undefined,
  OutcomeStep.CancelWrites
> = {
  load: (commands) => {
    const ids = [...new Set(commands.map(({ messageId }) => messageId))]
    // a process has one provider
    return [lockEntries({ ids, provider: commands[0]!.enqueued.provider }), lockSends({ ids })]
  },
  read: ([entries, sends], now) => ({ now, send: sendsIn(sends!), enqueued: entriesIn(entries!) }),
  decide: OutcomeStep.cancel,
  write: ({ made, moved, ...writes }) => [
    ...move(moved),
    ...keepMade(made),
    ...keepSends(writes),
    ...awaitDeadlines(writes.deadlines)
  ]
}
