import { assert, describe, it } from "@effect/vitest"
import type { Recipient } from "@wac/core"
import { Effect, Exit, Option, Stream } from "effect"
import { vi } from "vitest"
import * as RecipientFile from "../../src/campaigns/RecipientFile.ts"

const [a, b] = ["+12025550001", "+12025550002"]

const utf8 = (text: string) => new TextEncoder().encode(text)

/** Reads a file that arrives in pieces of some bytes. */
const read = (file: string | Uint8Array, type: RecipientFile.FileType, size = 7) => {
  const bytes = typeof file === "string" ? utf8(file) : file
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.slice(i * size, (i + 1) * size))
  return Effect.map(Stream.runCollect(RecipientFile.rows(Stream.fromIterable(pieces), type)), (rows) => rows.map(shown))
}

const shown = (row: Recipient.Row) => "recipient" in row ? row.recipient : row.problem.reason

const refusal = (file: string | Uint8Array, type: RecipientFile.FileType, size?: number) =>
  Effect.map(Effect.exit(read(file, type, size)), (exit) =>
    Exit.isFailure(exit)
      ? Option.getOrThrow(Exit.findErrorOption(exit))
      : assert.fail(`it was read: ${JSON.stringify(exit.value)}`))

describe("a file of recipients", () => {
  it.effect("each line of NDJSON is a recipient or a problem", () =>
    Effect.gen(function*() {
      const file =
        `\uFEFF{"to":"${a}","variables":{"name":"Ada “L.”"}}\r\n\n{"to":"${b}","bodyParams":["x"]}\nnothing\n{"to":"1"}`
      for (const size of [1, 7, 10_000]) {
        assert.deepStrictEqual(yield* read(file, "application/x-ndjson", size), [
          { to: a, variables: { name: "Ada “L.”" } },
          { to: b, bodyParams: ["x"] },
          "malformed",
          "malformed"
        ])
      }
    }))

  it.effect("each row of CSV is a recipient with the other columns as variables", () =>
    Effect.gen(function*() {
      const file =
        `\uFEFFname, To ,order\r\n"L., Ada",${a},1042\r\n"two\r\nlines",+1 (202) 555-0002,\r\n\r\n"quo""ted",${a},7`
      for (const size of [1, 7, 10_000]) {
        assert.deepStrictEqual(yield* read(file, "text/csv", size), [
          { to: a, variables: { name: "L., Ada", order: "1042" } },
          { to: b, variables: { name: "two\r\nlines" } },
          { to: a, variables: { name: "quo\"ted", order: "7" } }
        ])
      }
    }))

  it.effect("a column timeZone is the recipients' time zone, if they have one", () =>
    Effect.gen(function*() {
      const file = `to,timeZone,name\n${a},Europe/Paris,Ada\n${b},,Ben\n${b},Mars,Ben`
      assert.deepStrictEqual(yield* read(file, "text/csv"), [
        { to: a, timeZone: "Europe/Paris", variables: { name: "Ada" } },
        { to: b, variables: { name: "Ben" } },
        "malformed"
      ])
    }))

  it.effect("ragged rows, rows that are not UTF-8 and rows without a number are problems, and those after them count", () =>
    Effect.gen(function*() {
      const file = Uint8Array.from([
        ...utf8(`to,name\n${a}\n${a},Ada,more\n,Bob\n${a},`),
        0xe9,
        0x74,
        0xe9,
        ...utf8(`\n${b},Ben\n`)
      ])
      assert.deepStrictEqual(yield* read(file, "text/csv"), [
        "malformed",
        "malformed",
        "malformed",
        "malformed",
        { to: b, variables: { name: "Ben" } }
      ])
    }))

  it.effect("a file in UTF-16, as spreadsheets save it, is read or refused, and never misread", () =>
    Effect.gen(function*() {
      const utf16 = (text: string) => new Uint8Array(Buffer.from(text, "utf16le"))
      const file = `to,name\r\n${a},Ádám\r\n`
      assert.deepStrictEqual(yield* read(utf16(`\uFEFF${file}`), "text/csv", 10_000), [
        { to: a, variables: { name: "Ádám" } }
      ])
      assert.strictEqual((yield* refusal(utf16(file), "text/csv")).reason, "invalid_field")
      const lines = yield* read(utf16(`{"to":"${a}"}\n`), "application/x-ndjson")
      assert.isFalse(lines.some((row) => typeof row !== "string"))
    }))

  it.effect("a row of very many columns, or values that never end, is refused by its size", () =>
    Effect.gen(function*() {
      const columns = Array.from({ length: 600 }, (_, i) => `c${i}`)
      const bombs = [
        `to,${"x,".repeat(1_000_000)}`,
        `to,name\n${a},"${"\"\"".repeat(1_000_000)}`,
        `to,${columns}\n${a},${columns}\n`
      ]
      for (const bomb of bombs) assert.strictEqual((yield* refusal(bomb, "text/csv", 65_536)).reason, "too_large")
      const wide = { to: a, variables: Object.fromEntries(columns.map((name) => [name, "x"])) }
      assert.deepStrictEqual(yield* read(JSON.stringify(wide), "application/x-ndjson", 65_536), ["malformed"])
    }))

  it.effect("a value nested very deeply is a problem of its line alone", () =>
    Effect.gen(function*() {
      const deep = `${"[".repeat(30_000)}${"]".repeat(30_000)}`
      const file = [`{"to":${deep}}`, `{"to":"${a}","bodyParams":${deep}}`, deep, `{"to":"${b}"}`].join("\n")
      assert.deepStrictEqual(yield* read(file, "application/x-ndjson", 65_536), [
        "malformed",
        "malformed",
        "malformed",
        { to: b }
      ])
    }))

  it.effect("free JSON that is too deep or not plain text is a problem of its line alone", () =>
    Effect.gen(function*() {
      const row = (data: string) => `{"to":"${a}","buttons":[{"index":0,"flowToken":"t","flowData":${data}}]}`
      const deep = `${"{\"a\":".repeat(6_000)}1${"}".repeat(6_000)}`
      const odd = [deep, `{"a":"\\u0000"}`, `{"a":["\\ud800"]}`, `{"\\u0000":1}`, `{"a":{"\\udfff":1}}`]
      const file = [...odd.map(row), row(`{"a":{"b":["x"]}}`)].join("\n")
      assert.deepStrictEqual(yield* read(file, "application/x-ndjson", 65_536), [
        ...odd.map(() => "malformed" as const),
        { to: a, buttons: [{ index: 0, flowToken: "t", flowData: { a: { b: ["x"] } } }] }
      ])
    }))

  it.effect("a file that cannot be read further is refused with the line", () =>
    Effect.gen(function*() {
      const noNumbers = yield* refusal(`name\nAda\n`, "text/csv")
      assert.strictEqual(noNumbers.message, "the first row must have a column named to")
      const twice = yield* refusal(`to,x,x\n${a},1,2\n`, "text/csv")
      assert.strictEqual(twice.message, "the file has the column x twice")
      const foreign = yield* refusal(Buffer.from(`to,prénom\n${a},Ada\n`, "latin1"), "text/csv")
      assert.strictEqual(foreign.message, "the first row is not UTF-8: save the file as CSV in UTF-8")
      const open = yield* refusal(`to,name\n${a},"never ends\n`, "text/csv")
      assert.include(open.message, "the file is not CSV")
      assert.notInclude(open.message, "never")
    }))

  it.effect("a line without an end is refused before it fills the memory", () =>
    Effect.gen(function*() {
      for (const type of ["application/x-ndjson", "text/csv"] as const) {
        let served = 0
        const endless = Stream.map(Stream.rechunk(Stream.range(1, 1_000_000), 1), () => {
          served += 16_384
          return new Uint8Array(16_384).fill(120)
        })
        const exit = yield* Effect.exit(Stream.runDrain(RecipientFile.rows(endless, type)))
        const error = Exit.isFailure(exit) ? Option.getOrThrow(Exit.findErrorOption(exit)) : assert.fail("it was read")
        assert.strictEqual(error.reason, "too_large")
        assert.isBelow(served, 10_000_000, type)
      }
    }))

  it.effect("a file that breaks off is refused", () =>
    Effect.gen(function*() {
      const broken = Stream.concat(Stream.make(utf8(`{"to":"${a}"}\n`)), Stream.fail("reset"))
      const exit = yield* Effect.exit(Stream.runCollect(RecipientFile.rows(broken, "application/x-ndjson")))
      assert.isTrue(Exit.isFailure(exit))
    }))
})

