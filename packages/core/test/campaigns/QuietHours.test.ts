import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { getCountries } from "libphonenumber-js/min"
import { vi } from "vitest"
import * as QuietHours from "../../src/campaigns/QuietHours.ts"
import { hour, minute } from "../checks.ts"

const at = (text: string) => Date.parse(text)

const night = { from: "21:00", to: "08:00" }

/** Clocks that change, by an hour, half an hour or two hours, at night or at midnight, and some that never do. */
const zones = [
  "Europe/Paris",
  "America/New_York",
  "Australia/Lord_Howe",
  "America/Santiago",
  "Africa/Cairo",
  "Antarctica/Troll",
  "Asia/Kathmandu",
  "Asia/Tokyo"
]

/** Instants around the changes of 2026, and some at random; always the same. */
const instants = (() => {
  let seed = 7
  const random = () => (seed = seed * 48271 % 2147483647) / 2147483647
  const changes = [
    "2026-03-08T07:00Z",
    "2026-11-01T06:00Z",
    "2026-03-29T01:00Z",
    "2026-10-25T01:00Z",
    "2026-04-04T15:00Z",
    "2026-10-03T15:30Z",
    "2026-04-23T22:00Z",
    "2026-10-29T21:00Z",
    "2026-09-06T04:00Z",
    "2026-04-05T03:00Z"
  ]
  return changes.flatMap((change) => Array.from({ length: 12 }, () => at(change) + (random() - 0.5) * 26 * hour))
    .concat(Array.from({ length: 60 }, () => at("2026-01-01T00:00Z") + random() * 365 * 24 * hour))
    .map(Math.round)
})()

const local = (zone: string, instant: number) =>
  new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit" }).format(instant)

