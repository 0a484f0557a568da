/**
 * Files of recipients that are broken, or meant to do harm, at a server process (contract §11): each gets a clear
 * report, and neither the process nor its other campaigns suffer.
 */
import { assert, layer } from "@effect/vitest"
import * as Extent from "@wac/testbed/Extent"
import { parse } from "csv-parse/sync"
import { Context, Effect, Layer } from "effect"
import { request } from "node:http"
import { Readable } from "node:stream"
import { gzipSync } from "node:zlib"
import * as checks from "../checks.ts"
import { call, hello, send } from "../harness.ts"
import { memoryOf, mostDuring } from "../memory.ts"
import { freshDatabase, masterKey, postgres, signedIn, start } from "../processes.ts"

/** Of one customer. */
const duplicates = Extent.of(20_000, 1_000_000)

/** What a caller sends of one line, in bytes, unless the server ends it. */
const endless = Extent.of(64, 1024) * 1024 * 1024

/** Of a file whose rows are large. */
const rows = Extent.of(100, 2000)

/** How much more memory a file may take, in bytes: the rows that are stored together, and what V8 collects late. */
const bound = 200 * 1024 * 1024

class Uploads extends Context.Service<Uploads, Effect.Success<typeof make>>()(
  "@wac/server/test/campaigns/malformed-files.test/Uploads"
) {
  static readonly layer = Layer.effect(Uploads, Effect.suspend(() => make))
}

const make = Effect.gen(function*() {
  const database = yield* Effect.flatMap(postgres, freshDatabase)
  const server = yield* start({
    DATABASE_URL: database,
    WAC_MASTER_KEY: masterKey(),
    LOG_FORMAT: "pretty",
    LOG_LEVEL: "warn"
  })
  const { key, session } = yield* signedIn(server)

  /** Uploads a file piece by piece, as fast as the server takes it, and after its answer too. */
  const put = (path: string, headers: { readonly [name: string]: string }, pieces: Iterable<Uint8Array>) =>
    Effect.promise(() =>
      new Promise<{ readonly status: number; readonly text: string; readonly sent: number }>((resolve, reject) => {
        let answer: { readonly status: number; readonly text: string } | undefined
        let sent = 0
        const end = (error?: Error) =>
          answer === undefined ? reject(error ?? new Error("the server did not answer")) : resolve({ ...answer, sent })
        const upload = request(server.url + path, { method: "PUT", headers: { ...session, ...headers } })
        upload.on("response", (response) => {
          let text = ""
          response.setEncoding("utf8").on("data", (part: string) => text += part)
          response.on("end", () => answer = { status: response.statusCode!, text })
        })
        upload.on("error", end).on("close", end)
        const source = Readable.from(pieces, { objectMode: false })
        source.on("data", (piece: Uint8Array) => sent += piece.length)
        source.pipe(upload)
        upload.on("close", () => source.destroy())
      })
    )

  /** A draft of the sandbox's template without values, or of this one. */
  const create = Effect.fnUntraced(function*(template: object = { name: "hello_world", language: "en_US" }) {
    const created = yield* call(`${server.url}/internal/campaigns`, {
      headers: session,
      body: { name: "Everyone", template }
    })
    assert.strictEqual(created.status, 201, created.text)
    const path = `/internal/campaigns/${created.body.id}`
    const get = call(server.url + path, { headers: session })
    return {
      get,
      upload: (pieces: Iterable<Uint8Array>, type: string, headers: { readonly [name: string]: string } = {}) =>
        put(`${path}/recipients`, { "content-type": type, ...headers }, pieces),
      check: Effect.andThen(
        call(`${server.url}${path}/check`, { method: "POST", headers: session }),
        checks.until(get, ({ body }) => body.status === "ready")
      ),
      report: (query: string) =>
        call(`${server.url}${path}/recipients${query}`, { headers: { ...session, accept: "text/csv" } })
    }
  })

  /** By how many bytes the process has grown at most while something went on. */
  const growthDuring = <A, E>(activity: Effect.Effect<A, E>) =>
    Effect.flatMap(Effect.context<never>(), (context) =>
      Effect.promise(async () => {
        const before = memoryOf(server)
        const going = Effect.runPromiseWith(context)(activity)
        const most = await mostDuring(server, going)
        return [await going, most - before] as const
      }))

  return { server, key, create, growthDuring }
})

const [a, b] = ["+12025550001", "+12025550002"]
const csv = "text/csv"
const ndjson = "application/x-ndjson"

const utf8 = (text: string): Uint8Array => Buffer.from(text)

function* repeated(piece: Uint8Array, count: number): Iterable<Uint8Array> {
  for (let i = 0; i < count; i++) yield piece
}

/** In pieces as large as a socket takes them. */
function* lines(line: string, count: number): Iterable<Uint8Array> {
  const many = utf8(line.repeat(1000))
  yield* repeated(many, Math.floor(count / 1000))
  yield utf8(line.repeat(count % 1000))
}

