import { assert, describe, it, vi } from "@effect/vitest"
import { Errors } from "@wac/core"
import * as Extent from "@wac/testbed/Extent"
import { SeededRandom } from "@wac/testkit"
import { Effect, Exit, Option, Stream } from "effect"
import * as FormFile from "../../src/media/FormFile.ts"
import * as Divided from "../bodies/Divided.ts"

type Random = SeededRandom.SeededRandom

/** Of these some are in others, or are made of what a boundary begins with. */
const boundaries = ["b", "bb", "-", "----wac", "abab", "--b"] as const

const disposition = "Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\""

const form = (boundary: string, content: string, headers = disposition) =>
  `--${boundary}\r\n${headers}\r\n\r\n${content}\r\n--${boundary}--\r\n`

/** A body of which each piece is taken when it is asked for. */
const oneByOne = (pieces: Iterable<Uint8Array>) => Stream.fromIterable(pieces, { chunkSize: 1 })

/** The result of a form: its file, or the refusal. A defect fails the test. */
const outcomeOf = (pieces: Iterable<Uint8Array>, boundary: string): Effect.Effect<object> =>
  Effect.gen(function*() {
    const { bytes, filename } = FormFile.of(oneByOne(pieces), boundary)
    const exit = yield* Effect.exit(Stream.runCollect(bytes))
    if (Exit.isSuccess(exit)) return { filename: filename(), text: Buffer.concat(exit.value).toString("latin1") }
    const error = Option.getOrUndefined(Exit.findErrorOption(exit))
    if (!(error instanceof Errors.InvalidBody)) throw new Error(String(exit.cause))
    return { reason: error.reason, param: error.param, message: error.message }
  })

const read = (body: string, boundary = "b") => outcomeOf([Buffer.from(body, "latin1")], boundary)

/** A form in which some bytes are changed, put in or taken out. */
const spoilt = (random: Random, boundary: string): Buffer => {
  const content = ["hel\rlo\r\n-", "", "\r\n", "\r\n--", `\r\n-${boundary}`, "\n", "\0\xff"]
  let body = form(boundary, random.pick(content), `${disposition}\r\nContent-Type: text/plain`)
  for (let changes = random.below(4); changes > 0; changes--) {
    const at = random.below(body.length + 1)
    const put = random.pick([
      `--${boundary}`,
      `\r\n--${boundary}`,
      `\r\n--${boundary}\r\n${disposition}\r\n\r\n`,
      `--${boundary}--\r\n`,
      "\r\n\r\n",
      "\r\n",
      "\r",
      "\n",
      "-",
      " ",
      ":",
      ";",
      "\"",
      "X: y",
      "filename*=utf-8''%41",
      String.fromCharCode(random.below(256))
    ])
    body = body.slice(0, at) + (random.below(2) === 0 ? put : "") + body.slice(at + random.below(4))
  }
  return Buffer.from(body, "latin1")
}

const malformed = {
  reason: "invalid_field",
  param: "file",
  message: "the body is not a complete form in multipart/form-data"
}

