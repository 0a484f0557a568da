/**
 * Deliveries and their attempts as they are stored.
 */
import { Delivery, Replay } from "@wac/core"
import { Duration } from "effect"
import { columns, double, row } from "../Columns.ts"
import { listOf, type Row } from "../Statement.ts"

/** A delivery. A test in progress has a status of its own, so that nothing claims it. */
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

/** Constants, so that statements match the predicates of partial indexes. */
export const endedStatuses = listOf(Replay.statuses)
export const testTriggers = listOf(Delivery.testTriggers)

/** The delivery of a row. A test in progress is pending. */
export const deliveryOf = (row: Row): Delivery.Delivery => {
  const { status, ...stored } = delivery.read(row)
  return { ...stored, status: status === "testing" ? "pending" : status }
}

/** When a resume or a removal skipped a delivery, if that is not written yet. */
export const skippedAt = (table: string): string =>
  `(
    select s.skipped_at from wac.webhook_skips s
    where ${table}.status = 'pending' and s.webhook_id = ${table}.webhook_id and s.until >= ${table}.position
    order by s.until limit 1
  )::double precision as skipped_at`

const skipped = row({ skippedAt: double<number | null>() })

/** The delivery of a row with {@link skippedAt}: ended when it was skipped. */
export const shownOf = (row: Row): Delivery.Delivery => {
  const stored = deliveryOf(row)
  const at = skipped.read(row).skippedAt
  return at === null ? stored : Delivery.end(stored, "skipped", at)
}

/** The fields of an attempt that describe its outcome. */
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

/** An attempt. */
export const attempt = columns<Pick<Delivery.Attempt, "id" | "number">>({ id: "text", number: "integer" }).and(outcome)

/**
 * The stored form of an attempt, without its identifiers. Escapes in its response can be stored by PostgreSQL, but not
 * read as text.
 */
export const storedOutcome = ({ message, retryAfter, ...attempt }: Delivery.Attempt) => ({
  ...attempt,
  // PostgreSQL's text cannot hold either of what these replace
  message: message.toWellFormed().replaceAll("\0", "\uFFFD"),
  retryAfterMs: retryAfter === null
    ? null
    : Math.min(Math.ceil(Duration.toMillis(retryAfter)), Number.MAX_SAFE_INTEGER)
})

/** The attempt of a row of `attempts`, or of its JSON. */
export const attemptOf = (row: Row): Delivery.Attempt => {
  const { retryAfterMs, ...stored } = attempt.read(row)
  return { ...stored, retryAfter: retryAfterMs === null ? null : Duration.millis(retryAfterMs) }
}
