/**
 * The values of requests, while an owner has switched them on (contract §17): where they are, and where they are not.
 */
import { assert, describe, it } from "@effect/vitest"
import { Customers } from "@wac/core"
import { Context, Effect } from "effect"
import * as checks from "../checks.ts"
import { type Answer, call, hello, ready, send, signIn } from "../harness.ts"
import { everything, written } from "../keys/everything.ts"
import { logged } from "../logged.ts"
import { moving } from "../movable.ts"
import { join } from "../people/joining.ts"
import { freshDatabase, masterKey, postgres, withKey } from "../processes.ts"

type Server = Pick<checks.Ready, "key" | "session" | "url">

/** How long a process may believe what it knows of a key's workspace. */
const believed = "2 seconds"

const settings = ({ session, url }: Omit<Server, "key">, body?: { readonly on: boolean }) =>
  call(`${url}/internal/settings/request-values`, {
    headers: session,
    ...(body === undefined ? {} : { method: "PUT", body })
  })

const idOf = ({ headers }: Answer) => headers.get("request-id")!

const detail = ({ session, url }: Omit<Server, "key">, of: Answer) =>
  call(`${url}/internal/requests/${idOf(of)}`, { headers: session })

const values = ({ session, url }: Omit<Server, "key">, of: Answer) =>
  call(`${url}/internal/requests/${idOf(of)}/values`, { headers: session })

/** Once the request is recorded, and with it what is kept of its values: both are written about a second later. */
const recorded = (server: Server, of: Answer, isKept: boolean) =>
  checks.until(detail(server, of), ({ body, status }) => status === 200 && (body.valuesUntil !== null) === isKept)

const refused = (server: Server, text: string) =>
  send(server, { to: "+15551234567", type: "text", text: { body: text }, client_reference: "order-77" })

const asJson = (text: string) => JSON.stringify(text).slice(1, -1)

const readings = [
  "/internal/requests",
  "/internal/requests?limit=100&refused=true",
  "/internal/audit",
  "/internal/messages",
  "/internal/events",
  "/internal/usage",
  "/metrics",
  "/status"
]

