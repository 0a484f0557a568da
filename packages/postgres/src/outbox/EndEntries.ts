/**
 * Records the outcomes of claimed entries of the outbox (core's `OutboxStep.end`). Lock order: the outbox, then
 * messages.
 */
import { type Id, OutboxStep, type PhoneNumber, type Time } from "@wac/core"
import { columns, list, result, row, text, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { awaitDeadlines, keepSends } from "../messages/KeepSends.ts"
import { storedAnswer } from "../messages/StoredAnswer.ts"
import { sender } from "../numbers/Sender.ts"
import { keepQueued } from "../queue/Enqueue.ts"
import { type Rows, type Statement, statement } from "../Statement.ts"

/** Locks entries. An entry that was moved has no token, so its claim is over. */
const lock = statement(
  { ids: list<Id.MessageId>("text") },
  ({ ids }) =>
    `select o.message_id, o.claim_token from wac.outbox o
  where o.message_id = any (${ids}) order by o.message_id for update`
)

const locked = row({ messageId: text<Id.MessageId>(), claimToken: text<string | null>() })

/** The inputs for entries that failed. */
const failedInput = row({
  messageId: text<Id.MessageId>(),
  workspaceId: text<Id.WorkspaceId>(),
  provider: text(),
  named: text<string | null>()
})

const circumstances = unlessEmpty(
  failedInput,
  (rows) =>
    `select g.message_id, w.id is not null as is_known, m.id is not null as is_made,
    p.id as phone_number_id, p.phone_number
  from ${rows("g")}
  left join wac.workspaces w on w.id = g.workspace_id
  left join wac.messages m on m.id = g.message_id
  ${sender("p.id, p.phone_number", { workspaceId: "g.workspace_id", provider: "g.provider", named: "g.named" })}`
)

const circumstance = result<{
  readonly messageId: Id.MessageId
  readonly isKnown: boolean
  readonly isMade: boolean
  readonly phoneNumberId: Id.PhoneNumberId | null
  readonly phoneNumber: PhoneNumber.PhoneNumber["phoneNumber"] | null
}>({ messageId: "text", isKnown: "boolean", isMade: "boolean", phoneNumberId: "text", phoneNumber: "text" })

const foundIn = ([ofLocked, ofFailed = []]: ReadonlyArray<Rows>): OutboxStep.Loaded["found"] => {
  const owners = new Map(ofLocked!.map((row) => {
    const { claimToken, messageId } = locked.read(row)
    return [messageId, claimToken]
  }))
  const failed = new Map(ofFailed.map((row) => {
    const one = circumstance.read(row)
    return [one.messageId, one]
  }))
  return ({ entry: { messageId }, token }) => {
    const { isKnown = true, isMade = true, phoneNumber = null, phoneNumberId = null } = failed.get(messageId) ?? {}
    return {
      isOwn: owners.get(messageId) === token,
      isKnown,
      isMade,
      sender: phoneNumberId === null || phoneNumber === null ? undefined : { id: phoneNumberId, phoneNumber }
    }
  }
}

/** Ends entries. */
export const move = unlessEmpty(
  columns<{ readonly messageId: Id.MessageId; readonly movedAt: Time.Instant }>({
    messageId: "text",
    movedAt: "bigint"
  }),
  (rows) =>
    `update wac.outbox o set moved_at = g.moved_at, claim_token = null from ${rows("g")}
  where o.message_id = g.message_id`
)

const delay = unlessEmpty(
  columns<{ readonly messageId: Id.MessageId; readonly dueAt: Time.Instant }>({ messageId: "text", dueAt: "bigint" }),
  (rows) =>
    `update wac.outbox o set due_at = g.due_at, claim_token = null, tries = o.tries + 1 from ${rows("g")}
  where o.message_id = g.message_id`
)

/** Writes the messages of entries that are ended without having been queued. */
export const keepMade = (made: ReadonlyArray<OutboxStep.Made>): ReadonlyArray<Statement> =>
  keepQueued(made.map(({ answer, message, request }) => ({ ...message, ...request, answer: storedAnswer(answer) })))

/** `OutboxStore.end`. */
export const end: StepOptions<OutboxStep.EndEntry, OutboxStep.Loaded, boolean, OutboxStep.Writes> = {
  load: (commands) => [
    lock({ ids: [...new Set(commands.map(({ entry: { messageId } }) => messageId))] }),
    ...circumstances(
      commands.flatMap(({ end, entry: { messageId, workspaceId }, provider }) =>
        end._tag === "Failed" ? [{ messageId, workspaceId, provider, named: end.content.from ?? null }] : []
      )
    )
  ],
  read: (rows, now) => ({ now, found: foundIn(rows) }),
  decide: OutboxStep.end,
  write: ({ delayed, made, moved, sends }) => [
    ...move(moved),
    ...delay(delayed),
    ...made.length === 0 ? [] : [
      ...keepMade(made),
      ...keepSends(sends),
      ...awaitDeadlines(sends.deadlines)
    ]
  ]
}
