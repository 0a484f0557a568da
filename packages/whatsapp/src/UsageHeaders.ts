/**
 * Reads from Meta's response headers how long to wait before the next call. `CloudApi` calls it. Pure.
 */
import { Duration } from "effect"
import * as Payload from "./Payload.ts"

/** A response's headers by their lower-case names. */
export type Headers = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

const Usage = Payload.shape({ estimated_time_to_regain_access: Payload.number })

/** `{"<account>":[{…,"estimated_time_to_regain_access":<minutes>}]}` */
const minutesOf = (header: string): ReadonlyArray<number> =>
  Object.values(Payload.fields(Payload.parse(header)) ?? {})
    .flatMap((uses) => Payload.list(uses))
    .map((use) => Usage(use).estimated_time_to_regain_access ?? 0)

/** The longest wait in `x-business-use-case-usage` and `Retry-After`; `undefined` if there is none. */
export const regainAfter = (headers: Headers): Duration.Duration | undefined => {
  const seconds = [
    ...minutesOf(String(headers["x-business-use-case-usage"])).map((minutes) => minutes * 60),
    Number(headers["retry-after"] ?? 0)
  ].filter((wait) => Number.isFinite(wait) && wait > 0)
  return seconds.length === 0 ? undefined : Duration.seconds(Math.max(...seconds))
}
