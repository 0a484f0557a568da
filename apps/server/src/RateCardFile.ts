/**
 * The file of `WAC_RATE_CARD`: a CSV file with the provider's prices, which the operator keeps up to date.
 */
import { RateCard } from "@wac/core"
import { CsvError, parse } from "csv-parse/sync"
import { Effect, Result } from "effect"
import { readFile } from "node:fs/promises"
import { BadVariable } from "./VariableText.ts"

const columns = ["market", "category", "currency", "price", "valid from"] as const

const expected = `a readable CSV file with the columns ${columns.join(", ")}`

const bad = (why: string) => new BadVariable({ variable: "WAC_RATE_CARD", expected: `${expected}; ${why}` })

/** Reads one row, or fails with the name of its first wrong column. */
const rateOf = (row: Readonly<Record<string, string>>): Result.Result<RateCard.Rate, (typeof columns)[number]> => {
  const { category = "", currency = "", market = "", price = "" } = row
  return Result.mapError(
    RateCard.parse({ market, category, currency, price, validFrom: row["valid from"] ?? "" }),
    (field) => field === "validFrom" ? "valid from" : field
  )
}

/**
 * Reads a rate card: one row for each price, with a header row. `market` is a country (`DE`) or `*` for all others,
 * `price` the price of one message (`0.0456`), `valid from` a day (`2026-07-01`). Fails at the first row that is wrong.
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
      return Effect.fromResult(
        Result.mapError(rateOf(row), (column) => bad(`${column} in row ${i + 1} after the header is wrong`))
      )
    })
  })

/** Reads the file at a path; without one, the card is empty. */
export const load = (path: string | undefined): Effect.Effect<RateCard.RateCard, BadVariable> =>
  path === undefined ? Effect.succeed([]) : Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: () => bad("it cannot be read")
  }).pipe(Effect.flatMap(read))
