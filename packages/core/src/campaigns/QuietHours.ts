/**
 * Quiet hours (contract §11): a daily period, by the recipient's own clock, in which a campaign sends nothing. Pure.
 */
import { Array, DateTime, Option, Schema } from "effect"
import { getCountries, getCountryCallingCode, parsePhoneNumberFromString } from "libphonenumber-js/min"
import { type Addressee, countryOf } from "../contacts/Addressee.ts"
import type { Instant } from "../Time.ts"

const timeOfDay = /^([01]\d|2[0-3]):[0-5]\d$/u

/** A time of day: `HH:MM`. */
export const TimeOfDay = Schema.String.check(
  Schema.isPattern(timeOfDay, {
    message: "must be a time of day: HH:MM",
    toJsonSchema: () => ({ pattern: timeOfDay.source, maxLength: 5 })
  })
)

export const QuietHours = Schema.Struct({ from: TimeOfDay, to: TimeOfDay }).check(
  Schema.makeFilter(({ from, to }) => from !== to || { path: ["to"], issue: "must differ from the time in from" })
).annotate({
  identifier: "QuietHours",
  description: "A daily period, over midnight if it ends earlier than it begins: times of day as `HH:MM`."
})
export type QuietHours = typeof QuietHours.Type

/** A name in one spelling of the many that callers can choose: `DateTime` keeps every spelling that it has seen. */
const spelled = (name: string): string => name.toLowerCase()

/** The name of a time zone of the IANA database: `Europe/Paris`. */
export const TimeZoneName = Schema.String.check(
  Schema.isMaxLength(64),
  Schema.makeFilter(
    (name: string) =>
      /^[A-Za-z]/.test(name) && Option.isSome(DateTime.zoneMakeNamed(spelled(name))) ||
      "must be a time zone of the IANA database, such as Europe/Paris"
  )
)

const minute = 60_000

/** The minutes of a day. */
const day = 24 * 60

/** The largest change that a clock makes at once (such as for daylight saving time), in minutes. */
const maxChange = 180

/** How far ahead {@link end} looks for a time that is not quiet, in minutes. */
const horizon = 3 * day

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))

/** The minute of the day that a clock in the zone shows. */
const minuteAt = (zone: string, at: Instant): number => {
  const local = DateTime.makeZonedUnsafe(at, { timeZone: DateTime.zoneMakeNamedUnsafe(spelled(zone)) })
  return DateTime.getPart(local, "hour") * 60 + DateTime.getPart(local, "minute")
}

const isQuietAt = (from: number, to: number, now: number): boolean =>
  from < to ? from <= now && now < to : from <= now || now < to

/** Whether a clock in the zone shows a time within the quiet hours. */
export const isQuiet = ({ from, to }: QuietHours, zone: string, at: Instant): boolean =>
  isQuietAt(minutesOf(from), minutesOf(to), minuteAt(zone, at))

/** Whether no time of day is outside of the quiet hours in all of the zones, while their clocks differ as they do at `at`. */
const leaveNoTime = ({ from, to }: QuietHours, zones: ReadonlyArray<string>, at: Instant): boolean => {
  const [begin, end] = [minutesOf(from), minutesOf(to)]
  const clocks = zones.map((zone) => minuteAt(zone, at))
  return Array.range(0, day - 1).every((later) => clocks.some((clock) => isQuietAt(begin, end, (clock + later) % day)))
}

/**
 * Whether quiet hours, from `at` on, never end in all of the zones. Much cheaper than {@link end}, which looks for the
 * minute.
 */
export const areEndless = (hours: QuietHours, zones: ReadonlyArray<string>, at: Instant): boolean =>
  zones.length > 1 && leaveNoTime(hours, zones, at) && leaveNoTime(hours, zones, at + horizon * minute)

/**
 * The first time, from `at` on, that is not quiet in any of the zones: `at` itself if it is not, else the start of a
 * minute. `null` if there is none within three days. Correct across changes of clocks too: an hour that comes twice is
 * judged twice, and an hour that is skipped is not waited for.
 */
export const end = (hours: QuietHours, zones: ReadonlyArray<string>, at: Instant): Instant | null => {
  const to = minutesOf(hours.to)
  let now = at
  while (now - at <= horizon * minute) {
    const quiet = zones.find((zone) => isQuiet(hours, zone, now))
    if (quiet === undefined) return now
    // to look for a time minute by minute takes long
    if (now === at && areEndless(hours, zones, at)) return null
    const left = (to - minuteAt(quiet, now) + day) % day
    const whole = Math.floor(now / minute) * minute
    // near the end of the quiet hours, where a clock may change, minute by minute
    now = whole + minute * (left > maxChange ? left - maxChange : 1)
  }
  return null
}

const countriesByCode = Array.groupBy(getCountries(), getCountryCallingCode)

/** Regions with a calling code for which Unicode's data, and so `Intl`, has no time zone, with those that apply there. */
const zonesByHand: Readonly<Record<string, ReadonlyArray<string>>> = {
  AC: ["Atlantic/St_Helena"],
  TA: ["Atlantic/St_Helena"],
  XK: ["Europe/Belgrade"]
}

const zonesByCountry = new Map<string, ReadonlyArray<string>>()

/** The time zones of a country; of an unknown one none. */
const zonesIn = (country: string): ReadonlyArray<string> => {
  const known = zonesByCountry.get(country)
  if (known !== undefined) return known
  const locale = new Intl.Locale("und", { region: country }) as Intl.Locale & {
    readonly getTimeZones?: () => ReadonlyArray<string> | undefined
    /** What Node has until version 22. */
    readonly timeZones?: ReadonlyArray<string>
  }
  if (locale.getTimeZones === undefined && locale.timeZones === undefined) {
    // with zones that are assumed, a campaign would send at night
    throw new Error(
      "quiet hours cannot be judged: Intl.Locale of this JavaScript runtime does not list time zones"
    )
  }
  const listed = locale.getTimeZones?.() ?? locale.timeZones ?? []
  const zones = listed.length === 0 ? zonesByHand[country] ?? [] : listed
  zonesByCountry.set(country, zones)
  return zones
}

const countriesOf = (to: Addressee): ReadonlyArray<string> => {
  const country = countryOf(to)
  if (country !== undefined) return [country]
  const parsed = parsePhoneNumberFromString(to)
  return parsed?.country === undefined ? countriesByCode[parsed?.countryCallingCode ?? ""] ?? [] : [parsed.country]
}

/**
 * The time zones in which a customer may be: the time zone in the row, or all zones of the country in the number or
 * user id. A customer in a country with several zones is not written to while any of them is quiet, because the region
 * is not known. UTC if there is no country.
 */
export const zonesOf = (to: Addressee, own: string | null): ReadonlyArray<string> => {
  if (own !== null) return [own]
  const zones = countriesOf(to).flatMap(zonesIn)
  return zones.length === 0 ? ["UTC"] : zones
}

/**
 * The countries whose time zones decide for a customer because the row has none; `null` if it has one, or if they have
 * only one together.
 */
export const countriesWithout = (to: Addressee, own: string | null): ReadonlyArray<string> | null => {
  if (own !== null) return null
  const countries = countriesOf(to)
  return countries.flatMap(zonesIn).length > 1 ? countries : null
}

/** Whether quiet hours, from `at` on, never end for customers whose time zone is not known in these countries. */
export const isAlwaysQuiet = (hours: QuietHours, countries: ReadonlyArray<string>, at: Instant): boolean =>
  areEndless(hours, countries.flatMap(zonesIn), at)
