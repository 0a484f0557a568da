import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as RecordFile from "../../src/bodies/RecordFile.ts"
import * as NameFile from "../../src/contacts/NameFile.ts"
import * as Turns from "../bodies/Turns.ts"

describe("reading a file of names gives other work its turn", () => {
  const wide = JSON.stringify(Array.from({ length: 20_000 }, () => 0))
  const fields = JSON.stringify(Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`v${i}`, 0])))
  const files: ReadonlyArray<readonly [what: string, type: RecordFile.FileType, file: string]> = [
    ["names", "text/csv", `name\n${"+491701234567\n".repeat(20_000)}`],
    ["texts that are no names", "text/csv", `name\n${"x\n".repeat(30_000)}`],
    ["rows of very many values", "text/csv", `name\n${`${",x".repeat(30_000)}\n`.repeat(20)}`],
    ["rows without values", "text/csv", `name\n${",\n".repeat(100_000)}${"x\n".repeat(10)}`],
    ["numbers with very many separators", "text/csv", `name\n${`+49${"(-".repeat(30_000)}1\n`.repeat(20)}`],
    ["lines with names", "application/x-ndjson", "\"+491701234567\"\n".repeat(20_000)],
    ["lines that are not JSON", "application/x-ndjson", "x\n".repeat(30_000)],
    ["long lists", "application/x-ndjson", `${wide}\n`.repeat(20)],
    ["objects of very many fields", "application/x-ndjson", `${fields}\n`.repeat(20)],
    ["deep lists", "application/x-ndjson", `${"[".repeat(30_000)}${"]".repeat(30_000)}\n`.repeat(20)]
  ]

  it.live.each(files)(
    "%s: a few rows and some kilobytes are read in one turn",
    ([, type, file]) =>
      Effect.gen(function*() {
        const read = yield* Turns.mostAtOnce((body) => NameFile.lines(body, type), new TextEncoder().encode(file))
        assert.isAtLeast(read.total, 10)
        assert.isAtMost(read.rows, 2 * RecordFile.recordsAtOnce)
        assert.isAtMost(read.bytes, RecordFile.bytesAtOnce)
      })
  )
})
