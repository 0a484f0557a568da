/**
 * What hostile callers try with files over HTTP (contract §10): names, types, archives, ranges, forms and other
 * workspaces. Nothing is ever a server error, and nothing that is stored harms who downloads it.
 */
import { assert, layer } from "@effect/vitest"
import * as Extent from "@wac/testbed/Extent"
import { Effect, Schedule } from "effect"
import * as net from "node:net"
import { constants, deflateRawSync, gzipSync } from "node:zlib"
import * as checks from "../checks.ts"
import { send } from "../harness.ts"
import { form, gif, jpeg, png, upload } from "./files.ts"

const own = Effect.gen(function*() {
  const { key, url } = yield* checks.Served
  return { url, authorization: `Bearer ${key.apiKey}` }
})

type Caller = Effect.Success<typeof own>

/** Sends bytes as they are over a connection of its own, and returns the whole answer. */
const raw = (
  url: string,
  bytes: Iterable<Buffer | string>
): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const socket = net.connect(Number(new URL(url).port), "127.0.0.1")
    let text = ""
    socket.setEncoding("latin1").on("data", (part) => text += part)
    // what the server no longer reads is no failure, if it has answered
    socket.on("error", (error) => text === "" && reject(error))
    socket.on("close", () => resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]), text }))
    for (const part of bytes) socket.write(part)
  })

/** Posts a form that is written by hand. */
const post = (
  { authorization, url }: Caller,
  body: Buffer | string,
  type: string | undefined = "multipart/form-data; boundary=b"
) => {
  const bytes = Buffer.from(body as string, "latin1")
  return Effect.promise(() =>
    raw(url, [
      `POST /v1/media HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: ${authorization}\r\n` +
      `idempotency-key: ${crypto.randomUUID()}\r\ncontent-type: ${type}\r\ncontent-length: ${bytes.length}\r\n\r\n`,
      bytes
    ])
  )
}

const download = ({ authorization, url }: Caller, id: string, headers: { readonly [name: string]: string } = {}) =>
  Effect.promise(async () => {
    const response = await fetch(`${url}/v1/media/${id}`, { headers: { authorization, ...headers } })
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
  })

/** A form with one part, whose headers and content are given. */
const part = (headers: string, content: Uint8Array | string = png): Buffer =>
  Buffer.concat([
    Buffer.from(`--b\r\n${headers}\r\n\r\n`, "latin1"),
    Buffer.from(content as string, "latin1"),
    Buffer.from("\r\n--b--\r\n")
  ])

const disposition = (rest: string) => `Content-Disposition: form-data; name="file"; ${rest}`

