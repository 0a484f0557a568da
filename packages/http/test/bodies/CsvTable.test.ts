import { assert, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as CsvTable from "../../src/bodies/CsvTable.ts"
import * as NameFile from "../../src/contacts/NameFile.ts"

it.effect("every name of a table is read again as it was, whatever signs it has", () =>
  Effect.gen(function*() {
    const names = ["+15551239001", "US.13491208655302741918", "A\"b,c", "a,b", "a\"b", "a'b"]
    const { header, lines } = CsvTable.of(["name", "source"])
    const text = header + lines(names.map((name) => ({ name, source: null }))) + lines([])
    const read = yield* Stream.runCollect(
      NameFile.lines(Stream.make(new TextEncoder().encode(text)), "text/csv")
    )
    assert.deepStrictEqual(read, names.map((value, at) => ({ line: at + 2, value })))
  }))

it("a value that a spreadsheet would read as a formula begins with an apostrophe", () => {
  assert.strictEqual(CsvTable.of(["a", "b"]).lines([{ a: "+1", b: "=1+1" }]), "'+1,'=1+1\n")
})

it("no part of a value is a formula for spreadsheets that separate values by semicolons or tabs", () => {
  const { lines } = CsvTable.of(["a"])
  for (const sign of ["=", "+", "-", "@", "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"]) {
    for (
      const a of [
        `a;${sign}1`,
        `a; ${sign}1`,
        `a\t${sign}x`,
        `a;\t${sign}1`,
        `a;"${sign}1"`,
        ` ${sign}1`,
        `a\n${sign}1`,
        `a\r\n${sign}1`,
        `a\r${sign}1`
      ]
    ) {
      for (const part of lines([{ a }]).split(/[;\t\r\n]/)) {
        assert.notMatch(part, /^["\s]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/, JSON.stringify(a))
      }
    }
  }
  assert.strictEqual(lines([{ a: "a;b-c\td=e" }]), "a;b-c\td=e\n")
})
