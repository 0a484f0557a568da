/**
 * Large files, eight at once, over a PostgreSQL server and over S3: the memory of the server's process, and what a
 * broken upload leaves behind. The full form has files of the largest size.
 */
import { assert, it } from "@effect/vitest"
import { Media } from "@wac/core"
import * as Extent from "@wac/testbed/Extent"
import * as S3Server from "@wac/testbed/S3Server"
import { Effect, Schedule } from "effect"
import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import * as http from "node:http"
import { pipeline } from "node:stream/promises"
import * as checks from "../checks.ts"
import { call } from "../harness.ts"
import { freshDatabase, type Listening, masterKey, postgres, signedIn, sql, start } from "../processes.ts"

const megabyte = 1024 * 1024

/** The bytes of a file. Those of the short form exceed the bound together too. */
const size = Extent.of(10 * megabyte, Media.maxSize)

const atOnce = 8

/** How much the process may grow. */
const growth = 64 * megabyte

const piece = 64 * 1024

/** The bytes of a file that is recognized by its beginning, made as they are read. */
function* bytesOf(seed: number, size: number): Generator<Buffer> {
  for (let at = 0; at < size; at += piece) {
    const bytes = Buffer.alloc(Math.min(piece, size - at), (seed + at / piece) % 251)
    if (at === 0) bytes.write("%PDF-1.7\n")
    yield bytes
  }
}

const digestOf = (bytes: Iterable<Buffer>): string => {
  const hash = createHash("sha256")
  for (const part of bytes) hash.update(part)
  return hash.digest("hex")
}

interface Caller {
  readonly url: string
  readonly authorization: string
}

const head = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"large.pdf\"\r\n\r\n"
const tail = "\r\n--b--\r\n"

/** Sends a form, whose file may break off, and returns the answer's status and body. */
const upload = async ({ authorization, url }: Caller, bytes: Iterable<Buffer>, size: number, breakAfter = Infinity) => {
  const request = http.request(`${url}/v1/media`, {
    method: "POST",
    agent: false,
    headers: {
      authorization,
      "idempotency-key": crypto.randomUUID(),
      "content-type": "multipart/form-data; boundary=b",
      "content-length": head.length + size + tail.length
    }
  })
  const answered = new Promise<http.IncomingMessage>((resolve, reject) =>
    request.on("response", resolve).on("error", reject)
  )
  answered.catch(() => undefined)
  await pipeline(function*() {
    yield head
    let sent = 0
    for (const part of bytes) {
      if (sent >= breakAfter) throw new Error("broken")
      yield part
      sent += part.length
    }
    yield tail
  }, request).catch((error: unknown) =>
    // a response that came before the form's end says why the rest was not read
    answered.then(() => undefined, () => {
      throw error
    })
  )
  const response = await answered
  const parts: Array<Buffer> = []
  for await (const part of response) parts.push(part)
  return { status: response.statusCode, body: JSON.parse(`${Buffer.concat(parts)}`) }
}

/** Downloads a file, and returns its digest. */
const download = async ({ authorization, url }: Caller, id: string): Promise<string> => {
  const response = await new Promise<http.IncomingMessage>((resolve, reject) =>
    http.get(`${url}/v1/media/${id}`, { agent: false, headers: { authorization } }, resolve).on("error", reject)
  )
  const hash = createHash("sha256")
  for await (const part of response) hash.update(part)
  return hash.digest("hex")
}

const statusOf = (pid: number, name: string): number =>
  1024 * Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1])

/** Waits until a process has given back what only its start needed, and has prepared what it prepares once. */
const settled = ({ child, url }: Listening) =>
  Effect.andThen(
    checks.until(
      Effect.sync(() => statusOf(child.pid!, "VmHWM") - statusOf(child.pid!, "VmRSS")),
      (givenBack) => givenBack > 10 * megabyte
    ),
    call(`${url}/openapi.json`)
  )