/** Asserts that a browser saves a download under a harmless name, and never shows it. */
const assertHarmless = ({ headers }: { readonly headers: Headers }): void => {
  assert.match(
    headers.get("content-disposition")!,
    /^attachment(; filename="[ !#-[\]-~]*"(; filename\*=UTF-8''[\w%.!#$&+^`|~-]*)?)?$/
  )
  assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
  assert.match(headers.get("content-security-policy")!, /default-src 'none'.*sandbox/)
  assert.strictEqual(headers.get("cross-origin-resource-policy"), "same-origin")
  assert.notMatch(headers.get("content-type")!, /html|svg|script/)
  assert.isNull(headers.get("x-evil"))
  assert.isNull(headers.get("set-cookie"))
}

/** A file in an archive, compressed by deflate. */
interface Entry {
  readonly name: string
  readonly packed: Buffer
  /** In bytes, before it was compressed. */
  readonly size: number
}

const entry = (name: string, content: string): Entry => ({
  name,
  packed: deflateRawSync(Buffer.from(content)),
  size: content.length
})

/** The bytes of a ZIP archive. Nothing here checks sums, so they are 0. */
const archive = (entries: ReadonlyArray<Entry>): Buffer => {
  const locals: Array<Buffer> = []
  const directory: Array<Buffer> = []
  let offset = 0
  for (const { name, packed, size } of entries) {
    const sizes = Buffer.alloc(16)
    sizes.writeUInt32LE(packed.length, 4)
    sizes.writeUInt32LE(size, 8)
    sizes.writeUInt16LE(name.length, 12)
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    const local = [Buffer.from([80, 75, 3, 4, 20, 0, 0, 0, 8, 0, 0, 0, 0, 0]), sizes, Buffer.from(name), packed]
    directory.push(Buffer.from([80, 75, 1, 2, 20, 0, 20, 0, 0, 0, 8, 0, 0, 0, 0, 0]), sizes, place, Buffer.from(name))
    locals.push(...local)
    offset += Buffer.concat(local).length
  }
  const end = Buffer.alloc(22)
  end.set([80, 75, 5, 6])
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(Buffer.concat(directory).length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, ...directory, end])
}

layer(checks.Served.layer({ environment: checks.unlimited }), checks.live)("hostile files", (it) => {
  it.effect.each<[string, string]>([
    ["a path", "filename=\"../../../../etc/passwd\""],
    ["a path of Windows", "filename=\"..\\\\..\\\\boot.ini\""],
    ["an encoded path", "filename*=UTF-8''..%2F..%2Fetc%2Fpasswd"],
    ["encoded line ends", "filename*=UTF-8''a%0D%0AX-Evil:%201%0D%0A.png"],
    ["line ends as browsers write them", "filename=\"a%0D%0AX-Evil: 1.png\""],
    ["line ends", "filename=\"a\r\nX-Evil: 1\r\n.png\""],
    ["an encoded NUL", "filename*=UTF-8''a.png%00.exe"],
    ["a NUL", "filename=\"a.png\0.exe\""],
    ["quotes", "filename=\"a\\\"; filename=\\\"b.exe\""],
    ["an end of the quotes", "filename=\"a\"; filename=\"b.exe\""],
    ["text from right to left", "filename*=UTF-8''photo%E2%80%AEgnp.exe"],
    ["hidden characters", "filename*=UTF-8''a%E2%80%8B%EF%BB%BFb%E2%81%A6.png"],
    ["bytes that are no UTF-8", "filename=\"a\xff\xfe\xc0\xaf.png\""],
    ["an invalid encoding", "filename*=UTF-8''%E0%A4%A"],
    ["an unknown charset", "filename*=utf-7''%2BADw-script%2BAD4-"],
    ["10,000 characters", `filename="${"x".repeat(10_000)}.png"`],
    ["only dots", "filename=\"...\""],
    ["nothing", "filename=\"\""],
    ["a device of Windows", "filename=\"CON\""],
    ["a stream of Windows", "filename=\"a.png:evil.exe\""],
    ["a command", "filename=\"$(reboot);`id`|&.png\""]
  ])("a name with %s is harmless, or refused", ([, rest]) =>
    Effect.gen(function*() {
      const caller = yield* own
      const { status, text } = yield* post(caller, part(disposition(rest)))
      assert.include([201, 400], status, text)
      if (status !== 201) return
      const { filename, media_id } = JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1))
      if (filename !== null) assert.match(filename, /^(?!\.)[^\p{C}\p{Zl}\p{Zp}/\\"*:<>?|]{1,240}(?<![. ])$/u)
      assertHarmless(yield* download(caller, media_id))
    }))

  const html = "<html><script>alert(1)</script></html>"
  const svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"><script>alert(1)</script></svg>"
  const pdf = "%PDF-1.7\n1 0 obj\n<</OpenAction<</S/JavaScript/JS(app.alert(1))>>>>\nendobj\ntrailer\n<<>>\n%%EOF\n"
  it.effect.each<[string, Buffer]>([
    ["HTML", Buffer.from(html)],
    ["HTML in UTF-16", Buffer.from(`\uFEFF${html}`, "utf16le")],
    ["SVG with script", Buffer.from(svg)],
    ["SVG with script, as XML", Buffer.from(`<?xml version="1.0"?>\n<!DOCTYPE svg>\n${svg}`)],
    [
      "XML with an external entity",
      Buffer.from("<?xml version=\"1.0\"?><!DOCTYPE r [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><r>&x;</r>")
    ],
    ["GIF and HTML", Buffer.concat([gif, Buffer.from(html)])],
    ["GIF and script", Buffer.from("GIF89a/*\0\0*/=1;alert(1)//", "latin1")],
    ["JPEG and HTML", Buffer.concat([jpeg, Buffer.from(html)])],
    ["PNG and an archive", Buffer.concat([png, archive([entry("evil.js", "alert(1)")])])],
    ["PDF with script", Buffer.from(pdf)],
    ["PDF and an archive", Buffer.concat([Buffer.from(pdf), archive([entry("evil.js", "alert(1)")])])],
    ["an archive and HTML", Buffer.concat([archive([entry("index.html", html)]), Buffer.from(html)])],
    ["a program", Buffer.concat([Buffer.from("MZ"), Buffer.alloc(200, 1), Buffer.from("PE\0\0")])],
    ["a script for a shell", Buffer.from("#!/bin/sh\nrm -rf /\n")]
  ])("%s is only ever saved, whatever the caller says that it is", ([, bytes]) =>
    Effect.gen(function*() {
      const caller = yield* own
      for (const type of ["text/html", "image/svg+xml", "image/png", "text/html\r\nX-Evil: 1", "x".repeat(300)]) {
        const { body, status, text } = yield* upload(caller, { bytes, filename: "a.html", type })
        assert.include([201, 400], status, text)
        if (status === 400) {
          assert.strictEqual(body.error.code, "invalid_body")
          continue
        }
        const got = yield* download(caller, body.media_id)
        assertHarmless(got)
        assert.deepStrictEqual(got.bytes, bytes)
      }
    }))

  /** Opens a customer's window: the sandbox's customer replies to a template. */
  const opened = (server: { readonly url: string; readonly key: { readonly apiKey: string } }) =>
    Effect.gen(function*() {
      const to = "+15005550008"
      const template = { name: "hello_world", language: "en_US" }
      assert.strictEqual((yield* send(server, { to, type: "template", template })).status, 200)
      yield* Effect.repeat(send(server, { to, type: "text", text: { body: "Hello" } }), {
        until: ({ status }) => status === 200,
        schedule: Schedule.spaced("50 millis"),
        times: 200
      })
      return to
    })

  it.effect("a file is sent only as a kind that its bytes are, not as one that its name or caller says", () =>
    Effect.gen(function*() {
      const { key, url } = yield* checks.Served
      const caller = yield* own
      const { body } = yield* upload(caller, { bytes: Buffer.from(html), filename: "photo.png", type: "image/png" })
      assert.strictEqual(body.mime_type, "text/plain")
      const to = yield* opened({ key, url })
      for (const type of ["image", "video", "audio", "sticker"]) {
        const refused = yield* send({ key, url }, { to, type, [type]: { media: body.media_id } })
        checks.assertInvalid(refused, "invalid_field", `${type}.media`)
      }
    }))

  it.effect("an archive that unpacks to a gigabyte is stored as it is, in little memory", () =>
    Effect.gen(function*() {
      const caller = yield* own
      const zeros = Buffer.alloc(16 * 1024 * 1024)
      const times = 64
      // members of gzip, and blocks of deflate, may follow each other
      const member = gzipSync(zeros)
      const gz = Buffer.concat(Array.from({ length: times }, () => member))
      const block = deflateRawSync(zeros, { finishFlush: constants.Z_SYNC_FLUSH })
      const packed = Buffer.concat([...Array.from({ length: times }, () => block), Buffer.from([3, 0])])
      const size = times * zeros.length
      const bombs = [
        ["bomb.gz", gz, "application/gzip"],
        ["bomb.gz.gz", gzipSync(gz), "application/gzip"],
        ["bomb.zip", archive([{ name: "zeros", packed, size }]), "application/zip"],
        // the entries that tell documents from archives
        ["bomb.docx", archive([{ name: "[Content_Types].xml", packed, size }]), "application/zip"],
        ["bomb.odt", archive([{ name: "mimetype", packed, size }]), "application/zip"]
      ] as const
      for (const [filename, bytes, type] of bombs) {
        const before = process.memoryUsage().rss
        const { body, status, text } = yield* upload(caller, { bytes, filename })
        assert.strictEqual(status, 201, text)
        assert.deepInclude(body, { size: bytes.length, mime_type: type }, filename)
        assert.isBelow(process.memoryUsage().rss - before, 128 * 1024 * 1024, filename)
        assert.deepStrictEqual((yield* download(caller, body.media_id)).bytes, bytes)
      }
    }))

  it.effect("no range gets more than the file, whatever its numbers and however many there are", () =>
    Effect.gen(function*() {
      const caller = yield* own
      const bytes = Buffer.from("0123456789".repeat(100))
      const { body } = yield* upload(caller, { bytes, filename: "digits.txt" })
      const whole = [200, 1000]
      const cases: ReadonlyArray<readonly [range: string, answer: ReadonlyArray<number>]> = [
        ["bytes=0-0", [206, 1]],
        ["bytes=999-999", [206, 1]],
        ["bytes=-1000", [206, 1000]],
        ["bytes=-1001", [206, 1000]],
        ["bytes=-9999999999999999", [206, 1000]],
        ["bytes=0-9999999999999999", [206, 1000]],
        ["bytes=9007199254740993-", [416, 0]],
        ["bytes=1000-1000", [416, 0]],
        ["bytes=-0", [416, 0]],
        // malformed, several, or beyond every number: ignored
        ["bytes=18446744073709551616-", whole],
        ["bytes=-99999999999999999999", whole],
        ["bytes=0-0,-1", whole],
        ["bytes=0-499,500-999", whole],
        ["bytes=0-,0-,0-,0-", whole],
        [`bytes=${Array.from({ length: 1000 }, (_, i) => `${i}-${i}`).join(",")}`, whole],
        ["bytes=--5", whole],
        ["bytes=-5-10", whole],
        ["bytes=5--10", whole],
        ["bytes=0x0-0xff", whole],
        ["bytes=0.5-1", whole],
        ["bytes=+1-2", whole],
        ["bytes= 0-1", whole],
        ["bytes=", whole],
        ["bytes=-", whole],
        ["bytes", whole],
        ["BYTES=0-1;evil", whole],
        ["bytes=٠-١", whole]
      ]
      for (const [range, answer] of cases) {
        const got = yield* Effect.promise(() =>
          raw(caller.url, [
            `GET /v1/media/${body.media_id} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n` +
            `authorization: ${caller.authorization}\r\nrange: ${range}\r\n\r\n`
          ])
        )
        // an empty body may be chunked
        const content = got.text.slice(got.text.indexOf("\r\n\r\n") + 4).replace(/^0\r\n\r\n$/, "")
        assert.deepStrictEqual([got.status, content.length], answer, range.slice(0, 60))
        if (got.status === 416) assert.match(got.text, /content-range: bytes \*\/1000\r\n/i)
      }
      // two headers are one list of ranges
      const twice = yield* Effect.promise(() =>
        raw(caller.url, [
          `GET /v1/media/${body.media_id} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n` +
          `authorization: ${caller.authorization}\r\nrange: bytes=0-1\r\nrange: bytes=5-6\r\n\r\n`
        ])
      )
      assert.include([200, 206, 400], twice.status)
      const head = yield* Effect.promise(() =>
        fetch(`${caller.url}/v1/media/${body.media_id}`, {
          method: "HEAD",
          headers: { authorization: caller.authorization, range: "bytes=5000-" }
        })
      )
      assert.strictEqual(head.status, 200)
    }))

  const whole = form({ bytes: png, filename: "a.png" }, "b").body
  const file = part(disposition("filename=\"a.png\""))
  it.effect.each<[string, Buffer | string, string?]>([
    ["two files", Buffer.concat([whole.subarray(0, -4), Buffer.from("\r\n"), whole])],
    ["no file", "--b--\r\n"],
    ["nothing", ""],
    ["no end", whole.subarray(0, -6)],
    ["no end and no bytes", whole.subarray(0, 40)],
    ["an end in the middle of a boundary", whole.subarray(0, -3)],
    ["another boundary", whole, "multipart/form-data; boundary=c"],
    ["no boundary", whole, "multipart/form-data"],
    ["an empty boundary", whole, "multipart/form-data; boundary=\"\""],
    ["a boundary of 10,000 characters", whole, `multipart/form-data; boundary=${"b".repeat(10_000)}`],
    [
      "a form in the form",
      part(
        "Content-Disposition: form-data; name=\"file\"\r\nContent-Type: multipart/mixed; boundary=c",
        "--c\r\nContent-Disposition: file; filename=\"a.png\"\r\n\r\nx\r\n--c--"
      )
    ],
    ["a part without headers", "--b\r\n\r\nx\r\n--b--\r\n"],
    [
      "headers that a boundary cuts",
      "--b\r\nContent-Disposition: form-data; name=\"file\"\r\n--b\r\n\r\nx\r\n--b--\r\n"
    ],
    ["a boundary that text follows", "--b--b\r\n\r\nx\r\n--bx--b--\r\n"],
    ["a part without a name", part("Content-Disposition: form-data; filename=\"a.png\"")],
    ["a part with another name", part("Content-Disposition: form-data; name=\"files[]\"; filename=\"a.png\"")],
    [
      "a part whose name is of the prototype",
      part("Content-Disposition: form-data; name=\"__proto__\"; filename=\"a.png\"")
    ],
    ["a field in place of a file", part("Content-Disposition: form-data; name=\"file\"")],
    [
      "a field beside the file",
      Buffer.concat([
        file.subarray(0, -8),
        Buffer.from("\r\n--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n--b--\r\n")
      ])
    ],
    ["1,000 headers", part(`${disposition("filename=\"a.png\"")}${"\r\nX-A: b".repeat(1000)}`)],
    ["a header of a megabyte", part(`${disposition("filename=\"a.png\"")}\r\nX-A: ${"b".repeat(1_000_000)}`)],
    [
      "a header without an end",
      Buffer.from(`--b\r\n${disposition("filename=\"a.png\"")}\r\nX-A: ${"b".repeat(100_000)}`)
    ],
    [
      "10,000 parts",
      `${"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n\r\n".repeat(10_000)}--b--\r\n`
    ],
    ["10,000 boundaries", `${"--b\r\n".repeat(10_000)}--b--\r\n`],
    ["a field of a megabyte", part("Content-Disposition: form-data; name=\"file\"", "x".repeat(1_000_000))]
  ])("a form with %s is refused, and the connection's server goes on", ([, body, type]) =>
    Effect.gen(function*() {
      const caller = yield* own
      const { status, text } = yield* post(caller, body, type)
      assert.include([400, 415], status, text.slice(0, 500))
      assert.match(text, /"code":"invalid_body"/)
      assert.match(text, /"param":"(file|x|files\[\]|__proto__|Content-Type)"|"reason":"malformed_json"/)
      assert.strictEqual((yield* upload(caller, { bytes: png, filename: "a.png" })).status, 201)
    }))

  it.effect("what stands around a form's parts is ignored, and a declared transfer encoding is not decoded", () =>
    Effect.gen(function*() {
      const caller = yield* own
      const around = Buffer.concat([Buffer.from("preamble\r\n"), file, Buffer.from("epilogue")])
      const { status, text } = yield* post(caller, around)
      assert.include([201, 400], status, text)
      const encoded = Buffer.from("hello").toString("base64")
      const base64 = yield* post(
        caller,
        part(`${disposition("filename=\"a\"")}\r\nContent-Transfer-Encoding: base64`, encoded)
      )
      assert.strictEqual(base64.status, 201, base64.text)
      assert.include(base64.text, `"size":${encoded.length}`)
    }))

  // in real time, so only in the full form; PacedBody has every case on the test clock
  it.effect.each(Extent.of<ReadonlyArray<number>>([], [0, 32 * 1024]))(
    "an upload at %i bytes a second is refused after 30 seconds, and keeps nothing",
    (pace) =>
      Effect.gen(function*() {
        const { authorization, url } = yield* own
        const key = crypto.randomUUID()
        const begun = performance.now()
        const answer = yield* Effect.promise(() =>
          new Promise<string>((resolve) => {
            let text = ""
            const socket = net.connect(Number(new URL(url).port), "127.0.0.1", () => {
              socket.write(
                `POST /v1/media HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\nidempotency-key: ${key}\r\n` +
                  "content-type: multipart/form-data; boundary=b\r\ncontent-length: 50000000\r\n\r\n" +
                  `--b\r\n${disposition("filename=\"a.txt\"")}\r\n\r\n`
              )
            })
            const timer = setInterval(() => socket.write("x".repeat(pace / 10)), 100)
            socket.setEncoding("latin1").on("data", (part) => text += part).on("error", () => undefined)
            socket.on("close", () => {
              clearInterval(timer)
              resolve(text)
            })
          })
        )
        assert.match(answer, /^HTTP\/1\.1 400 /)
        assert.include(answer, "64 KiB per second")
        assert.isBelow(performance.now() - begun, 60_000)
        const headers = { "idempotency-key": key }
        assert.strictEqual(
          (yield* upload({ authorization, url }, { bytes: png, filename: "a.png", headers })).status,
          201
        )
      })
  )

  it.effect("a file of another workspace does not exist, for whatever is asked of it", () =>
    Effect.gen(function*() {
      const { services, url } = yield* checks.Served
      const caller = yield* own
      const { body } = yield* upload(caller, { bytes: png, filename: "ours.png" })
      const other = yield* checks.anotherWorkspace("hostile", "+15005550998").pipe(Effect.provideContext(services))
      const authorization = `Bearer ${other.key.apiKey}`
      const missing = `med_${checks.nobody}`
      const asked = (id: string, method: string, headers: { readonly [name: string]: string }) =>
        Effect.promise(async () => {
          const response = await fetch(`${url}/v1/media/${id}`, { method, headers: { authorization, ...headers } })
          const text = (await response.text()).replace(/req_\w+/g, "")
          return [response.status, text, response.headers.get("etag"), response.headers.get("content-range")]
        })
      const etag = `"${body.sha256}"`
      for (const method of ["GET", "HEAD", "DELETE"]) {
        for (const headers of [{}, { range: "bytes=0-1" }, { "if-none-match": etag }, { "if-none-match": "*" }]) {
          const theirs = yield* asked(body.media_id, method, headers)
          assert.deepStrictEqual(theirs, yield* asked(missing, method, headers))
          assert.strictEqual(theirs[0], 404)
        }
      }
      const to = yield* opened({ key: other.key, url })
      const sent = (media: string) =>
        Effect.map(
          send({ key: other.key, url }, { to, type: "image", image: { media } }),
          ({ body, status }) => ({ status, error: { ...body.error, request_id: null } })
        )
      const refused = yield* sent(body.media_id)
      assert.deepStrictEqual(refused, yield* sent(missing))
      assert.deepInclude(refused.error, { code: "invalid_body", reason: "invalid_field", param: "image.media" })
      for (const id of ["med_", "med_x", "../keys", "%2e%2e%2fkeys", "med_%00", "MED_1", `med_${"0".repeat(5000)}`]) {
        const got = yield* asked(id, "GET", {})
        assert.include([400, 404], got[0], id.slice(0, 20))
      }
      assert.deepStrictEqual((yield* download(caller, body.media_id)).bytes, Buffer.from(png))
    }))
})
