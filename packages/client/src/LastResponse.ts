/**
 * Reads a response's status and headers (contract §1, §4 and §7), and attaches them to results.
 */

/** A rate limit that the request spent, from the headers `RateLimit` and `RateLimit-Policy`. */
export interface RateLimit {
  /** `workspace`, `phone_number` or `pair`, like the reasons of `rate_limited`. */
  readonly name: string
  /** How many requests are left at this moment. */
  readonly remaining: number
  /** When all of {@link quota} is available again, in milliseconds from the response. */
  readonly resetAfter: number
  /** The capacity: how many requests can be made in a burst. */
  readonly quota: number | undefined
  /** The time in which an empty quota fills up, in milliseconds. */
  readonly window: number | undefined
}

/** The response of a result or an error. */
export interface LastResponse {
  readonly status: number
  /** `req_…`: the operator finds the request under it in the log. */
  readonly requestId: string | undefined
  /** Whether this is the stored response of an earlier request with the same Idempotency-Key. */
  readonly replayed: boolean
  /** The limits that the request spent; empty if the response names none. */
  readonly limits: ReadonlyArray<RateLimit>
  /** How many requests the call made. */
  readonly attempts: number
  readonly headers: Headers
}

/** A result with its response, as a property that is not enumerable. */
export type Answered<Result> = Result & { readonly lastResponse: LastResponse }

/** Adds the response to a result. */
export const answered = <Result extends object>(result: Result, lastResponse: LastResponse): Answered<Result> =>
  Object.defineProperty(result, "lastResponse", { value: lastResponse }) as Answered<Result>

/** Members of a structured field (RFC 9651), each a string with whole numbers as parameters: `"pair";r=44;t=6`. */
const membersOf = (field: string | null) =>
  [...(field ?? "").matchAll(/"([^"\\]*)"((?:;[a-z*][a-z0-9_.*-]*=-?[0-9]+)*)/g)].map(([, name, parameters]) => ({
    name: name!,
    parameters: new Map(
      [...parameters!.matchAll(/;([^;=]+)=(-?[0-9]+)/g)].map(([, key, value]) => [key!, Number(value)] as const)
    )
  }))

const millis = (seconds: number | undefined): number | undefined => seconds === undefined ? undefined : seconds * 1000

/** The limits that the headers of a response name. */
const limitsOf = (headers: Headers): ReadonlyArray<RateLimit> => {
  const policies = new Map(membersOf(headers.get("ratelimit-policy")).map((policy) => [policy.name, policy.parameters]))
  return membersOf(headers.get("ratelimit")).map(({ name, parameters }) => ({
    name,
    remaining: parameters.get("r") ?? 0,
    resetAfter: millis(parameters.get("t")) ?? 0,
    quota: policies.get(name)?.get("q"),
    window: millis(policies.get(name)?.get("w"))
  }))
}

/** Reads a response's headers; `attempts` counts the call's requests up to this response. */
export const lastResponseOf = ({ headers, status }: Response, attempts: number): LastResponse => ({
  status,
  requestId: headers.get("request-id") ?? undefined,
  replayed: headers.get("idempotent-replayed") === "true",
  limits: limitsOf(headers),
  attempts,
  headers
})
