import { assert, describe, it } from "@effect/vitest"
import { Recipient } from "@wac/core"
import { Effect, Exit, Option, Schema, Stream } from "effect"
import { vi } from "vitest"
import * as RecordFile from "../../src/bodies/RecordFile.ts"
import * as RecipientFile from "../../src/campaigns/RecipientFile.ts"
import * as Turns from "../bodies/Turns.ts"

const [a, b] = ["+12025550001", "+12025550002"]

const utf8 = (text: string) => new TextEncoder().encode(text)

/** Reads a file that arrives in pieces of some bytes. */
const rowsOf = (
  file: string | Uint8Array,
  type: RecordFile.FileType,
  size = 7,
  reading: RecipientFile.Reading = {}
) => {
  const bytes = typeof file === "string" ? utf8(file) : file
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.slice(i * size, (i + 1) * size))
  return Stream.runCollect(RecipientFile.rows(Stream.fromIterable(pieces), type, reading))
}

const read = (...given: Parameters<typeof rowsOf>) => Effect.map(rowsOf(...given), (rows) => rows.map(shown))

const csv = "text/csv"

/** The text in UTF-16 with its mark. */
const utf16 = (text: string, isBigEndian = false): Uint8Array => {
  const bytes = Buffer.from(`\uFEFF${text}`, "utf16le")
  return new Uint8Array(isBigEndian ? bytes.swap16() : bytes)
}

const shown = (row: Recipient.Row) => "recipient" in row ? row.recipient : row.problem.reason

