/**
 * The body of a request.
 */
import { badOption } from "./ClientError.ts"

/** The value as JSON; `undefined` of nothing. Throws a `WacError` for what JSON cannot hold: a cycle, a `bigint`. */
export const jsonOf = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value)
  } catch {
    throw badOption(undefined, "the body must be JSON")
  }
}
