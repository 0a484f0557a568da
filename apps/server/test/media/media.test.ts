/**
 * Files over HTTP (contract §10): uploads and downloads as streams, and what hostile callers try with them.
 */
import { assert, it, layer } from "@effect/vitest"
import { createClient } from "@wac/client"
import { Effect } from "effect"
import { createHash, randomBytes } from "node:crypto"
import * as net from "node:net"
import * as checks from "../checks.ts"
import { call, createKey, isReplayed, ownPage, ready } from "../harness.ts"
import { still } from "../movable.ts"
import { form, gif, jpeg, png, upload } from "./files.ts"

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

const own = Effect.gen(function*() {
  const { key, url } = yield* checks.Served
  return { url, authorization: `Bearer ${key.apiKey}` }
})

const get = (id: string, headers: { readonly [name: string]: string } = {}, method = "GET") =>
  Effect.gen(function*() {
    const { authorization, url } = yield* own
    return yield* Effect.promise(async () => {
      const response = await fetch(`${url}/v1/media/${id}`, { method, headers: { authorization, ...headers } })
      return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
    })
  })

layer(checks.Served.layer({ environment: checks.unlimited }), checks.live)("files", (it) => {
  it.effect("a file is uploaded, downloaded whole, and deleted", () =>
    Effect.gen(function*() {
      const sent = yield* upload(yield* own, { bytes: png, filename: "receipt.png" })
      assert.strictEqual(sent.status, 201, sent.text)
      checks.assertHeaders(sent)
      assert.match(sent.body.media_id, checks.idShape("med"))
      assert.match(sent.body.expires_at, checks.timeShape)
      assert.deepInclude(sent.body, {
        mime_type: "image/png",
        size: png.length,
        sha256: sha256(png),
        filename: "receipt.png"
      })
      const id = sent.body.media_id
      const got = yield* get(id)
      assert.strictEqual(got.status, 200)
      assert.deepStrictEqual(got.bytes, Buffer.from(png))
      const { headers } = got
      assert.strictEqual(headers.get("content-type"), "image/png")
      assert.strictEqual(headers.get("content-length"), `${png.length}`)
      assert.strictEqual(headers.get("content-disposition"), "attachment; filename=\"receipt.png\"")
      assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
      assert.strictEqual(headers.get("etag"), `"${sha256(png)}"`)
      const head = yield* get(id, {}, "HEAD")
      assert.deepStrictEqual([head.status, head.bytes.length], [200, 0])
      assert.strictEqual(head.headers.get("content-length"), `${png.length}`)

      const gone = yield* get(id, {}, "DELETE")
      assert.strictEqual(gone.status, 204)
      assert.strictEqual((yield* get(id)).status, 404)
      assert.strictEqual((yield* get(id, {}, "DELETE")).status, 404)
    }))

  it.effect("a retry with the same key gets the same file, and another file with it is a conflict", () =>
    Effect.gen(function*() {
      const caller = yield* own
      const headers = { "idempotency-key": "receipt-1" }
      const first = yield* upload(caller, { bytes: png, filename: "a.png", headers })
      const again = yield* upload(caller, { bytes: png, filename: "a.png", headers })
      assert.strictEqual(again.text, first.text)
      assert.isTrue(isReplayed(again))
      for (const other of [{ bytes: jpeg, filename: "a.png" }, { bytes: png, filename: "b.png" }]) {
        checks.assertError(yield* upload(caller, { ...other, headers }), 409, {
          code: "idempotency_conflict",
          reason: "payload_mismatch"
        })
      }
      const { authorization, url } = caller
      const { body, type } = form({ bytes: png, filename: "a.png" })
      const missing = yield* call(`${url}/v1/media`, {
        method: "POST",
        headers: { authorization, "content-type": type },
        body: body.toString("latin1")
      })
      checks.assertError(missing, 400, {
        code: "invalid_body",
        reason: "missing_idempotency_key",
        param: "Idempotency-Key"
      })
      const keyless = yield* upload(caller, { bytes: png, filename: "a.png", headers: { "idempotency-key": "" } })
      checks.assertError(keyless, 400, {
        code: "invalid_body",
        reason: "invalid_idempotency_key",
        param: "Idempotency-Key"
      })
    }))

  it.effect("a range is served, and tricks with ranges are harmless", () =>
    Effect.gen(function*() {
      const bytes = Buffer.from("0123456789".repeat(100))
      const { body } = yield* upload(yield* own, { bytes, filename: "digits.txt" })
      assert.strictEqual(body.mime_type, "text/plain")
      const part = (range: string, more = {}) => get(body.media_id, { range, ...more })
      const first = yield* part("bytes=0-9")
      assert.deepStrictEqual([first.status, `${first.bytes}`], [206, "0123456789"])
      assert.strictEqual(first.headers.get("content-range"), "bytes 0-9/1000")
      assert.strictEqual(`${(yield* part("bytes=-3")).bytes}`, "789")
      assert.strictEqual(`${(yield* part("bytes=995-")).bytes}`, "56789")
      assert.strictEqual(`${(yield* part("bytes=995-99999999")).bytes}`, "56789")
      for (const beyond of ["bytes=1000-", "bytes=-0", "bytes=5000-6000"]) {
        const refused = yield* part(beyond)
        assert.deepStrictEqual([refused.status, refused.headers.get("content-range")], [416, "bytes */1000"], beyond)
        assert.strictEqual(refused.headers.get("content-type"), "text/plain; charset=utf-8", beyond)
      }
      const overlapping = `bytes=${Array.from({ length: 200 }, () => "0-").join(",")}`
      for (const ignored of [overlapping, "bytes=9-1", "bytes=a-b", "lines=1-2", "bytes=--1", "bytes=1e3-"]) {
        const whole = yield* part(ignored)
        assert.deepStrictEqual([whole.status, whole.bytes.length], [200, 1000], ignored.slice(0, 40))
      }
      const etag = first.headers.get("etag")!
      assert.strictEqual((yield* part("bytes=0-9", { "if-range": etag })).status, 206)
      assert.strictEqual((yield* part("bytes=0-9", { "if-range": "\"other\"" })).status, 200)
      const known = yield* get(body.media_id, { "if-none-match": etag })
      assert.deepStrictEqual([known.status, known.bytes.length], [304, 0])
    }))

  it.effect("the type is found in the bytes, whatever the caller says", () =>
    Effect.gen(function*() {
      const caller = yield* own
      const types = [
        [png, "a.exe", "image/png"],
        [jpeg, "a.png", "image/jpeg"],
        [gif, "a.html", "image/gif"],
        [Buffer.from("héllo"), "a.mp4", "text/plain"],
        [Buffer.from("%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF"), "a.txt", "application/pdf"]
      ] as const
      for (const [bytes, filename, type] of types) {
        const { body, status, text } = yield* upload(caller, { bytes, filename, type: "text/html" })
        assert.strictEqual(status, 201, text)
        assert.strictEqual(body.mime_type, type, filename)
      }
      const unknown = yield* upload(caller, { bytes: Buffer.from([0, 1, 2, 3, 0xff, 0xfe]), filename: "a.png" })
      checks.assertError(unknown, 400, { code: "invalid_body", reason: "unsupported_media_type", param: "file" })
    }))

  it.effect("an image with script, and a page that pretends to be one, are only ever saved, never shown", () =>
    Effect.gen(function*() {
      const caller = yield* own
      const svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>"
      const polyglot = Buffer.concat([gif, Buffer.from("<script>alert(1)</script>")])
      for (const bytes of [Buffer.from(svg), Buffer.from("<html><script>alert(1)</script>"), polyglot]) {
        const { body, status } = yield* upload(caller, { bytes, filename: "x.html" })
        if (status === 400) continue
        const got = yield* get(body.media_id)
        assert.match(got.headers.get("content-disposition")!, /^attachment/)
        assert.notMatch(got.headers.get("content-type")!, /html|svg|xml|script/)
        assert.strictEqual(got.headers.get("x-content-type-options"), "nosniff")
        assert.match(got.headers.get("content-security-policy")!, /sandbox/)
      }
    }))

  it.effect("a hostile name becomes a harmless one", () =>
    Effect.gen(function*() {
      const caller = yield* own
      const names = [
        ["../../etc/passwd", "passwd"],
        ["C:\\temp\\evil.png", "evil.png"],
        ["a\"; filename=\"b.png", undefined],
        ["photo\u202Egnp.exe", "photognp.exe"],
        ["Rechnung Ägypten 💐.png", "Rechnung Ägypten 💐.png"],
        [`${"x".repeat(5000)}.png`, undefined],
        ["...", null]
      ] as const
      for (const [given, kept] of names) {
        const { body, status, text } = yield* upload(caller, { bytes: png, filename: given })
        if (status !== 201) {
          checks.assertError({ body, status, text } as never, 400, { code: "invalid_body" })
          continue
        }
        if (kept !== undefined) assert.strictEqual(body.filename, kept, given)
        const header = (yield* get(body.media_id)).headers.get("content-disposition")!
        assert.match(header, /^attachment(; filename="[ !#-[\]-~]*"(; filename\*=UTF-8''[\w%.!#$&+^`|~-]*)?)?$/, given)
      }
    }))

  it.effect("a body that is no form with one file is refused with the reason", () =>
    Effect.gen(function*() {
      const { authorization, url } = yield* own
      const post = (body: string | Buffer, type: string) =>
        upload({ url, authorization }, { form: { body: Buffer.from(body), type } })
      const boundary = "multipart/form-data; boundary=b"
      checks.assertError(yield* post("{}", "application/json"), 415, {
        code: "invalid_body",
        reason: "unsupported_media_type",
        param: "Content-Type"
      })
      checks.assertError(yield* post("--b--\r\n", boundary), 400, {
        code: "invalid_body",
        reason: "missing_field",
        param: "file"
      })
      const field = "--b\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\nx\r\n--b--\r\n"
      checks.assertError(yield* post(field, boundary), 400, {
        code: "invalid_body",
        reason: "unknown_field",
        param: "other"
      })
      const { body } = form({ bytes: png, filename: "a.png" }, "b")
      const unreadable = { code: "invalid_body", reason: "invalid_field", param: "file" }
      checks.assertError(yield* post(body.subarray(0, -20), boundary), 400, unreadable)
      const twice = Buffer.concat([body.subarray(0, -7), body])
      checks.assertError(yield* post(twice, boundary), 400, unreadable)
    }))

  it.effect("a file of another workspace does not exist", () =>
    Effect.gen(function*() {
      const { services, url } = yield* checks.Served
      const { body } = yield* upload(yield* own, { bytes: png, filename: "ours.png" })
      const other = yield* checks.anotherWorkspace("other", "+15005550999").pipe(Effect.provideContext(services))
      const headers = { authorization: `Bearer ${other.key.apiKey}` }
      for (const method of ["GET", "HEAD", "DELETE"]) {
        const answer = yield* Effect.promise(() => fetch(`${url}/v1/media/${body.media_id}`, { method, headers }))
        assert.strictEqual(answer.status, 404, method)
      }
      assert.strictEqual((yield* get(body.media_id)).status, 200)
    }))

  it.effect("the signature of an upload is checked at its end, before anything is kept", () =>
    Effect.gen(function*() {
      const { session, url } = yield* checks.Served
      const key = yield* createKey(url, session, { name: "signing", requireSignature: true })
      const caller = { url, authorization: `Bearer ${key.apiKey}` }
      const client = createClient({
        baseUrl: `${url}/v1`,
        apiKey: key.apiKey,
        signingSecret: key.signingSecret,
        retries: 0
      })
      const stored = yield* Effect.promise(() => client.media.upload({ bytes: png, filename: "a.png" }))
      assert.deepInclude(stored, { mimeType: "image/png", filename: "a.png" })
      checks.assertError(yield* upload(caller, { bytes: png, filename: "a.png" }), 401, {
        code: "unauthorized",
        reason: "missing_signature",
        param: "X-Service-Signature"
      })
      const idempotencyKey = crypto.randomUUID()
      const wrong = createClient({ baseUrl: `${url}/v1`, apiKey: key.apiKey, signingSecret: "whsec_other", retries: 0 })
      const refused = yield* Effect.promise(() =>
        wrong.media.upload({ bytes: png, filename: "a.png" }, { idempotencyKey }).catch((error: unknown) => error)
      )
      assert.deepInclude(refused, { status: 401, reason: "invalid_signature" })
      // the refused upload bound no key
      const other = yield* Effect.promise(() =>
        client.media.upload({ bytes: jpeg, filename: "b.jpg" }, { idempotencyKey })
      )
      assert.strictEqual(other.mimeType, "image/jpeg")
      const opened = yield* Effect.promise(() => client.media.open(stored.id))
      assert.deepInclude(opened, { id: stored.id, mimeType: "image/png", size: png.length })
      const part = yield* Effect.promise(() => new Response(opened.stream({ end: 4 })).bytes())
      assert.deepStrictEqual(part, new Uint8Array(png.slice(0, 4)))
      yield* Effect.promise(() => client.media.remove(stored.id))
    }))

  it.effect("an upload that breaks off leaves nothing, and a retry succeeds", () =>
    Effect.gen(function*() {
      const { authorization, url } = yield* own
      const caller = yield* own
      const { body, type } = form({ bytes: randomBytes(300_000), filename: "a.bin" }, "b")
      const { port } = new URL(url)
      yield* Effect.callback<void>((resume) => {
        const socket = net.connect(Number(port), "127.0.0.1", () => {
          socket.write(
            `POST /v1/media HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\nidempotency-key: broken\r\n` +
              `content-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n`
          )
          socket.write(body.subarray(0, 200_000), () => {
            socket.destroy()
            resume(Effect.void)
          })
        })
      })
      const retried = yield* upload(caller, {
        bytes: png,
        filename: "a.png",
        headers: { "idempotency-key": "broken" }
      })
      assert.strictEqual(retried.status, 201, retried.text)
    }))

  it.effect("a key without the scope, and a session, cannot reach files", () =>
    Effect.gen(function*() {
      const { session, url } = yield* checks.Served
      const none = yield* upload({ url, authorization: "Bearer wac_live_x" }, { bytes: png, filename: "a.png" })
      checks.assertError(none, 401, { code: "unauthorized", reason: "invalid_key" })
      const person = yield* call(`${url}/v1/media/med_${checks.nobody}`, { headers: { ...ownPage, ...session } })
      checks.assertError(person, 401, { code: "unauthorized", reason: "missing_key" })
    }))
})

it.live("the expires_at of an upload follows RETENTION", () =>
  Effect.gen(function*() {
    const environment = { ...checks.unlimited, RETENTION: "{\"media\":7}" }
    const { clock, key, url } = yield* still(ready({ environment }))
    const sent = yield* upload({ url, authorization: `Bearer ${key.apiKey}` }, { bytes: png, filename: "a.png" })
    assert.strictEqual(Date.parse(sent.body.expires_at) - clock.currentTimeMillisUnsafe(), 7 * 24 * 60 * 60 * 1000)
  }).pipe(Effect.scoped))
