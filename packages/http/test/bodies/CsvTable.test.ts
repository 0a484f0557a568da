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
