/** Times and durations as text in the reader's language, and conversions for fields for date and time. */
import { language, plural, t } from "./Language.ts"

const second = 1000
const minute = 60 * second
/** In milliseconds. */
export const hour = 60 * minute
/** In milliseconds. */
export const day = 24 * hour

const inDays = (days: number): string => plural(days, "{count} day", "{count} days")

/** A format for numbers with so many decimal places. */
const places = (digits: number) =>
  new Intl.NumberFormat(language, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    useGrouping: false
  })

const tenths = places(1)
const hundredths = places(2)

/** A duration, given in milliseconds, in its one or two largest units: `3 min`, `2 h 5 min`, `4 days`. */
export const lengthOf = (millis: number): string => {
  const length = Math.max(0, millis)
  if (length < minute) return `${Math.floor(length / second)} s`
  if (length < hour) return `${Math.floor(length / minute)} min`
  if (length < day) {
    const minutes = Math.floor((length % hour) / minute)
    return `${Math.floor(length / hour)} h${minutes === 0 ? "" : ` ${minutes} min`}`
  }
  const days = Math.floor(length / day)
  const hours = Math.floor((length % day) / hour)
  return `${inDays(days)}${hours === 0 || days > 3 ? "" : ` ${hours} h`}`
}

/** A time relative to `now`, both in milliseconds: `just now`, `3 min ago`, `in 2 h`. */
export const relativeTo = (now: number, at: number): string => {
  const ago = now - at
  if (Math.abs(ago) < 10 * second) return ago >= 0 ? t("just now") : t("in a moment")
  return ago > 0 ? t("{length} ago", { length: lengthOf(ago) }) : t("in {length}", { length: lengthOf(-ago) })
}

/** A short duration, given in milliseconds, with decimals for comparison: `0.4 ms`, `12 ms`, `1.52 s`. */
export const durationOf = (millis: number): string =>
  millis < 10
    ? `${tenths.format(millis)} ms`
    : millis < second
    ? `${Math.round(millis)} ms`
    : `${hundredths.format(millis / second)} s`

/** A duration of any size, given in milliseconds: `0`, `12 ms`, `1.52 s`, `2 h 5 min`. */
export const tookOf = (millis: number): string =>
  millis === 0 ? "0" : millis < minute ? durationOf(millis) : lengthOf(millis)

/** How long ago a time was, in whole days: `30 days`. */
export const daysSince = (time: string): string => inDays(Math.round((Date.now() - Date.parse(time)) / day))

/** A time as the value of a `datetime-local` field, in the time zone of the reader's device: `2026-01-02T09:30`. */
export const toLocal = (time: string): string => {
  const at = new Date(time)
  return new Date(at.getTime() - at.getTimezoneOffset() * minute).toISOString().slice(0, 16)
}

/** The latest value of a `datetime-local` field, because JSON has no format for later years. */
export const latestLocal = "9999-12-31T23:59"

/** The time, in ISO 8601 and UTC, of a `datetime-local` field's value; `undefined` if the field is empty. */
export const fromLocal = (local: string): string | undefined => {
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}
