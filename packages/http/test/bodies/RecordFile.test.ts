import { assert, describe, it } from "@effect/vitest"
import { Errors } from "@wac/core"
import * as Extent from "@wac/testbed/Extent"
import { SeededRandom } from "@wac/testkit"
import { Effect, Exit, Option, Stream } from "effect"
import type * as RecordFile from "../../src/bodies/RecordFile.ts"
import * as RecipientFile from "../../src/campaigns/RecipientFile.ts"
import * as NameFile from "../../src/contacts/NameFile.ts"
import * as Divided from "./Divided.ts"

type Random = SeededRandom.SeededRandom

const types: ReadonlyArray<RecordFile.FileType> = ["text/csv", "application/x-ndjson"]

/** Everything that reads such a file. */
const readers: ReadonlyArray<
  (
    bytes: Stream.Stream<Uint8Array>,
    type: RecordFile.FileType
  ) => Stream.Stream<unknown, Errors.InvalidBody>
> = [NameFile.lines, RecipientFile.rows]

/** The result of a file: its rows, or the refusal and the rows before it. A defect fails the test. */
const outcomeOf = (
  pieces: Iterable<Uint8Array>,
  type: RecordFile.FileType,
  read: (typeof readers)[number]
) =>
  Effect.gen(function*() {
    const exit = yield* Effect.exit(Stream.runCollect(read(Stream.fromIterable(pieces, { chunkSize: 1 }), type)))
    if (Exit.isSuccess(exit)) return exit.value
    const error = Option.getOrUndefined(Exit.findErrorOption(exit))
    if (!(error instanceof Errors.InvalidBody)) throw new Error(String(exit.cause))
    return { reason: error.reason, message: error.message }
  })

/** The signs that mean something to one who reads such a file, and their neighbours. */
const signs = [
  "\"",
  "\"\"",
  ",",
  ";",
  "\t",
  "\r",
  "\n",
  "\r\n",
  "\n\n",
  "\0",
  "\ufeff",
  "to",
  "name",
  "sep=;\r\n",
  "{",
  "}",
  "{\"to\":\"+12025550001\"}",
  "+12025550001",
  "ü",
  "\u{1f44b}",
  "\u2028",
  "=1+1",
  " "
]

const good: { readonly [type in RecordFile.FileType]: string } = {
  "text/csv": "to,name\r\n+12025550001,\"Ada \"\"L.\"\"\nB\"\r\n+12025550002,ü\u{1f44b}\r\n",
  "application/x-ndjson": "{\"to\":\"+12025550001\",\"variables\":{\"name\":\"ü\u{1f44b}\"}}\n\"+12025550002\"\n"
}

/** A file in which some signs are changed, put in or taken out, in any encoding, with a few bytes that are none. */
const spoilt = (random: Random, type: RecordFile.FileType): Buffer => {
  let text = random.pick(["", "\ufeff"]) +
    (random.below(4) === 0 ? Array.from({ length: random.below(15) }, () => random.pick(signs)).join("") : good[type])
  for (let changes = random.below(4); changes > 0; changes--) {
    const at = random.below(text.length + 1)
    text = text.slice(0, at) + (random.below(2) === 0 ? random.pick(signs) : "") + text.slice(at + random.below(3))
  }
  const bytes = Buffer.from(text, random.often("utf8", "utf16le", "latin1"))
  if (bytes.length > 0) {
    for (let changes = random.often(0, 1, 3); changes > 0; changes--) {
      bytes[random.below(bytes.length)] = random.below(256)
    }
  }
  return bytes
}

describe("a file of records", () => {
  it.effect("the rows, or the refusal, are the same however the bytes of a file are divided", () =>
    Effect.gen(function*() {
      for (const { seed } of SeededRandom.seeds({ few: 150, all: 10_000 }, Extent.of("few", "all"))) {
        const random = SeededRandom.make(seed)
        const type = random.pick(types)
        const bytes = spoilt(random, type)
        for (const read of readers) {
          const whole = yield* outcomeOf([bytes], type, read)
          for (const pieces of Divided.ways(random, bytes)) {
            assert.deepStrictEqual(
              yield* outcomeOf(pieces, type, read),
              whole,
              `seed ${seed}: ${type} ${JSON.stringify(bytes.toString("latin1"))}`
            )
          }
        }
      }
    }))

  it.effect("any bytes are rows or are refused", () =>
    Effect.gen(function*() {
      const random = SeededRandom.make(7)
      for (let i = 0; i < Extent.of(200, 20_000); i++) {
        const bytes = Buffer.from(Array.from({ length: random.below(100) }, () => random.below(256)))
        for (const type of types) for (const read of readers) yield* outcomeOf([bytes], type, read)
      }
    }))
})
