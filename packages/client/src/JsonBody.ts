/**
 * Writes the body of a request as JSON.
 */
import { badOption } from "./ClientError.ts"

/** The value as JSON; `undefined` for `undefined`. Throws a `WacError` if JSON cannot hold it: a cycle, a `bigint`. */
export const jsonOf = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value)
  } catch {
    throw badOption(undefined, "the body must be JSON")
  }
}
