/**
 * Enqueuing a message in the host's own transaction (contract §16).
 */
import { MessagesApi } from "@wac/api"
import {
  Errors,
  type Id,
  type Idempotency,
  type Message,
  OutboxStore,
  PhoneNumberStore,
  Policy,
  Provider,
  type SendTimes,
  Time
} from "@wac/core"
import { Clock, Effect, Schema } from "effect"
import type { CallOptions, EnqueueOptions } from "../generated/Messaging.ts"
import { ofDomain } from "../WacError.ts"
import * as Transaction from "./Transaction.ts"

/** The options of enqueuing a message in a transaction. */
export interface InTransaction extends EnqueueOptions {
  /**
   * Your open transaction in the database that wac uses: a client of `pg`, or a transaction of postgres.js, Drizzle,
   * Kysely or Prisma, or a function that runs a statement in one. If the call rejects, also because it was aborted or
   * timed out, roll the transaction back.
   */
  readonly tx: Transaction.Transaction
}

/** An enqueued message. It is sent only if its transaction commits. */
export interface EnqueuedMessage {
  readonly status: "queued"
  /** The message can be read by this id once its transaction has committed and the message has entered the queue. */
  readonly messageId: string
  readonly workspaceId: string
  /** The message is not sent before this time; `null` stands for as soon as possible. */
  readonly sendAt: string | null
}

/** A checked message, with its key and times. */
interface Readable {
  readonly key: Idempotency.IdempotencyKey
  readonly message: Message.OutboundMessage
  readonly times: SendTimes.RequestedTimes
}

const encode = Schema.encodeSync(MessagesApi.EnqueuedMessage)

const invalid = (message: string) => new Errors.InvalidBody({ reason: "invalid_field", param: "tx", message })

const conflict = new Errors.IdempotencyConflict({
  reason: "payload_mismatch",
  message: "the idempotency key was already used to enqueue a different message"
})

/** A statement to be run in a transaction. */
interface Prepared {
  readonly run: () => Promise<EnqueuedMessage>
}

export const make = Effect.gen(function*() {
  const { enqueueFunction } = yield* OutboxStore.OutboxStore
  const numbers = yield* PhoneNumberStore.PhoneNumberStore
  const { name: provider } = yield* Provider.Provider

  /**
   * Fails if the workspace cannot send from the number. All other refusals come after the transaction: also that of a
   * number that the provider lets only reply, which depends on the customer's window.
   */
  const checkSender = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId, message: Message.OutboundMessage) {
    const { from } = message
    const own = yield* numbers.list(workspaceId)
    const sender = own.find((number) =>
      from === undefined
        ? number.provider === provider && number.isDefault
        : number.id === from || number.phoneNumber === from
    )
    const refusal = Policy.senderRefusal({
      now: yield* Clock.currentTimeMillis,
      message,
      provider,
      sender: sender?.block?.scope === "outside_window" ? { ...sender, block: null } : sender,
      boundTo: null,
      contact: undefined
    })
    if (refusal !== undefined) return yield* refusal
  })

  /** Checks the options and the sender, and returns the statement to run. */
  return (workspaceId: Id.WorkspaceId, { key, message, times }: Readable, tx: unknown) =>
    Effect.gen(function*() {
      if (enqueueFunction === null) {
        return yield* invalid(
          "tx is for a PostgreSQL server: no transaction of yours reaches the storage of this instance"
        )
      }
      const query = Transaction.queryOf(tx)
      if (query === "unknown") {
        return yield* invalid(
          "tx must be a client of pg, a transaction of postgres.js, Drizzle, Kysely or Prisma, or a function"
        )
      }
      if (query === "pool") {
        return yield* invalid("tx must be an open transaction: what a pool runs is committed by itself")
      }
      yield* checkSender(workspaceId, message)
      const written = (at: number | undefined) => at === undefined ? null : Time.iso(at)
      const sendAt = written(times.sendAt)
      const prepared: Prepared = {
        run: async () => {
          const result = await query(
            `select ${enqueueFunction}($1::text, $2::text, $3::text::jsonb, $4::text::timestamptz, $5::text::timestamptz) as id`,
            [workspaceId, key, JSON.stringify(encode(message)), sendAt, written(times.sendUntil)]
          ).catch((error: unknown) => {
            throw Transaction.stateOf(error) === "23505" ? ofDomain(conflict, { idempotencyKey: key }) : error
          })
          const [row] = ("rows" in result ? result.rows : result) as ReadonlyArray<{ readonly id?: unknown }>
          if (typeof row?.id !== "string") throw ofDomain(invalid("tx did not resolve to the rows of the statement"))
          return { status: "queued", messageId: row.id, workspaceId, sendAt }
        }
      }
      return prepared
    })
})

/** Whether the options of a call name a transaction. */
export const isIn = (options: CallOptions | InTransaction | undefined): options is InTransaction =>
  typeof options === "object" && options !== null && "tx" in options && options.tx !== undefined
