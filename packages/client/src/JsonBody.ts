/**
 * The body of a request.
 */
import { WacError } from "./ClientError.ts"

/** The value as JSON. Throws a {@link WacError} for what JSON cannot hold: a cycle, a `bigint`. */
export const jsonOf = (value: unknown): string => {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    const details = { code: "invalid_body", reason: "invalid_field", status: 400 } as const
    throw new WacError("the arguments cannot be written as JSON", details, cause)
  }
}
