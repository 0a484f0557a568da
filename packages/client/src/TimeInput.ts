/** A point in time: a `Date`, ISO 8601 text, or milliseconds since 1970. */
export type TimeInput = Date | string | number
