/**
 * What the headers of an answer say of when calls will be taken again.
 */
import { Duration, Option, Predicate, Schema } from "effect"

/** By name in lower case, as HTTP clients give them. */
export type Headers = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

const parse = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/** `{"<account>":[{…,"estimated_time_to_regain_access":<minutes>}]}` */
const minutesOf = (usage: unknown): ReadonlyArray<number> =>
  Predicate.isObject(usage)
    ? Object.values(usage).flat().map((one: unknown) =>
      Predicate.hasProperty(one, "estimated_time_to_regain_access") ? Number(one.estimated_time_to_regain_access) : 0
    )
    : []

/** The longest wait that they name; undefined when they name none. */
export const regainAfter = (headers: Headers): Duration.Duration | undefined => {
  const seconds = [
    ...minutesOf(Option.getOrUndefined(parse(headers["x-business-use-case-usage"]))).map((minutes) => minutes * 60),
    Number(headers["retry-after"] ?? 0)
  ].filter((wait) => Number.isFinite(wait) && wait > 0)
  return seconds.length === 0 ? undefined : Duration.seconds(Math.max(...seconds))
}
