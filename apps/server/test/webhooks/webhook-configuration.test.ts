import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { call, ready } from "../harness.ts"

type Ready = Effect.Success<ReturnType<typeof ready>>

const url = "http://127.0.0.1:9/hook"

const put = (server: Ready, body: unknown) =>
  call(`${server.url}/internal/webhook`, { method: "PUT", headers: server.session, body })

const get = (server: Ready) => call(`${server.url}/internal/webhook`, { headers: server.session })

const remove = (server: Ready) => call(`${server.url}/internal/webhook`, { method: "DELETE", headers: server.session })

/** Receivers as they are when the operator allows nothing. */
const strict = { environment: { WEBHOOK_ALLOW_INSECURE: "", WEBHOOK_ALLOW_CIDRS: "" } }

const everyType = [
  "message.sent",
  "message.delivered",
  "message.read",
  "message.failed",
  "message.received",
  "message.echoed",
  "campaign.completed",
  "webhook.test"
]

const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const webhookId = /^whk_[0-7][0-9A-HJKMNP-TV-Z]{25}$/
const requestId = /^req_[0-7][0-9A-HJKMNP-TV-Z]{25}$/
const secret = /^whsec_[0-9A-Za-z]{40}$/

describe("setting the webhook", () => {
  it.live("setting the webhook returns its configuration, and the secret only when it is created", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const created = yield* put(server, { url })
      assert.strictEqual(created.status, 200, created.text)
      assert.strictEqual(created.headers.get("cache-control"), "no-store")
      const { createdAt, id, signingSecret } = created.body
      assert.match(id, webhookId)
      assert.match(createdAt, iso)
      assert.match(signingSecret, secret)
      assert.deepStrictEqual(created.body, {
        id,
        url,
        status: "active",
        envelope: "combined",
        eventTypes: everyType,
        createdAt,
        updatedAt: createdAt,
        signingSecret
      })

      const repeated = yield* put(server, { url })
      assert.strictEqual(repeated.status, 200, repeated.text)
      const { signingSecret: _, ...configuration } = created.body
      assert.deepStrictEqual(repeated.body, { ...configuration, updatedAt: repeated.body.updatedAt })
      assert.isAtLeast(Date.parse(repeated.body.updatedAt), Date.parse(createdAt))

      const shown = yield* get(server)
      assert.strictEqual(shown.status, 200)
      assert.notInclude(shown.text, signingSecret.slice("whsec_".length))
      assert.notInclude(repeated.text, signingSecret.slice("whsec_".length))
    }).pipe(Effect.scoped))

  it.live("setting the webhook replaces the whole configuration: omitted fields get their defaults", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const created = yield* put(server, { url, envelope: "a", eventTypes: ["message.read", "message.sent"] })
      assert.strictEqual(created.body.envelope, "a")
      assert.deepStrictEqual(created.body.eventTypes, ["message.read", "message.sent"])

      const moved = yield* put(server, { url: "https://example.com/other?x=1", eventTypes: ["message.failed"] })
      assert.strictEqual(moved.status, 200, moved.text)
      assert.deepStrictEqual(moved.body, {
        id: created.body.id,
        url: "https://example.com/other?x=1",
        status: "active",
        envelope: "combined",
        eventTypes: ["message.failed"],
        createdAt: created.body.createdAt,
        updatedAt: moved.body.updatedAt
      })

      const plain = yield* put(server, { url })
      assert.deepStrictEqual([plain.body.envelope, plain.body.eventTypes], ["combined", everyType])
      const b = yield* put(server, { url, envelope: "b" })
      assert.strictEqual(b.body.envelope, "b")
    }).pipe(Effect.scoped))

  it.live("many settings at once create one webhook and show one secret", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const answers = yield* Effect.all(Array.from({ length: 10 }, () => put(server, { url })), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(answers.map(({ status }) => status), Array.from({ length: 10 }, () => 200))
      assert.strictEqual(new Set(answers.map(({ body }) => body.id)).size, 1)
      assert.strictEqual(answers.filter(({ body }) => "signingSecret" in body).length, 1)
    }).pipe(Effect.scoped))
})

