/**
 * The file of `WAC_RATE_CARD`: a CSV file with the provider's prices, which the operator keeps up to date.
 */
import { type RateCard } from "@wac/core"
import { CsvError, parse } from "csv-parse/sync"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { BadVariable } from "./ServerConfig.ts"

const columns = ["market", "category", "currency", "price", "valid from"] as const

const expected = `a readable CSV file with the columns ${columns.join(", ")}`

const bad = (why: string) => new BadVariable({ variable: "WAC_RATE_CARD", expected: `${expected}; ${why}` })

const day = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/

/** Reads one row, or returns the name of its first wrong column. */
const rateOf = (row: Readonly<Record<string, string>>): RateCard.Rate | (typeof columns)[number] => {
  const { category = "", currency = "", market = "", price = "" } = row
  const validFrom = row["valid from"] ?? ""
  if (!/^(?:[A-Za-z]{2}|\*)$/.test(market)) return "market"
  if (!/^[a-zA-Z_]{1,64}$/.test(category)) return "category"
  if (!/^[A-Za-z]{3}$/.test(currency)) return "currency"
  const [, whole, fraction = ""] = /^([0-9]{1,6})(?:\.([0-9]{1,6}))?$/.exec(price) ?? []
  if (whole === undefined) return "price"
  const from = day.test(validFrom) ? Date.parse(`${validFrom}T00:00:00Z`) : NaN
  if (Number.isNaN(from)) return "valid from"
  return {
    market: market.toUpperCase(),
    category: category.toLowerCase(),
    currency: currency.toUpperCase(),
    price: Number(whole) * 1_000_000 + Number(fraction.padEnd(6, "0")),
    validFrom: from
  }
}

/**
 * Reads a rate card: one row for each price, with a header row. `market` is a country (`DE`) or `*` for all others,
 * `price` that of one message (`0.0456`), `valid from` a day (`2026-07-01`). Fails with the first row that is wrong.
 */
export const read = (text: string): Effect.Effect<RateCard.RateCard, BadVariable> =>
  Effect.gen(function*() {
    const rows = yield* Effect.try({
      try: () =>
        parse(text, {
          bom: true,
          trim: true,
          skip_empty_lines: true,
          columns: (header: ReadonlyArray<string>) =>
            header.map((name) => name.trim().toLowerCase().replaceAll("_", " "))
        }) as ReadonlyArray<Readonly<Record<string, string>>>,
      catch: (error) => bad(error instanceof CsvError ? `line ${error.lines ?? 1} is not CSV` : "it is not CSV")
    })
    return yield* Effect.forEach(rows, (row, i) => {
      const rate = rateOf(row)
      return typeof rate === "string" ? bad(`${rate} in row ${i + 1} after the header is wrong`) : Effect.succeed(rate)
    })
  })

/** Reads the file at a path; without one, the card is empty. */
export const load = (path: string | undefined): Effect.Effect<RateCard.RateCard, BadVariable> =>
  path === undefined ? Effect.succeed([]) : Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: () => bad("it cannot be read")
  }).pipe(Effect.flatMap(read))
