/**
 * The dashboard's client: its session, and what it makes again.
 */
import { assert, describe, it } from "vitest"
import { createInternalClient, type InternalClientOptions, WacError } from "../src/internal.ts"

interface Seen {
  readonly route: string
  readonly headers: Headers
  readonly body: string | undefined
}

/** A client of a service that gives these answers in turn, the last of them again and again. */
const clientOf = (answers: ReadonlyArray<() => Response>, options: Partial<InternalClientOptions> = {}) => {
  const seen: Array<Seen> = []
  const client = createInternalClient({
    baseUrl: "https://wac.example.com/team",
    clock: { now: () => 0, random: () => 0, sleep: async () => {} },
    fetch: async (input, init) => {
      seen.push({
        route: `${init!.method} ${new URL(`${input as URL}`).pathname}`,
        headers: new Headers(init!.headers),
        body: init!.body as string | undefined
      })
      return answers[Math.min(seen.length, answers.length) - 1]!()
    },
    ...options
  })
  return { client, seen }
}

const session = {
  userId: "usr_1",
  email: "ana@shop.example",
  role: "owner",
  workspaceId: "ws_1",
  workspaceName: "Shop"
}
const signedIn = (value: string) => () =>
  Response.json(session, {
    headers: [["set-cookie", "other=1; Path=/"], [
      "set-cookie",
      `__Host-wac_session=${value}; Path=/; HttpOnly; Secure`
    ]]
  })
const failing = (status: number, reason: string) => () =>
  Response.json({ error: { code: "server_error", reason, message: "in words", request_id: "req_1" } }, { status })
const broken = () => {
  throw new TypeError("broken")
}

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(() => assert.fail("it did not fail"), (error: unknown) => error)

describe("a session", () => {
  it("a session lasts from sign-in to sign-out, and its requests come from the service's own pages", async () => {
    const { client, seen } = clientOf([
      signedIn("first"),
      () => Response.json(session),
      signedIn("second"),
      () => new Response(null, { status: 204, headers: { "set-cookie": "__Host-wac_session=; Max-Age=0; Path=/" } }),
      () => Response.json({ data: [], hasMore: false, nextCursor: null })
    ])
    assert.deepEqual(await client.session.signIn({ email: "ana@shop.example", password: "x" }), session as never)
    await client.session.get()
    await client.session.signIn({ email: "ben@shop.example", password: "y" })
    assert.strictEqual(await client.session.signOut(), undefined)
    await client.apiKeys.list().toArray()
    assert.deepEqual(seen.map(({ headers, route }) => [route, headers.get("cookie")]), [
      ["POST /team/internal/session", null],
      ["GET /team/internal/session", "__Host-wac_session=first"],
      ["POST /team/internal/session", "__Host-wac_session=first"],
      ["DELETE /team/internal/session", "__Host-wac_session=second"],
      ["GET /team/internal/api-keys", null]
    ])
    for (const { headers } of seen) assert.strictEqual(headers.get("sec-fetch-site"), "same-origin")
  })

  it("an existing session can be used", async () => {
    const { client, seen } = clientOf([() => Response.json(session)], { cookie: "wac_session=given" })
    await client.session.get()
    assert.strictEqual(seen[0]!.headers.get("cookie"), "wac_session=given")
  })

  it("calls name the session that the program shows, and the question which one the cookie has does not", async () => {
    let shown: { readonly workspaceId: string; readonly userId: string } | undefined
    const { client, seen } = clientOf([() => Response.json({ data: [], hasMore: false, nextCursor: null })], {
      shown: () => shown
    })
    await client.apiKeys.list().toArray()
    shown = { workspaceId: "ws_1", userId: "usr_1" }
    await client.apiKeys.list().toArray()
    await client.session.get()
    await client.session.signOut()
    // of a host
    shown = { workspaceId: "ws_2", userId: "張 偉" }
    await client.account.sessions()
    assert.deepEqual(seen.map(({ headers, route }) => [route, headers.get("wac-session")]), [
      ["GET /team/internal/api-keys", null],
      ["GET /team/internal/api-keys", "ws_1 usr_1"],
      ["GET /team/internal/session", null],
      ["DELETE /team/internal/session", "ws_1 usr_1"],
      ["GET /team/internal/sessions", "ws_2 %E5%BC%B5%20%E5%81%89"]
    ])
  })

  it("hooks never see the session, even if they keep the headers", async () => {
    const kept: Array<Headers> = []
    const told: Array<string> = []
    const { client, seen } = clientOf([() => Response.json(session)], {
      cookie: "wac_session=given",
      hooks: {
        onRequest: ({ headers }) => {
          kept.push(headers)
          told.push(JSON.stringify([...headers]))
        }
      }
    })
    await client.session.get()
    assert.notInclude(told.join(), "given")
    assert.deepStrictEqual(kept.map((headers) => headers.get("cookie")), [null])
    assert.strictEqual(seen[0]!.headers.get("cookie"), "wac_session=given")
  })
})