function* endlessLine(begin: string): Iterable<Uint8Array> {
  yield utf8(begin)
  yield* repeated(new Uint8Array(65_536).fill(120), endless / 65_536)
}

const errorOf = ({ text }: { readonly text: string }) => JSON.parse(text).error

layer(Uploads.layer, { excludeTestServices: true })("a malformed file of recipients", (it) => {
  it.effect.each(
    [
      ["a line of NDJSON", ndjson, "{\"to\":\""],
      ["a line of CSV", csv, "to\n"],
      ["a quoted value", csv, `to,name\n${a},"`],
      ["a header", csv, "to,"]
    ] as const
  )(
    "%s without an end is refused after a few of its bytes, which leave no memory in use",
    ([, type, begin]) =>
      Effect.gen(function*() {
        const { create, growthDuring } = yield* Uploads
        const { get, upload } = yield* create()
        const [answer, growth] = yield* growthDuring(upload(endlessLine(begin), type))
        assert.strictEqual(answer.status, 413, answer.text)
        assert.strictEqual(errorOf(answer).reason, "too_large")
        assert.match(errorOf(answer).message, /^line \d: a row is larger than 65536 bytes$/)
        // what the sockets' buffers took
        assert.isBelow(answer.sent, 32 * 1024 * 1024)
        assert.isBelow(growth, bound)
        assert.strictEqual((yield* get).body.rows, 0)
      })
  )

  it.effect(
    `of ${duplicates} rows of one customer, one is queued and all others are reported`,
    () =>
      Effect.gen(function*() {
        const { create, growthDuring } = yield* Uploads
        const { check, report, upload } = yield* create()
        const [answer, growth] = yield* growthDuring(upload(lines(`{"to":"${a}"}\n`, duplicates), ndjson))
        assert.strictEqual(answer.status, 200, answer.text)
        const [{ body }, growthOfCheck] = yield* growthDuring(check)
        assert.deepInclude(body, { rows: duplicates, checked: duplicates, problems: duplicates - 1 })
        assert.deepInclude(body.counts, { total: 1, queued: 1 })
        const [{ text }, growthOfReport] = yield* growthDuring(report("?reason=duplicate"))
        assert.lengthOf(text.trimEnd().split("\n"), duplicates)
        for (const grown of [growth, growthOfCheck, growthOfReport]) assert.isBelow(grown, bound)
      }),
    Extent.of(600_000, 1_800_000)
  )

  it.effect("rows with too many values, in another encoding or of no number are reported by their row", () =>
    Effect.gen(function*() {
      const { create } = yield* Uploads
      const { check, report, upload } = yield* create()
      const file = Buffer.concat([
        utf8(`to,name\n1.20256E+10,Ada\n${a},Ada,more\n`),
        Buffer.from(`${a},Zoë\n`, "latin1"),
        utf8(`,Bob\n+1,Bob\n${b},Ben\n${b},Ben\n`)
      ])
      assert.strictEqual((yield* upload([file], csv)).status, 200)
      yield* check
      const { text } = yield* report("")
      const rows = parse(text, { bom: true, columns: true }) as ReadonlyArray<Readonly<Record<string, string>>>
      assert.deepStrictEqual(
        rows.map(({ line, message, outcome, reason, value }) => [line, value, outcome || reason, message]),
        [
          ["2", "1.20256E+10", "malformed", rows[0]!["message"]],
          ["3", `'${a}`, "malformed", "the row has more values than the first row has columns"],
          ["4", `'${a}`, "malformed", "the row is not UTF-8"],
          ["5", "", "malformed", "to: is empty"],
          ["6", "'+1", "malformed", rows[4]!["message"]],
          ["7", "", "queued", ""],
          ["8", `'${b}`, "duplicate", "an earlier row has the same customer"]
        ]
      )
      assert.match(rows[0]!["message"]!, /^to: a spreadsheet has shortened the number/)
      assert.match(rows[4]!["message"]!, /^to: must be a phone number in E\.164 format/)
    }))

  it.effect("a file that cannot be read is refused with what is wrong", () =>
    Effect.gen(function*() {
      const { create } = yield* Uploads
      const { get, upload } = yield* create()
      const file = `to,name\n${a},Zoë\n`
      const noColumn = "the first row must have a column named to"
      const cases: ReadonlyArray<readonly [file: Uint8Array, message: string]> = [
        [Buffer.from(`to,prénom\n${a},Zoë\n`, "latin1"), "the first row is not UTF-8: save the file as CSV in UTF-8"],
        [Buffer.from(file, "utf16le"), "the first row is not UTF-8: save the file as CSV in UTF-8"],
        [Buffer.from(`PK\u0003\u0004${file}`), "the file is a spreadsheet's own format: save it as CSV"],
        [utf8("name\nAda\n"), noColumn],
        [utf8("to,x,x\n"), "the file has the column x twice"],
        // some hundred rows are written before the last is read
        [
          utf8(`to,name\n${`${a},Ada\n`.repeat(2000)}${a},"Ada\n`),
          "line 2002: the file is not CSV: a quoted value does not end, or has text after it"
        ]
      ]
      for (const [bytes, message] of cases) {
        const answer = yield* upload([bytes], csv)
        assert.strictEqual(answer.status, 400, answer.text)
        assert.deepInclude(errorOf(answer), { code: "invalid_body", reason: "invalid_field", message })
      }
      const compressed = yield* upload([gzipSync(file)], csv, { "content-encoding": "gzip" })
      assert.strictEqual(compressed.status, 415)
      assert.deepInclude(errorOf(compressed), { reason: "unsupported_media_type", param: "Content-Encoding" })
      assert.strictEqual((yield* get).body.rows, 0)
      for (const bytes of [Buffer.from(`\uFEFF${file}`, "utf16le"), Buffer.from(`\uFEFF${file}`, "utf16le").swap16()]) {
        assert.strictEqual((yield* upload([bytes], csv)).status, 200)
      }
      assert.strictEqual((yield* get).body.rows, 2)
    }))

  it.effect(
    "a file with more than 10,000 lines that are no recipients is refused, and the campaign's rows stay",
    () =>
      Effect.gen(function*() {
        const { create } = yield* Uploads
        const { get, upload } = yield* create()
        const good = `{"to":"${a}"}\n`
        const limit = 10_000
        const answer = yield* upload([utf8(good), ...lines("x\n", limit + 1), utf8(good)], ndjson)
        assert.strictEqual(answer.status, 400, answer.text)
        assert.deepInclude(errorOf(answer), {
          reason: "invalid_field",
          message: "more than 10000 lines are not objects in JSON, the first in line 2"
        })
        assert.strictEqual((yield* get).body.rows, 0)
        // rows that are wrong are told of one by one, however many they are
        assert.strictEqual((yield* upload([utf8(good), ...lines("{}\n", limit + 1)], ndjson)).status, 200)
        assert.strictEqual((yield* get).body.rows, limit + 2)
      }),
    Extent.of(120_000, 120_000)
  )

  it.effect("rows that are small on the wire and large once read are refused or reported, and leave no memory in use", () =>
    Effect.gen(function*() {
      const { create, growthDuring } = yield* Uploads
      const { check, upload } = yield* create()
      const columns = Array.from({ length: 12_000 }, (_, i) => `c${i.toString(36)}`)
      const wide = yield* upload(
        [utf8(`to,${columns}\n`), ...repeated(utf8(`${a}${",x".repeat(12_000)}\n`), rows)],
        csv
      )
      assert.strictEqual(wide.status, 413, wide.text)
      assert.deepInclude(errorOf(wide), { reason: "too_large", message: "the file has more than 502 columns" })
      const deep = `${"[".repeat(30_000)}${"]".repeat(30_000)}`
      const variables = Object.fromEntries(columns.slice(0, 5000).map((name) => [name, "x"]))
      const bombs = [
        [csv, "to\n", `${a}${",x".repeat(30_000)}\n`],
        [ndjson, "", `{"to":${deep}}\n`],
        [ndjson, "", `{"to":"${a}","bodyParams":${deep}}\n`],
        [ndjson, "", `${JSON.stringify({ to: a, variables })}\n`]
      ] as const
      for (const [type, begin, bomb] of bombs) {
        const [answer, growth] = yield* growthDuring(upload([utf8(begin), ...repeated(utf8(bomb), rows)], type))
        assert.strictEqual(answer.status, 200, answer.text)
        assert.isBelow(growth, bound)
      }
      const { body } = yield* check
      assert.deepInclude(body, { rows: bombs.length * rows, problems: bombs.length * rows })
    }))

  it.effect("a formula in an uploaded file is plain text in every cell of the report", () =>
    Effect.gen(function*() {
      const { create } = yield* Uploads
      const { check, report, upload } = yield* create({
        name: "order_update",
        language: "en_US",
        bodyParams: ["{{=1+1}}", "{{@SUM(A1)}}"]
      })
      const lines = [`{"to":"=1+1"}`, `{"to":"${a}"}`, `=1+1`, `{"to":"${a}","variables":{"=1+1":"x"}}`]
      assert.strictEqual((yield* upload([utf8(lines.join("\n"))], ndjson)).status, 200)
      yield* check
      const { text } = yield* report("")
      const cells = (parse(text, { bom: true }) as ReadonlyArray<ReadonlyArray<string>>).flat()
      assert.isAbove(cells.length, 40)
      for (const cell of cells) assert.notMatch(cell, /^[=+\-@\t\r]/)
    }))

  it.effect("the process that read all of these takes a good file, and sends", () =>
    Effect.gen(function*() {
      const { create, key, server } = yield* Uploads
      const { check, upload } = yield* create()
      assert.strictEqual((yield* upload([utf8(`to\n${a}\n${b}\n`)], csv)).status, 200)
      assert.deepInclude((yield* check).body, { rows: 2, problems: 0 })
      assert.strictEqual((yield* send({ url: server.url, key }, hello())).status, 200)
      assert.strictEqual(server.output.stderr, "")
    }))
})