describe("reading the webhook", () => {
  it.live("reading the webhook returns configuration and health, and 404 before it is set", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const missing = yield* get(server)
      assert.strictEqual(missing.status, 404)
      assert.deepStrictEqual(missing.body, {
        error: {
          code: "not_found",
          message: "the workspace has no webhook",
          request_id: missing.headers.get("request-id"),
          doc_url: `${server.url}/docs/errors#not_found`
        }
      })
      assert.match(missing.body.error.request_id, requestId)

      const { signingSecret: _, ...configuration } = (yield* put(server, { url, envelope: "b" })).body
      const shown = yield* get(server)
      assert.strictEqual(shown.status, 200)
      assert.deepStrictEqual(shown.body, {
        ...configuration,
        failingSince: null,
        pausesAt: null,
        pausedAt: null,
        lastFailure: null,
        heldCount: 0,
        oldestHeldAt: null
      })
    }).pipe(Effect.scoped))
})

describe("removing the webhook", () => {
  it.live("removing the webhook returns 204, and the next webhook has a new secret", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      assert.strictEqual((yield* remove(server)).status, 404)
      const first = yield* put(server, { url, envelope: "a" })

      const removed = yield* remove(server)
      assert.deepStrictEqual([removed.status, removed.text], [204, ""])
      assert.strictEqual((yield* get(server)).status, 404)
      assert.strictEqual((yield* remove(server)).status, 404)

      const second = yield* put(server, { url })
      assert.match(second.body.signingSecret, secret)
      assert.notStrictEqual(second.body.signingSecret, first.body.signingSecret)
      assert.notStrictEqual(second.body.id, first.body.id)
      assert.strictEqual(second.body.envelope, "combined")
    }).pipe(Effect.scoped))
})

describe("an invalid body", () => {
  const cases: ReadonlyArray<readonly [name: string, body: unknown, reason: string, param: string | undefined]> = [
    ["no url", {}, "missing_field", "url"],
    ["a url that is no string", { url: 1 }, "invalid_field", "url"],
    ["an unknown field", { url, eventtypes: [] }, "unknown_field", "eventtypes"],
    ["a secret of one's own", { url, signingSecret: "whsec_x" }, "unknown_field", "signingSecret"],
    ["an unknown envelope", { url, envelope: "c" }, "invalid_field", "envelope"],
    ["an unknown event type", { url, eventTypes: ["message.sent", "message.lost"] }, "invalid_field", "eventTypes[1]"],
    ["event types that are no list", { url, eventTypes: "message.sent" }, "invalid_field", "eventTypes"],
    ["an event type twice", { url, eventTypes: ["message.sent", "message.sent"] }, "invalid_field", "eventTypes"],
    ["a body that is no object", [], "invalid_field", undefined],
    ["broken JSON", "{", "malformed_json", undefined]
  ]

  it.live("an invalid body is refused with the field's name, and changes nothing", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      for (const [name, body, reason, param] of cases) {
        const { body: { error }, status } = yield* put(server, body)
        assert.deepStrictEqual(
          [status, error.code, error.reason, error.param],
          [400, "invalid_body", reason, param],
          name
        )
      }
      assert.strictEqual((yield* get(server)).status, 404)
    }).pipe(Effect.scoped))
})

/** Each is 400 `invalid_body`, `param: "url"`. */
const assertRefused = Effect.fnUntraced(function*(server: Ready, urls: ReadonlyArray<string>) {
  for (const url of urls) {
    const { body, status, text } = yield* put(server, { url })
    const shown = url.slice(0, 80)
    assert.strictEqual(status, 400, `${shown}: ${text}`)
    assert.deepStrictEqual(
      [body.error.code, body.error.reason, body.error.param],
      ["invalid_body", "invalid_field", "url"],
      shown
    )
    assert.deepStrictEqual(Object.keys(body.error).sort(), [
      "code",
      "doc_url",
      "message",
      "param",
      "reason",
      "request_id"
    ])
  }
  assert.strictEqual((yield* get(server)).status, 404)
})

const ofLength = (length: number): string => "https://example.com/".padEnd(length, "a")