describe("reading a file of recipients gives other work its turn", () => {
  const short = `to,a,b\n${"x\n".repeat(30_000)}`
  const commas = `to,a\n${`${",".repeat(60_000)}\n`.repeat(10)}`
  const good = `to,a\n${`${a},1\n`.repeat(10_000)}`
  const lines = `{"to":"${a}"}\n`.repeat(5_000)
  const variables = Object.fromEntries(Array.from({ length: 4_000 }, (_, i) => [`v${i}`, "1"]))
  const many = `${JSON.stringify({ to: a, variables })}\n`.repeat(20)
  const files: ReadonlyArray<readonly [what: string, type: RecipientFile.FileType, file: string]> = [
    ["rows that are too short", "text/csv", short],
    ["rows of very many values", "text/csv", commas],
    ["good rows", "text/csv", good],
    ["good lines", "application/x-ndjson", lines],
    ["lines of too many variables", "application/x-ndjson", many],
    ["lines that are not JSON", "application/x-ndjson", "x\n".repeat(30_000)]
  ]

  /** The most rows that come between two turns of the event loop, and the most bytes of them that are read. */
  const mostAtOnce = (file: string, type: RecipientFile.FileType) =>
    Effect.promise(async () => {
      let turns = 0
      let going = true
      const next = () => {
        turns++
        if (going) setImmediate(next)
      }
      setImmediate(next)
      const counts = new Map<number, { rows: number; bytes: number }>()
      const at = () => {
        const count = counts.get(turns) ?? { rows: 0, bytes: 0 }
        counts.set(turns, count)
        return count
      }
      // a piece that counts when it is taken out of the body, as one that the parser reads
      const subarray = Uint8Array.prototype.subarray
      const body = Object.assign(utf8(file), {
        subarray: function(this: Uint8Array, from?: number, to?: number) {
          const piece = subarray.call(this, from, to)
          at().bytes += piece.length
          return piece
        }
      })
      await Effect.runPromise(
        Stream.runForEach(RecipientFile.rows(Stream.make(body), type), () => Effect.sync(() => void at().rows++))
      )
      going = false
      const all = [...counts.values()]
      return {
        total: all.reduce((sum, { rows }) => sum + rows, 0),
        rows: Math.max(...all.map(({ rows }) => rows)),
        bytes: Math.max(...all.map(({ bytes }) => bytes))
      }
    })

  it.effect.each(files)(
    "%s: a few rows and some kilobytes are read in one turn",
    ([, type, file]) =>
      Effect.gen(function*() {
        const { bytes, rows, total } = yield* mostAtOnce(file, type)
        assert.isAbove(total, 5)
        assert.isAtMost(rows, 2 * RecipientFile.rowsAtOnce)
        assert.isAtMost(bytes, RecipientFile.bytesAtOnce)
      })
  )

  it.effect.each(files)("%s: no row costs an exception", ([, type, file]) =>
    Effect.promise(async () => {
      const capture = vi.spyOn(Error, "captureStackTrace")
      try {
        await Effect.runPromise(Stream.runDrain(RecipientFile.rows(Stream.make(utf8(file)), type)))
        assert.isBelow(capture.mock.calls.length, 10)
      } finally {
        capture.mockRestore()
      }
    }))
})