describe("a form with a file", () => {
  it.effect("the file, or the refusal, is the same however the bytes of a form are divided", () =>
    Effect.gen(function*() {
      for (const { seed } of SeededRandom.seeds({ few: 400, all: 20_000 }, Extent.of("few", "all"))) {
        const random = SeededRandom.make(seed)
        const boundary = random.pick(boundaries)
        const bytes = spoilt(random, boundary)
        const whole = yield* outcomeOf([bytes], boundary)
        for (const pieces of Divided.ways(random, bytes)) {
          assert.deepStrictEqual(
            yield* outcomeOf(pieces, boundary),
            whole,
            `seed ${seed}: ${JSON.stringify(bytes.toString("latin1"))}`
          )
        }
      }
    }))

  it.effect("any bytes are a form or are refused", () =>
    Effect.gen(function*() {
      const random = SeededRandom.make(7)
      const words = ["--b", "\r\n", "\r\n--b", "--", disposition, "\r\n\r\n", ": ", "x"]
      for (let i = 0; i < Extent.of(500, 20_000); i++) {
        const bytes = Buffer.concat(
          Array.from({ length: random.below(12) }, () =>
            Buffer.from(
              random.below(3) === 0
                ? Array.from({ length: 5 }, () => random.below(256))
                : random.pick(words)
            ))
        )
        yield* outcomeOf([bytes], "b")
      }
    }))

  it.effect("content of any bytes but the boundary arrives as it is", () =>
    Effect.gen(function*() {
      const random = SeededRandom.make(11)
      const signs = ["\r", "\n", "-", "b", "\0", "\xff", "\r\n", "\r\n-", "\r\n--", "--b"]
      for (let i = 0; i < Extent.of(300, 10_000); i++) {
        const content = Array.from({ length: random.below(20) }, () => random.pick(signs)).join("")
        if (`\r\n${content}\r\n`.includes("\r\n--b")) continue
        assert.deepStrictEqual(yield* read(form("b", content)), { filename: "a.txt", text: content })
      }
    }))

  it.effect("the forms that Node writes are read", () =>
    Effect.gen(function*() {
      const bytes = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 256))
      for (const name of ["a.txt", "ü \u{1f44b}.png", "a\"b;c.txt"]) {
        const data = new FormData()
        data.set("file", new Blob([bytes]), name)
        const written = new Response(data)
        const [, boundary] = /boundary=(.*)/.exec(written.headers.get("content-type")!)!
        const body = Buffer.from(yield* Effect.promise(() => written.arrayBuffer()))
        assert.deepStrictEqual(yield* outcomeOf([body], boundary!), {
          filename: name.replaceAll("\"", "%22"),
          text: bytes.toString("latin1")
        })
      }
    }))

  it.effect.each<[string, string, string | undefined]>([
    ["a name in quotes", "filename=\"a b.txt\"", "a b.txt"],
    ["a name without quotes", "filename=a.txt", "a.txt"],
    ["a name with a semicolon", "filename=\"a;b.txt\"", "a;b.txt"],
    ["a path of Windows", "filename=\"C:\\dir\\a.txt\"", "C:\\dir\\a.txt"],
    ["blanks around the parameters", "FileName = \"a.txt\" ", "a.txt"],
    ["a name in UTF-8", "filename=\"x\"; filename*=UTF-8''%C3%BC.txt", "ü.txt"],
    ["a name in Latin-1", "filename*=iso-8859-1'de'%FC.txt", "ü.txt"],
    ["an empty name", "filename=\"\"", ""]
  ])("a file has its name from the header: %s", ([, rest, filename]) =>
    Effect.gen(function*() {
      const headers = `content-disposition:form-data; name=file; ${rest}\r\nX-Other: 1`
      assert.deepStrictEqual(yield* read(form("b", "x", headers)), { filename, text: "x" })
    }))

  it.effect("bytes without a name are a file, and blanks after a boundary, a preamble and an epilogue are ignored", () =>
    Effect.gen(function*() {
      const headers = "Content-Disposition: form-data; name=\"file\"\r\nContent-Type: application/octet-stream"
      assert.deepStrictEqual(yield* read(form("b", "x", headers)), { filename: "file", text: "x" })
      const around = `before\r\n--b \t\r\n${disposition}\r\n\r\nx\r\n--b--after`
      assert.deepStrictEqual(yield* read(around), { filename: "a.txt", text: "x" })
      // a part without content needs no line break of its own
      for (const lineBreak of ["", "\r\n"]) {
        const empty = `--b\r\n${disposition}\r\n\r\n${lineBreak}--b--`
        assert.deepStrictEqual(yield* read(empty), { filename: "a.txt", text: "" })
      }
    }))

  it.effect.each<[string, string]>([
    ["nothing", ""],
    ["no end", form("b", "x").slice(0, -4)],
    ["an end in the middle of a boundary", form("b", "x").slice(0, -5)],
    ["headers that a boundary cuts", `--b\r\n${disposition}\r\n--b\r\n\r\nx\r\n--b--`],
    ["a boundary among the headers", form("b", "x", `${disposition}\r\n--b: x`)],
    ["text after a boundary", `--bx\r\n${disposition}\r\n\r\nx\r\n--b--`],
    ["too many blanks after a boundary", `--b${" ".repeat(65)}\r\n${disposition}\r\n\r\nx\r\n--b--`],
    ["a part without headers", "--b\r\n\r\nx\r\n--b--"],
    ["headers that are too long", form("b", "x", `${disposition}\r\nX: ${"x".repeat(16_384)}`)],
    ["a header in two lines", form("b", "x", `${disposition};\r\n x=y`)],
    ["a header twice", form("b", "x", `${disposition}\r\n${disposition}`)],
    ["a header with a NUL", form("b", "x", `${disposition}\r\nX: \0`)],
    ["a parameter twice", form("b", "x", `${disposition}; filename="b.txt"`)],
    ["a parameter without a value", form("b", "x", `${disposition}; x`)],
    ["quotes without an end", form("b", "x", "Content-Disposition: form-data; name=\"file")],
    ["an unknown charset", form("b", "x", `${disposition}; filename*=utf-7''a`)],
    ["no name of its field", form("b", "x", "Content-Disposition: form-data; filename=\"a\"")],
    ["another disposition", form("b", "x", "Content-Disposition: attachment; name=\"file\"; filename=\"a\"")],
    ["a preamble that is too long", "x".repeat(5000) + form("b", "x")],
    ["an epilogue that is too long", form("b", "x") + "x".repeat(5000)]
  ])("a form with %s is refused as malformed", ([, body]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* read(body), malformed)
    }))

  it.effect("the refusal of a form with another field, no file, a field or two files names what is wrong", () =>
    Effect.gen(function*() {
      const other = "Content-Disposition: form-data; name=\"__proto__\"; filename=\"a\""
      const unknown = { reason: "unknown_field", param: "__proto__", message: "the form may only have the field file" }
      assert.deepStrictEqual(yield* read(form("b", "x", other)), unknown)
      const missing = { reason: "missing_field", param: "file", message: "file is required" }
      assert.deepStrictEqual(yield* read("--b--"), missing)
      const one = { reason: "invalid_field", param: "file", message: "the field file must hold one file with a name" }
      assert.deepStrictEqual(yield* read(form("b", "x", "Content-Disposition: form-data; name=\"file\"")), one)
      assert.deepStrictEqual(yield* read(form("b", "x").replace("--b--\r\n", "") + form("b", "y")), one)
    }))

  it.effect.each<[string, string]>([
    ["a preamble", ""],
    ["a header", `--b\r\n${disposition}\r\nX: `],
    ["an epilogue", form("b", "x")],
    ["blanks after a boundary", "--b "]
  ])("%s without an end is refused after a few kilobytes", ([, begin]) =>
    Effect.gen(function*() {
      let taken = 0
      const endless = function*() {
        yield Buffer.from(begin)
        for (;;) {
          taken += 1000
          yield Buffer.alloc(1000, " ")
        }
      }
      assert.deepStrictEqual(yield* outcomeOf(endless(), "b"), malformed)
      assert.isAtMost(taken, 20_000)
    }))

  it.effect("a file passes as it arrives, but for what may be the beginning of a boundary", () =>
    Effect.gen(function*() {
      let [taken, most, passed] = [0, 0, 0]
      const pieces = function*() {
        yield Buffer.from(`--b\r\n${disposition}\r\n\r\n`)
        for (let i = 0; i < 1000; i++) {
          most = Math.max(most, taken - passed)
          taken += 1000
          yield Buffer.alloc(1000, "\r")
        }
        yield Buffer.from("\r\n--b--")
      }
      yield* Stream.runForEach(
        FormFile.of(oneByOne(pieces()), "b").bytes,
        ({ length }) => Effect.sync(() => passed += length)
      )
      assert.strictEqual(passed, 1_000_000)
      assert.isAtMost(most, 1000 + "\r\n--b".length)
    }))
})

