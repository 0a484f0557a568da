/**
 * Points in time as the host writes them.
 */
import { DateTime, Option } from "effect"

/** A point in time: a `Date`, ISO 8601 text, or milliseconds since 1970. */
export type Moment = Date | string | number

/** In milliseconds; `undefined` when it is none. */
export const millis = (moment: Moment): number | undefined =>
  Option.getOrUndefined(Option.map(DateTime.make(moment), DateTime.toEpochMillis))

/** As ISO 8601 text; what is no point in time becomes text that is none either, for a schema to refuse. */
export const iso = (moment: Moment | undefined): unknown => {
  if (moment === undefined || typeof moment === "string") return moment
  return Option.getOrElse(Option.map(DateTime.make(moment), DateTime.formatIso), () => "")
}
