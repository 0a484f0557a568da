/**
 * Recorded API requests, which the dashboard shows (contract §12 *Requests*): the model, which requests are recorded,
 * and counts of refusals. Values of bodies and headers are not part of them. Pure.
 */
import { Duration } from "effect"
import type { ApiKeyId, RequestId, UserId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import type { Field } from "./BodyShape.ts"

/** The caller of a request: an API key, or a person with a session. */
export type Caller =
  | { readonly apiKeyId: ApiKeyId; readonly userId: null }
  | { readonly apiKeyId: null; readonly userId: UserId }

/** The status of a request whose caller left before the response. Nobody receives it. */
export const left = 499

/** An API request that got a response, or whose caller left before it, and is recorded (see {@link isRecorded}). */
export interface ApiRequest {
  readonly id: RequestId
  readonly workspaceId: WorkspaceId
  readonly caller: Caller
  readonly method: string
  /** The route's template, or `unknown`. */
  readonly route: string
  /** The status of the response, or {@link left}. */
  readonly status: number
  /** The error's code; `null` if the request was not refused. */
  readonly code: string | null
  /** The error's reason; also `null` for an error without one. */
  readonly reason: string | null
  /** When the request arrived. */
  readonly at: Instant
  /** Milliseconds from the request's arrival to the start of its response, or until its caller left. */
  readonly durationMs: number
  /**
   * The body's shape, without values (`BodyShape.of`); `null` for people's requests, and if it was too large or not
   * JSON.
   */
  readonly fields: ReadonlyArray<Field> | null
  /**
   * The id of the thing that the request made, changed or read; `null` if the request was refused or the id is unknown.
   */
  readonly subject: string | null
}

/** Methods that change nothing. */
const reading = new Set(["GET", "HEAD"])

/**
 * Whether a request is recorded: every request of an API key, and a person's requests that change something. Of a
 * person's other requests only refusals except `not_found`, because the dashboard's pages poll, even for things that
 * are not there yet.
 */
export const isRecorded = ({ caller, code, method }: Pick<ApiRequest, "caller" | "code" | "method">): boolean =>
  caller.userId === null || !reading.has(method) || (code !== null && code !== "not_found")

/** The word that names the cause of a refusal: the error's reason, or its code if it has no reason. */
export const wordOf = ({ code, reason }: Pick<ApiRequest, "code" | "reason">): string | null => reason ?? code

const hour = Duration.toMillis(Duration.hours(1))

/** The start of the hour in which a request is counted. */
export const hourOf = (at: Instant): Instant => at - at % hour

/** The count of requests of one hour, key and outcome. Requests of people are not counted. */
export interface Tally extends Pick<ApiRequest, "code" | "reason"> {
  readonly apiKeyId: ApiKeyId
  readonly count: number
  /** When the last of these requests arrived. */
  readonly lastAt: Instant
}

/** The pattern of the service's own ids. None of them names a customer. */
const ownId = /^[a-z]{2,4}_[0-7][0-9A-HJKMNP-TV-Z]{25}$/u

/**
 * The subject of a request: the first of the candidates that is one of the service's own ids. A customer's name, or
 * other text that a caller writes into a path, is never the subject.
 */
export const subjectOf = (...candidates: ReadonlyArray<string | undefined>): string | null =>
  candidates.find((text) => text !== undefined && ownId.test(text)) ?? null

/** Requests that were refused for the same reason. */
export interface Group {
  readonly code: string
  readonly reason: string | null
  readonly count: number
  readonly lastAt: Instant
  /** The keys that made them, most requests first. */
  readonly keys: ReadonlyArray<{ readonly apiKeyId: ApiKeyId; readonly count: number }>
}

/** All requests of a period. */
export interface Summary {
  readonly total: number
  /** Most requests first. */
  readonly groups: ReadonlyArray<Group>
}

/** Sums tallies by reason. Pure. */
export const summarize = (tallies: ReadonlyArray<Tally>): Summary => {
  const groups = new Map<string, { -readonly [field in keyof Group]: Group[field] }>()
  const keys = new Map<string, Map<ApiKeyId, number>>()
  let total = 0
  for (const { apiKeyId, code, count, lastAt, reason } of tallies) {
    total += count
    if (code === null) continue
    const name = `${code} ${reason ?? ""}`
    const group = groups.get(name) ?? { code, reason, count: 0, lastAt, keys: [] }
    groups.set(name, group)
    group.count += count
    group.lastAt = Math.max(group.lastAt, lastAt)
    const own = keys.get(name) ?? new Map<ApiKeyId, number>()
    keys.set(name, own.set(apiKeyId, (own.get(apiKeyId) ?? 0) + count))
  }
  for (const [name, group] of groups) {
    group.keys = [...keys.get(name)!].map(([apiKeyId, count]) => ({ apiKeyId, count })).sort((a, b) =>
      b.count - a.count || (a.apiKeyId < b.apiKeyId ? -1 : 1)
    )
  }
  return {
    total,
    groups: [...groups].sort(([one, a], [other, b]) => b.count - a.count || (one < other ? -1 : 1)).map(([, g]) => g)
  }
}