/** How much the resident memory of a process grew at most while `during` ran, in bytes. */
const peakGrowth = async ({ child }: Listening, during: () => Promise<unknown>): Promise<number> => {
  const pid = child.pid!
  // resets the peak
  writeFileSync(`/proc/${pid}/clear_refs`, "5")
  const before = statusOf(pid, "VmRSS")
  await during()
  return statusOf(pid, "VmHWM") - before
}

/** Where bytes are, and how much of files is there. */
const stores = {
  "a PostgreSQL server": Effect.gen(function*() {
    const database = yield* Effect.flatMap(postgres, freshDatabase)
    return {
      environment: { DATABASE_URL: database },
      left: Effect.map(
        sql<{ readonly n: number }>(
          database,
          "select (select count(*) from wac.media_chunks)::int + (select count(*) from wac.media)::int as n"
        ),
        ([row]) => row!.n
      )
    }
  }),
  S3: Effect.gen(function*() {
    const database = yield* Effect.flatMap(postgres, freshDatabase)
    const store = yield* Effect.acquireRelease(
      Effect.promise(() => S3Server.start()),
      ({ stop }) => Effect.promise(stop)
    )
    return {
      environment: {
        DATABASE_URL: database,
        MEDIA_STORE: `s3://${store.bucket}/wac`,
        AWS_ENDPOINT_URL: store.endpoint,
        AWS_ACCESS_KEY_ID: "an-id",
        AWS_SECRET_ACCESS_KEY: "a-secret"
      },
      left: Effect.map(
        Effect.all([
          Effect.promise(store.keys),
          sql<{ readonly n: number }>(database, "select count(*)::int as n from wac.media")
        ]),
        ([keys, [row]]) => keys.length + row!.n
      )
    }
  })
}

it.live.each(Object.entries(stores))(
  "over %s, eight large files at once are uploaded and downloaded in little memory, and broken uploads leave nothing",
  ([, store]) =>
    Effect.gen(function*() {
      const { environment, left } = yield* store
      const server = yield* start({ WAC_MASTER_KEY: masterKey(), ...environment })
      const { key } = yield* signedIn(server)
      const caller = { url: server.url, authorization: `Bearer ${key.apiKey}` }
      const all = <A>(each: (n: number) => Promise<A>) => Promise.all(Array.from({ length: atOnce }, (_, n) => each(n)))
      const uploaded = (n: number, size: number) => upload(caller, bytesOf(n, size), size)
      yield* settled(server)
      // what every process has after its first requests
      const first = yield* Effect.promise(() => all((n) => uploaded(n, megabyte)))
      yield* Effect.promise(() => all((n) => download(caller, first[n]!.body.media_id)))

      const ids: Array<string> = []
      const up = yield* Effect.promise(() =>
        peakGrowth(server, () =>
          all(async (n) => {
            const { body, status } = await uploaded(n, size)
            assert.deepInclude({ status, ...body }, { status: 201, size, sha256: digestOf(bytesOf(n, size)) })
            ids[n] = body.media_id
          }))
      )
      const down = yield* Effect.promise(() =>
        peakGrowth(server, () =>
          all(async (n) => {
            assert.strictEqual(await download(caller, ids[n]!), digestOf(bytesOf(n, size)))
          }))
      )
      assert.isBelow(up, growth)
      assert.isBelow(down, growth)

      const kept = yield* left
      const broken = yield* Effect.promise(() =>
        all((n) => upload(caller, bytesOf(n, size), size, size / 2).then(() => "whole", () => "broken"))
      )
      assert.deepStrictEqual(new Set(broken), new Set(["broken"]))
      // for as long as the machine takes
      yield* left.pipe(Effect.repeat({ until: (now) => now === kept, schedule: Schedule.spaced("100 millis") }))
    }).pipe(Effect.scoped),
  // for what hangs, on the slowest machine
  Extent.of(600_000, 1_200_000)
)
