/**
 * Points in time as the host writes them.
 */
import { DateTime, Option, Predicate } from "effect"

/** A point in time: a `Date`, ISO 8601 text, or milliseconds since 1970. */
export type TimeInput = Date | string | number

/** A point in time in milliseconds since 1970; `undefined` if the value is not a point in time. */
export const millis = (time: TimeInput): number | undefined =>
  Option.getOrUndefined(Option.map(DateTime.make(time), DateTime.toEpochMillis))

/** Converts times to ISO 8601 text, for a schema to decode, and leaves out those that are not given. */
export const writtenTimes = <Name extends string>(times: { readonly [_ in Name]?: TimeInput | undefined }) =>
  Object.fromEntries(
    Object.entries<TimeInput | undefined>(times).filter(([, time]) => time !== undefined).map((
      [name, time]
    ) => [name, iso(time)])
  )

/** Converts a filter's times to ISO 8601 text, for a schema to decode. */
export const written = <Filter extends { readonly since?: TimeInput; readonly until?: TimeInput }>(filter: Filter) =>
  Predicate.isObject(filter)
    ? {
      ...filter,
      ...(filter.since === undefined ? {} : { since: iso(filter.since) }),
      ...(filter.until === undefined ? {} : { until: iso(filter.until) })
    }
    : filter

/** Converts a decoded filter's times to milliseconds. */
export const inMillis = <Others extends object>(
  { since, until, ...others }: Others & { readonly since?: DateTime.Utc; readonly until?: DateTime.Utc }
) => ({
  ...others,
  ...(since === undefined ? {} : { since: DateTime.toEpochMillis(since) }),
  ...(until === undefined ? {} : { until: DateTime.toEpochMillis(until) })
})

/**
 * A point in time as ISO 8601 text, for a schema to decode. An invalid time becomes invalid text, and any other value
 * stays as it is: the schema refuses both.
 */
export const iso = (time: TimeInput | undefined): unknown => {
  if (typeof time !== "number" && !Predicate.isDate(time)) return time
  return Option.getOrElse(Option.map(DateTime.make(time), DateTime.formatIso), () => "")
}