const refusal = (...given: Parameters<typeof rowsOf>) =>
  Effect.map(Effect.exit(read(...given)), (exit) =>
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

  it.effect("NDJSON may have 10,000 lines that are no objects, and any number of objects that are no recipients", () =>
    Effect.gen(function*() {
      const good = `{"to":"${a}"}\n`
      const limit = Recipient.maxUnreadable
      const junk = ["x\n", "{\n", "0\n", "[]\n", "\"\"\n", "null\n", "\uFFFD\n", "true\n"]
      const file = good + junk.join("").repeat(limit / junk.length)
      assert.lengthOf(yield* read(`${file}{}\n`, "application/x-ndjson", 65_536), limit + 2)
      assert.deepInclude(yield* refusal(file + junk[0], "application/x-ndjson", 65_536), {
        reason: "invalid_field",
        message: "more than 10000 lines are not objects in JSON, the first in line 2"
      })
      assert.lengthOf(yield* read("{}\n".repeat(limit + 1), "application/x-ndjson", 65_536), limit + 1)
      assert.lengthOf(yield* read(`to\n${"x\n".repeat(limit + 1)}`, csv, 65_536), limit + 1)
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

  it.effect("the column of time zones is found in upper and lower case, and may be there once", () =>
    Effect.gen(function*() {
      for (const name of ["timezone", "TimeZone", " TIMEZONE "]) {
        assert.deepStrictEqual(yield* read(`to,${name},name\n${a},Europe/Paris,Ada`, csv), [
          { to: a, timeZone: "Europe/Paris", variables: { name: "Ada" } }
        ])
      }
      const twice = yield* refusal(`to,timeZone,timezone\n${a},Europe/Paris,\n`, csv)
      assert.strictEqual(twice.message, "the file has the column timezone twice")
      assert.deepStrictEqual(yield* read(`TimeZone,timeZone\n${a},Europe/Paris`, csv, 7, { toColumn: "TimeZone" }), [
        { to: a, timeZone: "Europe/Paris" }
      ])
    }))

  it.effect("a column whose name is too long for a variable is not read", () =>
    Effect.gen(function*() {
      const file = `to,${"x".repeat(65)},name\n${a},much,Ada\n${b},more,`
      assert.deepStrictEqual(yield* read(file, csv), [{ to: a, variables: { name: "Ada" } }, { to: b }])
    }))

  it.effect("rows with too many values, rows that are not UTF-8 and rows without a number are problems, and those after them count", () =>
    Effect.gen(function*() {
      const file = Uint8Array.from([
        ...utf8(`to,name\n${a},Ada,more\n,Bob\n${a},`),
        0xe9,
        0x74,
        0xe9,
        ...utf8(`\n${b},Ben\n`)
      ])
      assert.deepStrictEqual(yield* read(file, csv), [
        "malformed",
        "malformed",
        "malformed",
        { to: b, variables: { name: "Ben" } }
      ])
    }))

  it.effect("empty columns and rows that spreadsheets leave are not read, and empty values at the end of a row may be missing", () =>
    Effect.gen(function*() {
      const file =
        `,,\r\nto,name,order,,\r\n${a},Ada,7,,\r\n,,,,\r\n${b},,,\r\n ${b},,,, ,,,\r\n\r\n;\r\n,,,,\r\n,,\r\n`
      for (const size of [1, 7, 10_000]) {
        assert.deepStrictEqual(yield* read(file, csv, size), [
          { to: a, variables: { name: "Ada", order: "7" } },
          { to: b },
          { to: b },
          "malformed"
        ])
      }
    }))

  it.effect("what separates the values is found in the first row, whatever its names hold", () =>
    Effect.gen(function*() {
      for (
        const file of [
          `to;first, last;order\n${a};Ada;7\n`,
          `"to";"first, last";"order"\n"${a}";"Ada";"7"\n`,
          `to\tfirst, last\torder\n${a}\tAda\t7\n`,
          `to,"first, last",order\n${a},Ada,7\n`,
          `\n\r\nto;first, last;order\n${a};Ada;7`,
          `sep=;\r\nto;first, last;order\r\n${a};Ada;7\r\n`,
          `"sep=|"\rto|first, last|order\r${a}|Ada|7\r`
        ]
      ) {
        for (const size of [1, 7, 10_000]) {
          assert.deepStrictEqual(yield* read(file, csv, size), [
            { to: a, variables: { "first, last": "Ada", order: "7" } }
          ], file)
        }
      }
      assert.deepStrictEqual(yield* read(`to\n${a}\n`, csv), [{ to: a }])
    }))

  it.effect("the customers' column may have another name, and a column named to is a variable then", () =>
    Effect.gen(function*() {
      const reading = { toColumn: "Phone" }
      assert.deepStrictEqual(yield* read(`to;Phone;phone\n7;${a};x\n`, csv, 7, reading), [
        { to: a, variables: { to: "7", phone: "x" } }
      ])
      const missing = yield* refusal(`to,name\n${a},Ada\n`, csv, 7, reading)
      assert.strictEqual(missing.message, "the first row must have a column named Phone")
      const twice = yield* refusal(`Phone,Phone\n${a},${b}\n`, csv, 7, reading)
      assert.strictEqual(twice.message, "the file has the column Phone twice")
    }))

  it.effect("cells that people have written as formulas, to keep them from a spreadsheet, are text", () =>
    Effect.gen(function*() {
      const file = `to,order\n="${a}",="007"\n"=""${b}""","=""a """"b"""""""\n${b},=1+1\n`
      assert.deepStrictEqual(yield* read(file, csv), [
        { to: a, variables: { order: "007" } },
        { to: b, variables: { order: `a "b"` } },
        { to: b, variables: { order: "=1+1" } }
      ])
    }))

  it.effect("numbers without a country code are of the country that the upload names", () =>
    Effect.gen(function*() {
      const file = `to\n(202) 555-0001\n2025550002\n+44 (0)7123 456789\n1.20256E+10\n`
      assert.deepStrictEqual(yield* read(file, csv, 7, { defaultCountry: "US" }), [
        { to: a },
        { to: b },
        { to: "+447123456789" },
        "malformed"
      ])
      assert.deepStrictEqual(yield* read(file, csv), ["malformed", "malformed", { to: "+447123456789" }, "malformed"])
      const lines = `{"to":"2025550001"}\n{"to":2025550002}\n`
      assert.deepStrictEqual(yield* read(lines, "application/x-ndjson", 7, { defaultCountry: "US" }), [
        { to: a },
        "malformed"
      ])
    }))

  it.effect("each row has the line in which it begins, and a problem the value as the file has it", () =>
    Effect.gen(function*() {
      const long = "9".repeat(200)
      const file = [
        "sep=;",
        "to;name;timeZone",
        `${a};"two\r\n\nlines";`,
        "",
        ";;",
        "1.20256E+10;Ada;",
        `(202) 555-0001;Ada;`,
        `${b};Ada;Mars`,
        `${b};Ada;;;more`,
        `${long};Ada;`,
        `+1 202 555 0002;Ben;`
      ].join("\r\n")
      for (const bytes of [utf8(file), utf16(file), utf16(file, true)]) {
        for (const size of [1, 7, 10_000]) {
          const rows = yield* rowsOf(bytes, csv, size)
          assert.deepStrictEqual(rows.map(({ line, value }) => [line, value]), [
            [3, undefined],
            [8, "1.20256E+10"],
            [9, "(202) 555-0001"],
            [10, "Mars"],
            [11, b],
            [12, long.slice(0, 100)],
            [13, "+1 202 555 0002"]
          ])
        }
      }
      const lines = yield* rowsOf(`{"to":"${a}"}\n\n{"to":"12"}\r\nnothing\n{"to":7}\n`, "application/x-ndjson")
      assert.deepStrictEqual(lines.map(({ line, value }) => [line, value]), [
        [1, undefined],
        [3, "12"],
        [4, "nothing"],
        [5, undefined]
      ])
    }))

  it.effect("a row with a problem keeps its customer, if their name can be read, however the file writes it", () =>
    Effect.gen(function*() {
      const long = "x".repeat(1025)
      const user = "US.13491208655302741918"
      const table = Uint8Array.from([
        ...utf8([
          "to,name,timeZone",
          `0170 1234567,${long},`,
          `${user},${long},`,
          "0170 1234567,Ada,Mars",
          "0170 1234567,Ada,,more",
          "1.20256E+10,Ada,",
          "0170 1234567,"
        ].join("\n")),
        0xe9
      ])
      const german = "+491701234567"
      const customers = (rows: ReadonlyArray<Recipient.Row>) =>
        rows.map((row) => ["problem" in row, Recipient.customerOf(row)])
      assert.deepStrictEqual(customers(yield* rowsOf(table, csv, 10_000, { defaultCountry: "DE" })), [
        [true, german],
        [true, user],
        [true, german],
        [true, german],
        [true, null],
        [true, german]
      ])
      const lines = [
        JSON.stringify({ to: "0170 1234567", variables: { name: long } }),
        JSON.stringify({ to: user, variables: { name: long } }),
        `{"to":"${user}","to":"${user}"}`,
        JSON.stringify({ to: 7 })
      ].join("\n")
      assert.deepStrictEqual(
        customers(yield* rowsOf(lines, "application/x-ndjson", 10_000, { defaultCountry: "DE" })),
        [[true, german], [true, user], [true, user], [true, null]]
      )
      assert.deepStrictEqual(
        [user, "Mars"].map((to) => Recipient.customerOf(Recipient.parse({ to, variables: { name: long } }))),
        [user, null]
      )
    }))

  it.effect("a file in UTF-16 is read by its mark, or refused, and never misread", () =>
    Effect.gen(function*() {
      const file = `to,name\r\n${a},Ádám 👋\r\n`
      for (const isBigEndian of [false, true]) {
        for (const size of [1, 7, 10_000]) {
          assert.deepStrictEqual(yield* read(utf16(file, isBigEndian), csv, size), [
            { to: a, variables: { name: "Ádám 👋" } }
          ])
          assert.deepStrictEqual(
            yield* read(utf16(`{"to":"${a}"}\n`, isBigEndian), "application/x-ndjson", size),
            [{ to: a }]
          )
        }
        const markless = utf16(file, isBigEndian).subarray(2)
        const refused = yield* refusal(markless, csv)
        assert.strictEqual(refused.message, "the first row is not UTF-8: save the file as CSV in UTF-8")
        const lines = yield* read(utf16(`{"to":"${a}"}\n`, isBigEndian).subarray(2), "application/x-ndjson")
        assert.isFalse(lines.some((row) => typeof row !== "string"))
      }
    }))

  it.effect("a spreadsheet's own format and an empty file are refused with what is wrong", () =>
    Effect.gen(function*() {
      for (const begin of ["504b0304", "d0cf11e0a1b11ae1"]) {
        const file = Uint8Array.from([...Buffer.from(begin, "hex"), ...new Uint8Array(2000).fill(34)])
        for (const type of [csv, "application/x-ndjson"] as const) {
          const refused = yield* refusal(file, type)
          assert.strictEqual(refused.message, "the file is a spreadsheet's own format: save it as CSV")
        }
      }
      for (const file of ["", "\uFEFF", "\r\n\n", ",,\n"]) {
        assert.strictEqual((yield* refusal(file, csv)).message, "the file is empty", file)
      }
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

describe("the same table", () => {
  /** A table as some program writes it. */
  interface Written {
    readonly delimiter: string
    readonly encoding: "utf-8" | "utf-8 with its mark" | "utf-16le" | "utf-16be"
    readonly isSeparatorNamed: boolean
    readonly areAllQuoted: boolean
    readonly lineBreak: string
    readonly emptyColumns: number
    readonly emptyRows: number
    readonly isTrimmed: boolean
  }

  const written = (table: ReadonlyArray<ReadonlyArray<string>>, how: Written): Uint8Array => {
    const { delimiter, emptyColumns, lineBreak } = how
    const quoted = (value: string) =>
      how.areAllQuoted || [delimiter, "\"", "\n", "\r"].some((sign) => value.includes(sign))
        ? `"${value.replaceAll("\"", "\"\"")}"`
        : value
    const line = (values: ReadonlyArray<string>) => {
      const end = how.isTrimmed ? values.findLastIndex((value) => value !== "") + 1 : values.length
      const empty = how.isTrimmed ? 0 : emptyColumns
      return [...values.slice(0, end).map(quoted), ...Array.from({ length: empty }, () => "")].join(delimiter)
    }
    const empty = Array.from({ length: how.emptyRows }, () => delimiter.repeat(emptyColumns + 1))
    const text = [...(how.isSeparatorNamed ? [`sep=${delimiter}`] : []), ...table.map(line), ...empty, ""].join(
      lineBreak
    )
    return how.encoding === "utf-8"
      ? utf8(text)
      : how.encoding === "utf-8 with its mark"
      ? utf8(`\uFEFF${text}`)
      : utf16(text, how.encoding === "utf-16be")
  }

  const cell = Schema.String.check(Schema.isMaxLength(12), Schema.isPattern(/^[ -<>-~\n\u00e0-\u00ff\u{1f44b}]*$/u))

  it.effect.prop(
    "the same table has the same rows in every dialect",
    {
      cells: Schema.Array(Schema.Tuple([cell, cell])).check(Schema.isMaxLength(5)),
      emptyColumns: Schema.Literals([0, 1, 3]),
      emptyRows: Schema.Literals([0, 2]),
      size: Schema.Literals([1, 3, 1000])
    },
    ({ cells, emptyColumns, emptyRows, size }) =>
      Effect.gen(function*() {
        const table = [
          ["to", "first", "last; name"],
          ...cells.map(([first, last], i) => [i % 2 === 0 ? a : b, first, last])
        ]
        const expected = cells.map(([first, last], i) => {
          const variables = {
            ...(first === "" ? {} : { first }),
            ...(last === "" ? {} : { "last; name": last })
          }
          return { to: i % 2 === 0 ? a : b, ...(Object.keys(variables).length === 0 ? {} : { variables }) }
        })
        for (const delimiter of [",", ";", "\t"]) {
          for (const encoding of ["utf-8", "utf-8 with its mark", "utf-16le", "utf-16be"] as const) {
            for (const flag of [false, true]) {
              const how = {
                delimiter,
                encoding,
                isSeparatorNamed: flag,
                areAllQuoted: !flag,
                lineBreak: flag ? "\r\n" : "\n",
                emptyColumns,
                emptyRows,
                isTrimmed: flag
              }
              assert.deepStrictEqual(yield* read(written(table, how), csv, size), expected, JSON.stringify(how))
            }
          }
        }
      }),
    { arbitrary: { runs: 30, size: 10, seed: "wac" } }
  )
})

describe("reading a file of recipients gives other work its turn", () => {
  const short = `to,a,b\n${"x\n".repeat(30_000)}`
  const wide = `to,a\n${`${",x".repeat(30_000)}\n`.repeat(10)}`
  const blank = `to,a\n${",\n".repeat(100_000)}${`${",".repeat(60_000)}\n`.repeat(10)}${`${a},1\n`.repeat(10)}`
  const utf16be = utf16(`to,a\n${`${a},1\n`.repeat(10_000)}`, true)
  const national = `to,a\n${`(0170) 1234567,1\n`.repeat(10_000)}`
  const good = `to,a\n${`${a},1\n`.repeat(10_000)}`
  const lines = `{"to":"${a}"}\n`.repeat(5_000)
  const variables = Object.fromEntries(Array.from({ length: 4_000 }, (_, i) => [`v${i}`, "1"]))
  const many = `${JSON.stringify({ to: a, variables })}\n`.repeat(20)
  const files: ReadonlyArray<readonly [what: string, type: RecordFile.FileType, file: string | Uint8Array]> = [
    ["rows that are too short", "text/csv", short],
    ["rows of very many values", "text/csv", wide],
    ["rows without values", "text/csv", blank],
    ["rows in UTF-16", "text/csv", utf16be],
    ["numbers without a country code", "text/csv", national],
    ["good rows", "text/csv", good],
    ["good lines", "application/x-ndjson", lines],
    ["lines of too many variables", "application/x-ndjson", many],
    ["lines that are not JSON", "application/x-ndjson", "x\n".repeat(Recipient.maxUnreadable)]
  ]

  const bytesOf = (file: string | Uint8Array) => typeof file === "string" ? utf8(file) : file.slice()
  const reading = { defaultCountry: "DE" }

  it.effect.each(files)(
    "%s: a few rows and some kilobytes are read in one turn",
    ([, type, file]) =>
      Effect.gen(function*() {
        const { bytes, rows, total } = yield* Turns.mostAtOnce(
          (body) => RecipientFile.rows(body, type, reading),
          bytesOf(file)
        )
        assert.isAbove(total, 5)
        assert.isAtMost(rows, 2 * RecordFile.recordsAtOnce)
        assert.isAtMost(bytes, RecordFile.bytesAtOnce)
      })
  )

  it.effect.each(files)("%s: no row costs an exception", ([, type, file]) =>
    Effect.promise(async () => {
      const capture = vi.spyOn(Error, "captureStackTrace")
      try {
        await Effect.runPromise(Stream.runDrain(RecipientFile.rows(Stream.make(bytesOf(file)), type, reading)))
        assert.isBelow(capture.mock.calls.length, 10)
      } finally {
        capture.mockRestore()
      }
    }))
})