describe("reading a form takes time in proportion to its bytes", () => {
  const mebibyte = 1024 * 1024

  /** The bytes that are searched while a form is read in pieces of this size, as connections give them. */
  const searchedIn = (body: string, size: number) =>
    Effect.gen(function*() {
      const all = Buffer.from(body, "latin1")
      const pieces = Array.from(
        { length: Math.ceil(all.length / size) },
        (_, i) => all.subarray(i * size, (i + 1) * size)
      )
      const search = vi.spyOn(Buffer.prototype, "indexOf")
      try {
        yield* outcomeOf(pieces, "b".repeat(70))
        return search.mock.contexts.reduce((sum: number, searched) => sum + (searched as Buffer).length, 0)
      } finally {
        search.mockRestore()
      }
    })

  it.effect.each<readonly [what: string, body: string]>([
    ["beginnings of a boundary", form("b".repeat(70), `\r\n--${"b".repeat(69)}`.repeat(mebibyte / 73))],
    ["line breaks", form("b".repeat(70), "\r\n".repeat(mebibyte / 2))],
    ["hyphens", form("b".repeat(70), "-".repeat(mebibyte))]
  ])("content of %s is searched once", ([, body]) =>
    Effect.gen(function*() {
      for (const size of [65_536, 1000]) {
        // the first piece is searched for the boundary, the headers and the content; what may be the beginning of a
        // boundary is searched again with the next piece
        assert.isAtMost(
          yield* searchedIn(body, size),
          body.length + 3 * size + Math.ceil(body.length / size) * 80 + 1000
        )
      }
    }))

  it.effect("headers have a limit, so that searching them again with each byte has one too", () =>
    Effect.gen(function*() {
      const body = form("b".repeat(70), "x", `${disposition}\r\nA: ${"x".repeat(100_000)}`)
      // 16 KiB of headers, whose end is looked for with each piece
      assert.isAtMost(yield* searchedIn(body, 1000), 17 * 2 * 20_000)
    }))
})
