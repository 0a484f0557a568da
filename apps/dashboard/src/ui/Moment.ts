/** Times in words of the reader's language. */
import { language, plural, t } from "./Language.ts"

const second = 1000
const minute = 60 * second
/** Lengths of time in milliseconds. */
export const hour = 60 * minute
export const day = 24 * hour

const inDays = (days: number): string => plural(days, "{count} day", "{count} days")

/** Numbers of so many decimal places. */
const places = (digits: number) =>
  new Intl.NumberFormat(language, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    useGrouping: false
  })

const tenths = places(1)
const hundredths = places(2)

/** A length of time in its one or two largest units: `3 min`, `2 h 5 min`, `4 days`. */
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

/** A time as it is seen from now: `just now`, `3 min ago`, `in 2 h`. */
export const relativeTo = (now: number, at: number): string => {
  const ago = now - at
  if (Math.abs(ago) < 10 * second) return ago >= 0 ? t("just now") : t("in a moment")
  return ago > 0 ? t("{length} ago", { length: lengthOf(ago) }) : t("in {length}", { length: lengthOf(-ago) })
}

/** A duration of milliseconds as people compare them: `0.4 ms`, `12 ms`, `1.52 s`. */
export const durationOf = (millis: number): string =>
  millis < 10
    ? `${tenths.format(millis)} ms`
    : millis < second
    ? `${Math.round(millis)} ms`
    : `${hundredths.format(millis / second)} s`

/** How long something took, from milliseconds to days: `0`, `12 ms`, `1.52 s`, `2 h 5 min`. */
export const tookOf = (millis: number): string =>
  millis === 0 ? "0" : millis < minute ? durationOf(millis) : lengthOf(millis)

/** How long ago a time was, in whole days: `30 days`. */
export const daysSince = (time: string): string => inDays(Math.round((Date.now() - Date.parse(time)) / day))

/** A time as a field of date and time has it, by the clock of the reader's device: `2026-01-02T09:30`. */
export const toLocal = (time: string): string => {
  const at = new Date(time)
  return new Date(at.getTime() - at.getTimezoneOffset() * minute).toISOString().slice(0, 16)
}

/** The latest time of a field of date and time: a year of more digits has no time in JSON. */
export const latestLocal = "9999-12-31T23:59"

/** The time that a field of date and time has; `undefined` if it has none. */
export const fromLocal = (local: string): string | undefined => {
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}
