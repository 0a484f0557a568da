/**
 * The audit (contract §12): who did what to which, when and from where.
 */
import { assert, it } from "@effect/vitest"
import { WebhookStore } from "@wac/core"
import { Clock, Context, Deferred, Effect, Fiber } from "effect"
import * as checks from "../checks.ts"
import { type Answer, call, createKey, hello, noticed, ownPage, ready } from "../harness.ts"
import { tokenIn } from "../people/mailbox.ts"

type Entry = { readonly action: string; readonly target: string | null; readonly [field: string]: unknown }

const list = (url: string, headers: { readonly [name: string]: string }, query = "") =>
  Effect.map(call(`${url}/internal/audit${query}`, { headers }), ({ body }) => body.data as ReadonlyArray<Entry>)

it.live("the audit lists each person's changes with resource, time and address, and contains no secret", () =>
  Effect.gen(function*() {
    const { key, session, url } = yield* ready({ environment: checks.unlimited })
    const { userId } = (yield* call(`${url}/internal/session`, { headers: session })).body
    const revoked = yield* createKey(url, session, { name: "old one" })
    const { requestId } = yield* Effect.map(
      call(`${url}/internal/api-keys/${revoked.id}`, { method: "DELETE", headers: session }),
      ({ headers }) => ({ requestId: headers.get("request-id") })
    )
    const webhook = yield* call(`${url}/internal/webhook`, {
      method: "PUT",
      headers: session,
      body: { url: "http://127.0.0.1:9/hook?token=hidden" }
    })
    const invited = yield* call(`${url}/internal/members`, {
      headers: session,
      body: { email: "ben@example.com", role: "developer" }
    })
    const password = "a horse of another colour"
    yield* call(`${url}/internal/invitations/accept`, {
      headers: ownPage,
      body: { token: tokenIn(invited.body.inviteUrl), password }
    })
    const sent = yield* call(`${url}/internal/messages`, {
      headers: { ...session, "idempotency-key": "x" },
      body: hello()
    })
    const entries = yield* list(url, session)
    assert.deepStrictEqual(entries.map(({ action, target }) => [action, target]), [
      ["message.send", sent.body.messageId],
      ["member.join", null],
      ["member.invite", invited.body.id],
      ["webhook.set", null],
      ["api_key.revoke", revoked.id],
      ["api_key.create", revoked.id],
      ["api_key.create", key.id],
      ["session.sign_in", null]
    ])
    const { at, id, ...entry } = entries[4]!
    assert.match(String(id), checks.idShape("aud"))
    assert.match(String(at), checks.timeShape)
    assert.deepStrictEqual(entry, {
      action: "api_key.revoke",
      target: revoked.id,
      by: { userId, email: "owner@example.com" },
      address: "127.0.0.1",
      requestId,
      detail: null
    })
    assert.deepStrictEqual(entries[2]!["detail"], { email: "ben@example.com", role: "developer" })
    const text = JSON.stringify(entries)
    for (
      const secret of [
        key.apiKey,
        key.signingSecret,
        webhook.body.signingSecret,
        tokenIn(invited.body.inviteUrl),
        password,
        "hidden"
      ]
    ) assert.notInclude(text, secret)
    const [mine] = yield* list(url, session, `?target=${revoked.id}&userId=${userId}`)
    assert.strictEqual(mine!.action, "api_key.revoke")
  }).pipe(Effect.scoped))

