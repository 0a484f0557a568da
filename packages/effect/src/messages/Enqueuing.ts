/**
 * Enqueuing a message in the host's own transaction (contract §16).
 */
import { MessagesApi } from "@wac/api"
import {
  Elapsed,
  Errors,
  Id,
  type Idempotency,
  type Message,
  OutboxStore,
  type PhoneNumber,
  PhoneNumberStore,
  Policy,
  Provider,
  type SendTimes,
  Time
} from "@wac/core"
import { Clock, Duration, Effect, Fiber, Option, Schema } from "effect"
import type { CallOptions, EnqueueOptions } from "../generated/Messaging.ts"
import { ofDomain } from "../WacError.ts"
import * as Workspaces from "../workspaces/Workspaces.ts"
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

/** For how long a workspace's numbers are known without being read again. */
const knownFor = Duration.seconds(1)

/**
 * How long a transaction waits for its workspace's numbers. It may hold a connection of the pool that wac reads them
 * with: while transactions hold all of them, the read would wait for the transactions, and they for it.
 */
const patience = Duration.millis(250)

/**
 * The numbers of workspaces that were read within {@link knownFor}, by `Elapsed`. It keeps no others, so a process that
 * enqueues for many workspaces holds few. Exported for its test.
 */
export const recentNumbers = () => {
  const known = new Map<Id.WorkspaceId, { readonly numbers: Numbers; readonly readAt: number }>()
  const forgetOld = (now: number) => {
    for (const [id, { readAt }] of known) {
      if (now - readAt < Duration.toMillis(knownFor)) break
      known.delete(id)
    }
  }
  return {
    find: (id: Id.WorkspaceId, now: number): Numbers | undefined => {
      forgetOld(now)
      return known.get(id)?.numbers
    },
    note: (id: Id.WorkspaceId, numbers: Numbers, now: number): void => {
      forgetOld(now)
      // inserted again, so that the map stays in the order of time
      known.delete(id)
      known.set(id, { numbers, readAt: now })
    },
    size: () => known.size
  }
}

/** Reads the numbers of workspaces, each once for all transactions that wait for them. */
const numbersOf = Effect.gen(function*() {
  const store = yield* PhoneNumberStore.PhoneNumberStore
  const scope = yield* Effect.scope
  const known = recentNumbers()
  const reading = new Map<Id.WorkspaceId, Fiber.Fiber<Numbers | undefined>>()

  const read = (workspaceId: Id.WorkspaceId) =>
    store.list(workspaceId).pipe(
      Effect.tap((numbers) => Effect.map(Elapsed.now, (now) => known.note(workspaceId, numbers, now))),
      Effect.orElseSucceed(() => undefined),
      Effect.ensuring(Effect.sync(() => reading.delete(workspaceId)))
    )

  /** The workspace's numbers as they are now; `undefined` if they cannot be read in time. */
  const current = (workspaceId: Id.WorkspaceId): Effect.Effect<Numbers | undefined> =>
    Effect.gen(function*() {
      let fiber = reading.get(workspaceId)
      if (fiber === undefined) {
        fiber = yield* Effect.forkIn(read(workspaceId), scope)
        if (fiber.pollUnsafe() === undefined) reading.set(workspaceId, fiber)
      }
      return yield* Effect.timeoutOrElse(Fiber.join(fiber), {
        duration: patience,
        orElse: () => Effect.undefined
      })
    })

  /** The workspace's numbers as they were a moment ago, if they are known. */
  const recent = (workspaceId: Id.WorkspaceId): Effect.Effect<Numbers | undefined> =>
    Effect.map(Elapsed.now, (now) => known.find(workspaceId, now))

  return { current, recent }
})

type Numbers = ReadonlyArray<PhoneNumber.PhoneNumber>

/** A statement to be run in a transaction. */
interface Prepared {
  readonly run: () => Promise<EnqueuedMessage>
}

export const make = Effect.gen(function*() {
  const { enqueueFunction } = yield* OutboxStore.OutboxStore
  const numbers = yield* numbersOf
  const findWorkspace = yield* Workspaces.finding
  const { name: provider } = yield* Provider.Provider

  /** Why the workspace with these numbers cannot send from the number; `undefined` if it can. */
  const refusalOf = (own: Numbers, message: Message.OutboundMessage, now: Time.Instant) => {
    const { from } = message
    const sender = own.find((number) =>
      from === undefined
        ? number.provider === provider && number.isDefault
        : number.id === from || number.phoneNumber === from
    )
    return Policy.senderRefusal({
      now,
      message,
      provider,
      sender: sender?.block?.scope === "outside_window" ? { ...sender, block: null } : sender,
      boundTo: null,
      contact: undefined
    })
  }

  /**
   * Fails if the workspace does not exist or cannot send from the number. A workspace with numbers exists, so most calls
   * read nothing else. All other refusals come after the transaction: also that of a number that the provider lets only
   * reply, which depends on the customer's window, and that of a number that cannot be checked now.
   */
  const checkSender = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId, message: Message.OutboundMessage) {
    const now = yield* Clock.currentTimeMillis
    if (Option.isNone(Id.parse(Id.WorkspaceId, workspaceId))) return yield* findWorkspace(workspaceId)
    const recent = yield* numbers.recent(workspaceId)
    // what was refused a moment ago may be allowed by now
    if (recent !== undefined && refusalOf(recent, message, now) === undefined) return
    const current = yield* numbers.current(workspaceId)
    const refusal = current && refusalOf(current, message, now)
    if (current?.length === 0) {
      const found = Effect.catchTag(findWorkspace(workspaceId), "StoreError", () => Effect.void)
      yield* Effect.timeoutOrElse(found, { duration: patience, orElse: () => Effect.void })
    }
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
