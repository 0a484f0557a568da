/**
 * The stored form of deliveries and their attempts.
 */
import { Delivery, Replay } from "@wac/core"
import { Duration } from "effect"
import { columns, double, row } from "../Columns.ts"
import { listOf, type Row } from "../Statement.ts"

/**
 * The columns of a delivery. A test in progress has the status `testing`, which exists only here, so that no claim
 * takes it.
 */
export const delivery = columns<
  Omit<Delivery.Delivery, "status"> & { readonly status: Delivery.Delivery["status"] | "testing" }
>(
  {
    id: "text",
    workspaceId: "text",
    webhookId: "text",
    eventId: "text",
    eventType: "text",
    envelope: "text",
    orderKey: "text",
    sequence: "integer",
    status: "text",
    trigger: "text",
    attemptCount: "integer",
    roundAttempts: "integer",
    firstAttemptAt: "bigint",
    lastAttemptAt: "bigint",
    nextAttemptAt: "bigint",
    createdAt: "bigint",
    completedAt: "bigint"
  }
)

/** Lists for SQL, written as constants so that statements match the predicates of partial indexes. */
export const endedStatuses = listOf(Replay.statuses)
export const testTriggers = listOf(Delivery.testTriggers)

/** Reads a delivery. A test in progress is pending. */
export const deliveryOf = (row: Row): Delivery.Delivery => {
  const { status, ...stored } = delivery.read(row)
  return { ...stored, status: status === "testing" ? "pending" : status }
}

/** A column: when a resume or a removal skipped a delivery whose status is still to be written; null otherwise. */
export const skippedAt = (table: string): string =>
  `(
    select s.skipped_at from wac.webhook_skips s
    where ${table}.status = 'pending' and s.webhook_id = ${table}.webhook_id and s.until >= ${table}.position
    order by s.until limit 1
  )::double precision as skipped_at`

const skipped = row({ skippedAt: double<number | null>() })

/** Reads a delivery from a row with {@link skippedAt}. A skipped delivery has ended at that time. */
export const shownOf = (row: Row): Delivery.Delivery => {
  const stored = deliveryOf(row)
  const at = skipped.read(row).skippedAt
  return at === null ? stored : Delivery.end(stored, "skipped", at)
}

/** The columns of an attempt that describe its outcome. */
export const outcome = columns<
  Omit<Delivery.Attempt, "id" | "number" | "retryAfter"> & { readonly retryAfterMs: number | null }
>({
  trigger: "text",
  startedAt: "bigint",
  durationMs: "integer",
  outcome: "text",
  statusCode: "integer",
  message: "text",
  url: "text",
  address: "text",
  timings: "json",
  response: "json",
  retryAfterMs: "bigint"
})

/** The columns of an attempt. */
export const attempt = columns<Pick<Delivery.Attempt, "id" | "number">>({ id: "text", number: "integer" }).and(outcome)

/**
 * The stored form of an attempt. PostgreSQL can store escapes in its `response`, which is JSON, but cannot convert them
 * to text.
 */
export const storedOutcome = ({ message, retryAfter, ...attempt }: Delivery.Attempt) => ({
  ...attempt,
  // PostgreSQL's text can hold neither lone surrogates nor NUL
  message: message.toWellFormed().replaceAll("\0", "\uFFFD"),
  retryAfterMs: retryAfter === null
    ? null
    : Math.min(Math.ceil(Duration.toMillis(retryAfter)), Number.MAX_SAFE_INTEGER)
})

/** Reads an attempt from a row of `attempts`, or from the row's JSON. */
export const attemptOf = (row: Row): Delivery.Attempt => {
  const { retryAfterMs, ...stored } = attempt.read(row)
  return { ...stored, retryAfter: retryAfterMs === null ? null : Duration.millis(retryAfterMs) }
}