it.live("a change is in the audit even if the person hangs up once it is stored", () =>
  Effect.gen(function*() {
    const { services, session, url } = yield* ready({ environment: checks.unlimited })
    const [stored, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const store = Context.get(services, WebhookStore.WebhookStore)
    const { put } = store
    Object.assign(store, {
      put: (candidate: Parameters<typeof put>[0]) =>
        Effect.tap(put(candidate), () => Effect.andThen(Deferred.succeed(stored, undefined), Deferred.await(released)))
    })
    const caller = yield* Effect.forkChild(call(`${url}/internal/webhook`, {
      method: "PUT",
      headers: session,
      body: { url: "http://127.0.0.1:9/hook" }
    }))
    yield* Deferred.await(stored)
    // interrupting the fetch closes its connection
    yield* Fiber.interrupt(caller)
    yield* noticed(url)
    yield* Deferred.succeed(released, undefined)
    const [entry] = yield* checks.until(list(url, session), ([latest]) => latest?.action === "webhook.set")
    assert.deepInclude(entry, { address: "127.0.0.1", target: null })
  }).pipe(Effect.scoped))

it.live("the audit omits refused, failed and replayed requests, except sign-ins, and requests that only read", () =>
  Effect.gen(function*() {
    const { session, url } = yield* ready({ environment: checks.unlimited })
    const count = Effect.map(
      list(url, session),
      (entries) => entries.filter(({ action }) => action !== "session.refuse").length
    )
    const before = yield* count
    const create = (body: unknown): Effect.Effect<Answer> =>
      call(`${url}/internal/api-keys`, { headers: { ...session, "idempotency-key": "same" }, body })
    assert.strictEqual((yield* create({})).status, 400)
    assert.strictEqual((yield* create({ name: "x" })).status, 201)
    assert.strictEqual((yield* create({ name: "x" })).status, 201)
    yield* call(`${url}/internal/api-keys/key_${checks.nobody}`, { method: "DELETE", headers: session })
    yield* call(`${url}/internal/webhook/pause`, { method: "POST", headers: session })
    yield* call(`${url}/internal/session`, {
      headers: ownPage,
      body: { email: "owner@example.com", password: "wrong" }
    })
    yield* call(`${url}/internal/api-keys`, { headers: session })
    assert.strictEqual(yield* count, before + 1)
  }).pipe(Effect.scoped))

it.live("a message whose outcome is unknown is in the audit once, however often its request is repeated", () =>
  Effect.gen(function*() {
    const { session, url } = yield* ready({ environment: checks.unlimited })
    const send = call(`${url}/internal/messages`, {
      headers: { ...session, "idempotency-key": "unknown" },
      body: hello("+15005550006")
    })
    const unknown = { code: "server_error", reason: "outcome_unknown" }
    const both = yield* Effect.all([send, send], { concurrency: "unbounded" })
    for (const answer of both) checks.assertError(answer, 504, unknown)
    const { body } = yield* call(`${url}/internal/messages`, { headers: session })
    const [{ id: messageId }] = body.data
    yield* checks.until(send, ({ status }) => status === 200)
    yield* send
    const sent = (yield* list(url, session)).filter(({ action }) => action === "message.send")
    assert.deepStrictEqual(sent.map(({ detail, target }) => [target, detail]), [[messageId, { outcome: "unknown" }]])
    assert.include(both.map(({ headers }) => headers.get("request-id")), sent[0]!["requestId"])
  }).pipe(Effect.scoped))

it.live("a list of opt-outs that is refused midway is in the audit with the customers whom it opted out", () =>
  Effect.gen(function*() {
    const { session, url } = yield* ready({ environment: checks.unlimited })
    const put = (lines: ReadonlyArray<string>) =>
      Effect.promise(async () =>
        (await fetch(`${url}/internal/suppressions`, {
          method: "PUT",
          headers: { ...session, "content-type": "application/x-ndjson" },
          body: lines.join("\n")
        })).status
      )
    const bad = Array.from({ length: 10_001 }, () => "[]")
    assert.strictEqual(yield* put(bad), 400)
    assert.notInclude((yield* list(url, session)).map(({ action }) => action), "contact.import_opt_outs")
    assert.strictEqual(yield* put(["\"+15551239001\"", "\"+15551239002\"", ...bad]), 400)
    const [entry] = yield* list(url, session)
    assert.deepInclude(entry, {
      action: "contact.import_opt_outs",
      target: null,
      detail: { added: "2", already: "0", refused: "10001", outcome: "incomplete" }
    })
  }).pipe(Effect.scoped))

it.live("the audit and the list of requests say how far back RETENTION lets them reach", () =>
  Effect.gen(function*() {
    const { session, url } = yield* ready({
      environment: { ...checks.unlimited, RETENTION: "{\"audit\":90,\"requests\":30}" }
    })
    const now = yield* Clock.currentTimeMillis
    const day = 24 * 60 * 60 * 1000
    for (const [path, days] of [["audit", 90], ["requests", 30]] as const) {
      const { body } = yield* call(`${url}/internal/${path}`, { headers: session })
      assert.strictEqual(Math.round((now - Date.parse(body.since)) / day), days)
    }
  }).pipe(Effect.scoped))

it.live("only admins and owners can read the audit", () =>
  Effect.gen(function*() {
    const { session, url } = yield* ready({ environment: checks.unlimited })
    const invited = yield* call(`${url}/internal/members`, {
      headers: session,
      body: { email: "ben@example.com", role: "developer" }
    })
    const accepted = yield* call(`${url}/internal/invitations/accept`, {
      headers: ownPage,
      body: { token: tokenIn(invited.body.inviteUrl), password: "a horse of another colour" }
    })
    const cookie = accepted.headers.getSetCookie()[0]!.split(";")[0]!
    checks.assertError(yield* call(`${url}/internal/audit`, { headers: { ...ownPage, cookie } }), 403, {
      code: "forbidden",
      reason: "role_not_allowed"
    })
  }).pipe(Effect.scoped))