describe.concurrent("the values of requests", () => {
  it.live("they are off at first, and then no request keeps a value", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      assert.deepStrictEqual((yield* settings(server)).body, { on: false, until: null })
      const answer = yield* refused(server, "secret words")
      yield* recorded(server, answer, false)
      checks.assertError(yield* values(server, answer), 404, { code: "not_found" })
    }).pipe(Effect.scoped))

  it.live("an owner switches them on for a day; each look and each change is in the audit, with who it was", () =>
    Effect.gen(function*() {
      const server = yield* moving(ready({ environment: checks.unlimited }))
      const { pass } = server
      const on = yield* settings(server, { on: true })
      assert.strictEqual(on.status, 200, on.text)
      assert.isTrue(on.body.on)
      assert.closeTo(Date.parse(on.body.until) - server.clock.currentTimeMillisUnsafe(), 86_400_000, 60_000)
      assert.deepStrictEqual((yield* settings(server)).body, on.body)
      yield* pass(believed)
      const answer = yield* refused(server, `Hello ${"x ".repeat(200)}`)
      const { body: shown } = yield* recorded(server, answer, true)
      assert.strictEqual(Date.parse(shown.valuesUntil) - Date.parse(shown.at) <= 86_400_000, true)
      const seen = yield* values(server, answer)
      assert.deepStrictEqual(seen.body, {
        data: [
          { path: "to", value: "+15551234567", redacted: false, cut: false },
          { path: "type", value: "text", redacted: false, cut: false },
          { path: "text.body", value: `Hello ${"x ".repeat(125)}`, redacted: false, cut: true },
          { path: "client_reference", value: "order-77", redacted: false, cut: false }
        ],
        omitted: 0
      })
      const off = yield* settings(server, { on: false })
      assert.deepStrictEqual(off.body, { on: false, until: null })
      checks.assertError(yield* values(server, answer), 404, { code: "not_found" })
      assert.isNull((yield* detail(server, answer)).body.valuesUntil)

      const { body: audit } = yield* call(`${server.url}/internal/audit`, { headers: server.session })
      const entries = audit.data.filter(({ action }: { readonly action: string }) => action.startsWith("request"))
      assert.deepStrictEqual(
        entries.map(({ action, by, detail, target }: Answer["body"]) => [action, by.email, target, detail]),
        [
          ["request_values.change", "owner@example.com", null, { on: "no" }],
          ["request.see_values", "owner@example.com", idOf(answer), null],
          ["request_values.change", "owner@example.com", null, { on: "yes", until: on.body.until }]
        ]
      )
    }).pipe(Effect.scoped))

  it.live("they end by themselves: the switch a day after it was turned on, and each request's a day after it came", () =>
    Effect.gen(function*() {
      const server = yield* moving(ready({ environment: checks.unlimited }))
      const { key, pass, url } = server
      // a session ends sooner than that
      const anew = Effect.map(signIn(url), (session) => ({ key, session, url }))
      yield* settings(server, { on: true })
      yield* pass("23 hours")
      const late = yield* refused(server, "late")
      const dayLater = yield* anew
      yield* recorded(dayLater, late, true)
      yield* pass("1 hour")
      yield* pass(believed)
      assert.deepStrictEqual((yield* settings(dayLater)).body, { on: false, until: null })
      const after = yield* refused(server, "after")
      yield* recorded(dayLater, after, false)
      assert.strictEqual((yield* values(dayLater, late)).status, 200)
      yield* pass("23 hours")
      const last = yield* anew
      checks.assertError(yield* values(last, late), 404, { code: "not_found" })
      assert.isNull((yield* detail(last, late)).body.valuesUntil)
    }).pipe(Effect.scoped))

  it.live("only owners switch them, and admins see them; a developer sees that they are on", () =>
    Effect.gen(function*() {
      const server = yield* moving(ready({ environment: checks.unlimited }))
      const { url } = server
      const as = Effect.fnUntraced(function*(role: string) {
        const { headers } = yield* join(url, server.session, `${role}@example.com`, role)
        return { url, session: headers }
      })
      const [admin, developer] = [yield* as("admin"), yield* as("developer")]
      for (const other of [admin, developer]) {
        checks.assertError(yield* settings(other, { on: true }), 403, { code: "forbidden", reason: "role_not_allowed" })
      }
      yield* settings(server, { on: true })
      yield* server.pass(believed)
      const answer = yield* refused(server, "hello")
      yield* recorded(server, answer, true)
      assert.isTrue((yield* settings(developer)).body.on)
      assert.strictEqual((yield* values(admin, answer)).status, 200)
      checks.assertError(yield* values(developer, answer), 403, { code: "forbidden", reason: "role_not_allowed" })
    }).pipe(Effect.scoped))

  it.live("a value is in no list, message, metric, log or error, nor in plain text in the database; codes and secrets are nowhere", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const database = yield* Effect.flatMap(postgres, freshDatabase)
        const server = yield* moving(ready({
          environment: { ...checks.unlimited, DATABASE_URL: database, WAC_MASTER_KEY: masterKey(), LOG_LEVEL: "debug" }
        }))
        yield* settings(server, { on: true })
        yield* server.pass(believed)
        const marker = "zanzibar marmalade"
        const token = server.key.apiKey
        const answer = yield* refused(server, `${marker}, ${token}`)
        assert.strictEqual(answer.status, 403)
        // a template of authentication, and one that is not known
        const codes = yield* Effect.forEach(["login_code", "no_such_template"], (name) =>
          send(server, {
            ...hello(),
            template: { name, language: "en_US", bodyParams: ["kq7w3x"], buttons: [{ index: 0, urlSuffix: "kq7w3x" }] }
          }))
        for (const one of [answer, ...codes]) yield* recorded(server, one, true)
        const seen = yield* values(server, answer)
        assert.include(seen.text, marker)
        assert.notInclude(seen.text, token)
        for (const one of codes) {
          const { text } = yield* values(server, one)
          assert.include(text, "template.bodyParams[0]")
          assert.notInclude(text, "kq7w3x")
        }

        const texts = yield* Effect.forEach(
          [...readings, `/internal/requests/${idOf(answer)}`],
          (path) => Effect.map(call(`${server.url}${path}`, { headers: server.session }), ({ text }) => text)
        )
        const api = yield* Effect.forEach(
          [`/v1/messages/msg_${checks.nobody}`, "/v1/templates"],
          (path) => call(`${server.url}${path}`, { headers: { authorization: `Bearer ${token}` } })
        )
        const rows = yield* everything(database)
        assert.include(rows, idOf(answer))
        for (const place of [...texts, ...api.map(({ text }) => text), answer.text, lines().join("\n"), rows]) {
          for (const text of [marker, asJson(marker), ...written(marker)]) assert.notInclude(place, text)
        }
        for (const text of written("kq7w3x")) assert.notInclude(rows, text)
        assert.isAbove(lines().length, 0)
      }).pipe(Effect.scoped, Effect.orDie)
    ))

  it.live("whoever erases a customer removes every value that the workspace has kept", () =>
    Effect.gen(function*() {
      const server = yield* moving(ready({ environment: checks.unlimited }))
      yield* settings(server, { on: true })
      yield* server.pass(believed)
      const answer = yield* refused(server, "hello")
      yield* recorded(server, answer, true)
      const workspaceId = yield* checks.workspaceOf(server)
      yield* Effect.orDie(Context.get(server.services, Customers.Customers).erase(workspaceId, "+15551234567"))
      checks.assertError(yield* values(server, answer), 404, { code: "not_found" })
      assert.isTrue((yield* settings(server)).body.on)
      yield* server.pass(believed)
      const next = yield* send(server, hello(), withKey("next"))
      yield* recorded(server, next, true)
    }).pipe(Effect.scoped))
})