describe("a receiver's URL", () => {
  it.live("a receiver's URL must be https, without a user, and of limited length", () =>
    Effect.gen(function*() {
      const server = yield* ready(strict)
      yield* assertRefused(server, [
        "",
        "example.com/hook",
        "/hook",
        "https://",
        "https://exa mple.com/",
        "https://example.com:99999/",
        "http://example.com/hook",
        "HTTP://example.com/hook",
        "ftp://example.com/hook",
        "ws://example.com/hook",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/plain,hello",
        "https://user@example.com/hook",
        "https://user:password@example.com/hook",
        "https://:password@example.com/hook",
        ofLength(2049)
      ])
    }).pipe(Effect.scoped))

  it.live("a receiver's URL with a non-public address is refused, however the address is written", () =>
    Effect.gen(function*() {
      const server = yield* ready(strict)
      yield* assertRefused(
        server,
        [
          // loopback
          "127.0.0.1",
          "127.1",
          "127.255.255.254",
          "2130706433",
          "0x7f000001",
          "0x7f.1",
          "0177.0.0.1",
          "017700000001",
          "127.0.0.1.",
          "１２７.0.0.1",
          "[::1]",
          "[0:0:0:0:0:0:0:1]",
          "[::ffff:127.0.0.1]",
          "[::ffff:7f00:1]",
          "[::127.0.0.1]",
          "[64:ff9b::127.0.0.1]",
          "[2002:7f00:1::]",
          // unspecified
          "0.0.0.0",
          "0",
          "[::]",
          // private
          "10.0.0.1",
          "012.0.0.1",
          "167772161",
          "172.16.0.1",
          "172.31.255.255",
          "192.168.1.1",
          "3232235777",
          "100.64.0.1",
          "[fc00::1]",
          "[fd12:3456::1]",
          "[::ffff:10.0.0.1]",
          "[::ffff:c0a8:101]",
          // link-local and metadata
          "169.254.169.254",
          "2852039166",
          "0xa9fea9fe",
          "0251.0376.0251.0376",
          "[::ffff:169.254.169.254]",
          "[::ffff:a9fe:a9fe]",
          "[fe80::1]",
          "[fd00:ec2::254]",
          "168.63.129.16",
          "100.100.100.200",
          "metadata.google.internal",
          // what is no unicast, or no host on the internet
          "224.0.0.1",
          "255.255.255.255",
          "192.0.2.1",
          "198.18.0.1",
          "[ff02::1]",
          "[2001:db8::1]",
          // names of this machine and of private networks
          "localhost",
          "LOCALHOST",
          "localhost.",
          "a.localhost",
          "printer.local",
          "api.internal"
        ].flatMap((host) => [`https://${host}/hook`, `https://${host}:8443/hook`])
      )
    }).pipe(Effect.scoped))

  it.live("a public URL of up to 2048 characters is accepted, even if its name does not resolve yet", () =>
    Effect.gen(function*() {
      const server = yield* ready(strict)
      for (
        const url of [
          "https://93.184.216.34/hook",
          "https://[2606:4700::1111]:8443/hook?a=%20b",
          ofLength(2048),
          "https://no-such-name.invalid/hook"
        ]
      ) {
        const answer = yield* put(server, { url })
        assert.deepStrictEqual([answer.status, answer.body.url], [200, url], answer.text)
        assert.strictEqual((yield* get(server)).body.url, url)
      }
    }).pipe(Effect.scoped))

  it.live("a refused URL leaves the current URL in force", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const created = yield* put(server, { url })
      assert.strictEqual((yield* put(server, { url: "https://10.0.0.1/", envelope: "b" })).status, 400)
      const { envelope, updatedAt, url: present } = (yield* get(server)).body
      assert.deepStrictEqual([present, envelope, updatedAt], [url, "combined", created.body.updatedAt])
    }).pipe(Effect.scoped))

  it.live("a non-public URL is accepted only if the operator allows it", () =>
    Effect.gen(function*() {
      const ranged = yield* ready({ environment: { WEBHOOK_ALLOW_INSECURE: "", WEBHOOK_ALLOW_CIDRS: "10.1.0.0/16" } })
      yield* assertRefused(ranged, [
        "http://10.1.2.3/",
        "https://10.2.0.1/",
        "https://127.0.0.1/",
        "https://localhost/",
        "https://169.254.169.254/"
      ])
      for (const url of ["https://10.1.2.3/", "https://[::ffff:10.1.2.3]/"]) {
        assert.strictEqual((yield* put(ranged, { url })).status, 200, url)
      }
      const insecure = yield* ready({ environment: { WEBHOOK_ALLOW_CIDRS: "" } })
      yield* assertRefused(insecure, ["http://127.0.0.1/", "http://localhost/", "ftp://93.184.216.34/"])
      assert.strictEqual((yield* put(insecure, { url: "http://93.184.216.34/" })).status, 200)
      // even a range that holds them does not open metadata addresses
      const open = yield* ready({ environment: { WEBHOOK_ALLOW_CIDRS: "0.0.0.0/0,::/0" } })
      yield* assertRefused(open, [
        "http://169.254.169.254/",
        "http://[::ffff:169.254.169.254]/",
        "http://[fd00:ec2::254]/"
      ])
      assert.strictEqual((yield* put(open, { url: "http://192.168.0.1/" })).status, 200)
    }).pipe(Effect.scoped))
})
