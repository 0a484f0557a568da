/**
 * The stored form of messages and their idempotency keys: one row of `messages`.
 */
import type {
  AbandonStep,
  AcceptStep,
  Id,
  KeyedMessage,
  Message,
  MessageStore,
  SendBatch,
  SendBinding
} from "@wac/core"
import { bigint, columns, json, list, type Reader, result, row, text } from "../Columns.ts"
import { type Row, type Rows, statement } from "../Statement.ts"
import { storedAnswer, storedAnswerOf } from "./StoredAnswer.ts"

/** The columns of a message. */
export const message = columns<Message.Message, { from: "from_number" }>({
  id: "text",
  workspaceId: "text",
  apiKeyId: "text",
  campaignId: "text",
  variant: "text",
  phoneNumberId: "text",
  from: "text",
  content: "json",
  status: "text",
  statusAt: "bigint",
  providerMessageId: "text",
  createdAt: "bigint",
  sendAt: "bigint",
  sentAt: "bigint",
  deliveredAt: "bigint",
  readAt: "bigint",
  failedAt: "bigint",
  error: "json",
  pricing: "json",
  playedAt: "bigint",
  isHeld: "boolean",
  sequence: "integer"
}, { from: "from_number" })

/** The columns of the idempotency key, and of the request that it stands for. */
export const request = columns<Pick<MessageStore.KeyedRequest, "route" | "fingerprint"> & { readonly key: string }>({
  route: "text",
  key: "text",
  fingerprint: "text"
})

/** The columns of the claim on a try: its owner's token, and the end of the lease. */
export const claim = row({ claimToken: text<string | null>(), leaseUntil: bigint<number | null>() })

/** The columns of a key's binding, and the claim on it. */
export const bound = claim.and(
  row({
    answer: json<unknown>(),
    lastFailure: json<unknown>(),
    expiresAt: bigint<number | null>()
  })
)

/** The months whose quota a message has spent and given back. */
export const quota = columns<Pick<KeyedMessage.KeyedMessage, "quotaMonth" | "returnedMonth">>({
  quotaMonth: "text",
  returnedMonth: "text"
})

/** The columns that record what the last try changed, to undo it. */
export const lastTry = row({
  triedBefore: bigint<number | null>(),
  countedAt: bigint<number | null>(),
  countedBefore: bigint<number | null>()
})

/** The stored form of a binding ({@link bound}), or of no binding. */
export const storedBinding = (binding: SendBinding.SendBinding | null): ReturnType<typeof bound.read> => ({
  claimToken: binding?.claim?.token ?? null,
  leaseUntil: binding?.claim?.leaseUntil ?? null,
  answer: storedAnswer(binding?.answer ?? null),
  lastFailure: storedAnswer(binding?.lastFailure ?? null),
  expiresAt: binding?.expiresAt ?? null
})

/** Reads the binding of a message's key. */
const bindingOf = (row: Row, messageId: Id.MessageId): SendBinding.SendBinding => {
  const { answer, claimToken, expiresAt, lastFailure, leaseUntil } = bound.read(row)
  return {
    fingerprint: request.read(row).fingerprint,
    messageId,
    claim: claimToken === null ? null : { token: claimToken, leaseUntil: leaseUntil! },
    answer: storedAnswerOf(answer),
    lastFailure: storedAnswerOf(lastFailure),
    expiresAt
  }
}

/** Reads a message with its binding; `binding` is null if the key was deleted. */
export const send: Reader<KeyedMessage.KeyedMessage> = {
  read: (row) => {
    const one = message.read(row)
    return { message: one, binding: row["key"] === null ? null : bindingOf(row, one.id), ...quota.read(row) }
  }
}

/** Reads a message whose key was not deleted, with its binding. */
export const boundSend: Reader<Omit<AcceptStep.Bound, "isBusy">> = {
  read: (row) => {
    const one = message.read(row)
    return { message: one, binding: bindingOf(row, one.id), ...quota.read(row) }
  }
}

/** Reads a send with its key, and what its last try changed. */
export const tried: Reader<AbandonStep.Tried & Omit<ReturnType<typeof request.read>, "fingerprint">> = {
  read: (row) => {
    const { countedAt, countedBefore, triedBefore } = lastTry.read(row)
    return {
      ...send.read(row),
      ...request.read(row),
      lastTry: {
        statusAtBefore: triedBefore,
        counted: countedAt === null ? null : { at: countedAt, before: countedBefore }
      }
    }
  }
}

/** A row of a statement that returns sends. */
export const sends = result<{ readonly send: KeyedMessage.KeyedMessage }>({ send })

/** Locks sends in the order of their ids. */
export const lockSends = statement(
  { ids: list<Id.MessageId>("text") },
  ({ ids }) => `select to_json(m) as send from wac.messages m where m.id = any (${ids}) order by m.id for update`
)

/** Reads sends from rows. Returns a lookup by id. */
export const sendsIn = (rows: Rows): SendBatch.Loaded["send"] => {
  const found = new Map(rows.map((row) => {
    const { send } = sends.read(row)
    return [send.message.id, send]
  }))
  return (id) => found.get(id)
}