describe("retries", () => {
  it("idempotent requests are retried; a key's creation and a send under one Idempotency-Key", async () => {
    const { client, seen } = clientOf([broken, failing(500, "internal"), () => Response.json({ id: "key_1" })])
    await client.apiKeys.create({ name: "x" })
    assert.strictEqual(new Set(seen.map(({ headers }) => headers.get("idempotency-key"))).size, 1)
    assert.strictEqual(seen.length, 3)
    const sending = clientOf([broken, failing(500, "internal"), () => Response.json({ messageId: "msg_1" })])
    await sending.client.messages.send({ to: "+15551234567", type: "text", text: { body: "x" } })
    assert.strictEqual(new Set(sending.seen.map(({ headers }) => headers.get("idempotency-key"))).size, 1)
    assert.strictEqual(sending.seen.length, 3)
    for (const call of ["get", "remove", "pause"] as const) {
      const { client, seen } = clientOf([broken, () => Response.json({})])
      await client.webhook[call]()
      assert.strictEqual(seen.length, 2, call)
    }
  })

  it("a change is retried under the Idempotency-Key that keeps it from being made twice", async () => {
    const calls: ReadonlyArray<(client: ReturnType<typeof clientOf>["client"]) => Promise<unknown>> = [
      (client) => client.webhook.rotateSecret(),
      (client) => client.webhook.test(),
      (client) => client.webhook.resume({ replay: "none" }),
      (client) => client.deliveries.retry("dlv_1"),
      (client) => client.replays.create({ since: "2026-01-02" })
    ]
    for (const call of calls) {
      const { client, seen } = clientOf([broken, failing(500, "internal"), () => Response.json({})])
      await call(client)
      const keys = seen.map(({ headers }) => headers.get("idempotency-key"))
      assert.deepStrictEqual(keys, Array.from({ length: 3 }, () => keys[0]!), `${call}`)
      assert.isNotNull(keys[0], `${call}`)
    }
  })

  it("one-time requests are never retried, unless the service refused them as too fast", async () => {
    const calls: ReadonlyArray<(client: ReturnType<typeof clientOf>["client"]) => Promise<unknown>> = [
      (client) => client.session.signIn({ email: "ana@shop.example", password: "x" }),
      (client) => client.session.setUp({ token: "t", email: "ana@shop.example", password: "x", workspaceName: "Shop" }),
      // a code of an authenticator app counts once
      (client) => client.account.confirmSession({ code: "123456" }),
      // a repetition would void the codes of a response that was lost
      (client) => client.account.renewRecoveryCodes(),
      (client) => client.templates.create({ name: "hi", language: "en_US", category: "utility", components: [] })
    ]
    for (const call of calls) {
      for (const answer of [broken, failing(500, "internal"), failing(503, "storage_unavailable")]) {
        const { client, seen } = clientOf([answer])
        await failure(call(client))
        assert.strictEqual(seen.length, 1, `${call}`)
      }
      const { client, seen } = clientOf([failing(429, "login"), () => Response.json({})])
      await call(client)
      assert.strictEqual(seen.length, 2, `${call}`)
    }
  })
})

describe("a client", () => {
  it("a required body defaults to an empty object", async () => {
    const { client, seen } = clientOf([() => Response.json({})])
    await client.webhook.rotateSecret()
    assert.strictEqual(seen[0]!.body, "{}")
  })

  it("a call fails with the service's error", async () => {
    const { client } = clientOf([failing(404, "x")])
    assert.instanceOf(await failure(client.webhook.get()), WacError)
  })

  it.each(["wac.example.com", "localhost:8080", "ftp://wac.example.com"])(
    "no internal client is made of %j",
    (baseUrl) => {
      assert.throws(() => createInternalClient({ baseUrl }), WacError, /baseUrl must be/)
    }
  )
})
