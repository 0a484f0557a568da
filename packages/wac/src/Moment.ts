/**
 * Points in time as the host writes them.
 */
import { DateTime, Option } from "effect"

/** A point in time: a `Date`, ISO 8601 text, or milliseconds since 1970. */
export type Moment = Date | string | number

/** In milliseconds; `undefined` if it is not a point in time. */
export const millis = (moment: Moment): number | undefined =>
  Option.getOrUndefined(Option.map(DateTime.make(moment), DateTime.toEpochMillis))

/** Converts times to ISO 8601 text, for a schema to decode, and leaves out those that are not given. */
export const writtenTimes = <Name extends string>(times: { readonly [_ in Name]?: Moment | undefined }) =>
  Object.fromEntries(
    Object.entries<Moment | undefined>(times).filter(([, time]) => time !== undefined).map(([name, time]) =>
      [name, iso(time)]
    )
  )

/** Converts a filter's times to ISO 8601 text, for a schema to decode. */
export const written = <Filter extends { readonly since?: Moment; readonly until?: Moment }>(filter: Filter) => ({
  ...filter,
  ...(filter.since === undefined ? {} : { since: iso(filter.since) }),
  ...(filter.until === undefined ? {} : { until: iso(filter.until) })
})

/** Converts a decoded filter's times to milliseconds. */
export const inMillis = <Others extends object>(
  { since, until, ...others }: Others & { readonly since?: DateTime.Utc; readonly until?: DateTime.Utc }
) => ({
  ...others,
  ...(since === undefined ? {} : { since: DateTime.toEpochMillis(since) }),
  ...(until === undefined ? {} : { until: DateTime.toEpochMillis(until) })
})

/** As ISO 8601 text. An invalid time becomes invalid text, for a schema to refuse. */
export const iso = (moment: Moment | undefined): unknown => {
  if (moment === undefined || typeof moment === "string") return moment
  return Option.getOrElse(Option.map(DateTime.make(moment), DateTime.formatIso), () => "")
}