describe("quiet hours", () => {
  it("quiet hours are by the recipient's clock, over midnight or not", () => {
    const paris = (text: string, hours = night) => QuietHours.isQuiet(hours, "Europe/Paris", at(text))
    assert.isFalse(paris("2026-01-10T19:59:59Z"))
    assert.isTrue(paris("2026-01-10T20:00Z"))
    assert.isTrue(paris("2026-01-11T06:59:59Z"))
    assert.isFalse(paris("2026-01-11T07:00Z"))
    const noon = { from: "12:00", to: "13:30" }
    assert.isTrue(paris("2026-07-10T10:00Z", noon))
    assert.isFalse(paris("2026-07-10T11:30Z", noon))
  })

  it("their end is not quiet, and every minute before it is, in every zone and at every change of the clock", () => {
    const periods = [night, { from: "00:00", to: "02:30" }, { from: "02:15", to: "02:45" }, {
      from: "23:30",
      to: "01:30"
    }]
    for (const hours of periods) {
      for (const zone of zones) {
        for (const instant of instants) {
          const end = QuietHours.end(hours, [zone], instant)!
          const name = `${hours.from} to ${hours.to} in ${zone} from ${new Date(instant).toISOString()}`
          assert.isNotNull(end, name)
          assert.isAtLeast(end, instant, name)
          const clock = local(zone, end)
          const isQuiet = hours.from < hours.to
            ? hours.from <= clock && clock < hours.to
            : hours.from <= clock || clock < hours.to
          assert.isFalse(isQuiet, name)
          for (let minutes = instant; minutes < end; minutes += 7 * minute) {
            assert.isTrue(QuietHours.isQuiet(hours, zone, minutes), `${name} at ${new Date(minutes).toISOString()}`)
          }
          if (end > instant) assert.isTrue(QuietHours.isQuiet(hours, zone, end - 1), name)
        }
      }
    }
  })

  it("an hour that is left out is not waited for, and one that comes twice is quiet twice", () => {
    const early = { from: "01:30", to: "02:30" }
    const endIn = (text: string) => QuietHours.end(early, ["Europe/Paris"], at(text))
    // from 2:00 the clock goes to 3:00
    assert.strictEqual(endIn("2026-03-29T00:45Z"), at("2026-03-29T01:00Z"))
    // from 3:00 it goes back to 2:00
    assert.strictEqual(endIn("2026-10-25T00:15Z"), at("2026-10-25T00:30Z"))
    assert.strictEqual(endIn("2026-10-25T01:10Z"), at("2026-10-25T01:30Z"))
  })

  it("a customer in a country with several zones is written to when none of them is quiet", () => {
    const american = QuietHours.zonesOf("+12025550123", null)
    assert.includeMembers([...american], ["America/New_York", "America/Los_Angeles", "Pacific/Honolulu"])
    assert.deepStrictEqual(QuietHours.zonesOf("+12025550123", "America/New_York"), ["America/New_York"])
    assert.deepStrictEqual(QuietHours.zonesOf("+393331234567", null), ["Europe/Rome"])
    assert.isNotEmpty(QuietHours.zonesOf("+88212345678", null))
    assert.deepStrictEqual(QuietHours.zonesOf("IT.1", null), ["Europe/Rome"])
    assert.deepStrictEqual(QuietHours.zonesOf("US.1", null), american)
    assert.deepStrictEqual(QuietHours.zonesOf("ZZ.1", null), ["UTC"])
    const end = QuietHours.end(night, american, at("2026-01-10T14:00Z"))!
    for (const zone of american) assert.isFalse(QuietHours.isQuiet(night, zone, end), zone)
    const russian = QuietHours.zonesOf("+79161234567", null)
    const noon = at("2026-01-10T12:00Z")
    assert.isNull(QuietHours.end({ from: "19:00", to: "09:00" }, russian, noon))
    // one minute, from Kaliningrad to Kamchatka
    assert.strictEqual(QuietHours.end({ from: "19:00", to: "08:59" }, russian, noon), at("2026-01-11T06:59Z"))
    // somewhere it is always quiet
    const long = { from: "12:00", to: "11:00" }
    assert.isNull(QuietHours.end(long, ["Europe/Paris", "Asia/Tokyo", "America/New_York"], at("2026-01-10T14:00Z")))
  })

  it("quiet hours that leave zones no common time end once a clock has changed, if that is soon enough", () => {
    // New York and Phoenix are two hours apart in winter, and three in summer
    const hours = { from: "11:00", to: "08:00" }
    const zones = ["America/New_York", "America/Phoenix"]
    assert.isNull(QuietHours.end(hours, zones, at("2026-10-20T12:00Z")))
    assert.strictEqual(QuietHours.end(hours, zones, at("2026-10-31T12:00Z")), at("2026-11-01T15:00Z"))
    assert.strictEqual(QuietHours.end(hours, zones, at("2026-11-10T12:00Z")), at("2026-11-10T15:00Z"))
  })

  it("quiet hours are endless if no end is found, and never for a customer whose zone is known", () => {
    const russian = QuietHours.zonesOf("+79161234567", null)
    for (const from of ["18:00", "19:00", "20:00"]) {
      for (const to of ["07:30", "08:59", "09:00", "10:00"]) {
        const hours = { from, to }
        const noon = at("2026-01-10T12:00Z")
        assert.strictEqual(QuietHours.areEndless(hours, russian, noon), QuietHours.end(hours, russian, noon) === null)
      }
    }
    assert.isTrue(QuietHours.areEndless({ from: "19:00", to: "09:00" }, russian, at("2026-01-10T12:00Z")))
    assert.isFalse(QuietHours.areEndless({ from: "12:00", to: "11:59" }, ["Europe/Rome"], at("2026-01-10T12:00Z")))
  })

  it("the countries in which a customer may be are those of the number, unless the time zone is known or the only one", () => {
    assert.deepStrictEqual(QuietHours.countriesWithout("+79161234567", null), ["RU"])
    assert.deepStrictEqual(QuietHours.countriesWithout("US.1", null), ["US"])
    assert.include([...QuietHours.countriesWithout("+15550001111", null)!], "CA")
    assert.isNull(QuietHours.countriesWithout("+79161234567", "Europe/Moscow"))
    assert.isNull(QuietHours.countriesWithout("+393331234567", null))
    assert.isNull(QuietHours.countriesWithout("ZZ.1", null))
  })

  it("every country in a number or user id has time zones", () => {
    const without = getCountries().filter((country) => QuietHours.zonesOf(`${country}.1`, null).join() === "UTC")
    assert.deepStrictEqual(without, [])
    assert.deepStrictEqual(QuietHours.zonesOf("+38344123456", null), ["Europe/Belgrade"])
    assert.deepStrictEqual(QuietHours.zonesOf("+24740123", null), ["Atlantic/St_Helena"])
  })

  describe("on a runtime with another Intl.Locale", () => {
    const { prototype } = Intl.Locale
    const own = Object.getOwnPropertyDescriptor(prototype, "getTimeZones")!

    /** Zones of customers, without `getTimeZones` and, if they are given, with the zones of Node 22's accessor. */
    const zonesWith = async (timeZones: PropertyDescriptor | undefined, to: string) => {
      // the module keeps the zones that it has looked up
      vi.resetModules()
      const { zonesOf } = await import("../../src/campaigns/QuietHours.ts")
      Reflect.deleteProperty(prototype, "getTimeZones")
      if (timeZones !== undefined) Object.defineProperty(prototype, "timeZones", timeZones)
      try {
        return zonesOf(to, null)
      } finally {
        Reflect.deleteProperty(prototype, "timeZones")
        Object.defineProperty(prototype, "getTimeZones", own)
      }
    }
    const accessor = { configurable: true, get: own.value }

    it("a country has the same zones where Intl has them in a property, as Node 22 does", async () => {
      assert.deepStrictEqual(await zonesWith(accessor, "+393331234567"), ["Europe/Rome"])
      assert.includeMembers([...await zonesWith(accessor, "US.1")], ["America/New_York", "Pacific/Honolulu"])
    })

    it("no zones are assumed where Intl does not know them", async () => {
      const error = await zonesWith(undefined, "+393331234567").then(() => assert.fail("zones were assumed"), String)
      assert.strictEqual(
        error,
        "Error: quiet hours cannot be judged: Intl.Locale of this JavaScript runtime does not list time zones"
      )
    })
  })

  it("times of day and zones are checked", () => {
    const hours = Schema.decodeUnknownResult(QuietHours.QuietHours)
    const zone = Schema.decodeUnknownResult(QuietHours.TimeZoneName)
    const tags = (decode: (value: unknown) => { readonly _tag: string }, values: ReadonlyArray<unknown>) =>
      values.map((value) => decode(value)._tag)
    assert.deepStrictEqual(
      tags(hours, [night, { from: "24:00", to: "08:00" }, { from: "9:00", to: "10:00" }, {
        from: "09:00",
        to: "09:00"
      }]),
      ["Success", "Failure", "Failure", "Failure"]
    )
    assert.deepStrictEqual(
      tags(zone, ["Europe/Paris", "America/Argentina/Buenos_Aires", "Mars/Olympus", "+02:00", ""]),
      ["Success", "Success", "Failure", "Failure", "Failure"]
    )
  })
})
