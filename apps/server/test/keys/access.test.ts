/**
 * Who may call what, walked over from the API definition, so that a new route cannot be forgotten; and that no
 * workspace reaches into another.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Access, Api, EndpointAnnotations } from "@wac/api"
import { ApiScope, Id, Member, SessionStore, Time } from "@wac/core"
import { Context, Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import * as checks from "../checks.ts"
import { actorHeader, type Answer, call, hello, hostAuthenticator, ownPage, ready, send, start } from "../harness.ts"
import { type Movable, still } from "../movable.ts"
import * as Things from "./things.ts"

interface Route {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly access: Access.Access | undefined
  readonly isOpenToPortal: boolean
  readonly takesBody: boolean
  /** The type of the file that it takes. */
  readonly fileType: string | undefined
}

const routes: ReadonlyArray<Route> = Object.values(Api.groups).flatMap((group) =>
  Object.values(group.endpoints).map(({ annotations, method, path, payload }) => ({
    name: `${method} ${path}`,
    method,
    path,
    access: Context.getOrUndefined(annotations, Access.Access),
    isOpenToPortal: Context.get(annotations, Access.OpenToPortal),
    takesBody: payload.size > 0,
    fileType: Context.get(annotations, EndpointAnnotations.TakesFile)[0]
  }))
)

/** What a route says of itself, in a word. */
const wordOf = ({ access, isOpenToPortal }: Route): string =>
  access === undefined
    ? "nothing"
    : access._tag === "Public"
    ? "anybody"
    : access._tag === "ApiKey"
    ? `key: ${access.scope}`
    : `session: ${access.role}${isOpenToPortal ? ", portal" : ""}`

const dashboard = routes.filter(({ access }) => access?._tag === "Session")
const ofKeys = routes.filter(({ access }) => access?._tag === "ApiKey")
const open = routes.filter(({ access }) => access?._tag === "Public")

/** What a route needs before it looks for the thing with the id. */
const bodies: { readonly [route: string]: unknown } = {
  "PATCH /internal/members/:id": { role: "member" },
  "PATCH /internal/templates/:id": { category: "utility" }
}

/** The most general request to a route: an id that nobody has, an empty body. It can only fail for who asks. */
/** The required input of a route. */
const queries: { readonly [path: string]: string } = { "/internal/customers": "?number=1500" }

const ask = (
  url: string,
  { fileType, method, path, takesBody }: Pick<Route, "method" | "path" | "takesBody" | "fileType">,
  headers: { readonly [name: string]: string } = {},
  id: string = checks.nobody
): Effect.Effect<Answer> =>
  call(url + path.replace(/:\w+/g, id) + (queries[path] ?? ""), {
    method,
    headers: {
      "idempotency-key": crypto.randomUUID(),
      ...(fileType === undefined ? {} : { "content-type": `${fileType}; boundary=b` }),
      ...headers
    },
    ...(fileType !== undefined ? { body: "" } : takesBody ? { body: bodies[`${method} ${path}`] ?? {} } : {})
  })

/** That the caller was let in: whatever became of the request, it was not for who asked. */
const assertLetIn = (answer: Answer, name: string): void => {
  assert.notInclude([401, 403, 405, 500], answer.status, `${name}: ${answer.text}`)
}

const missingSession = { code: "unauthorized", reason: "missing_session" }

/** A server whose sessions are those of an embedding application, with two workspaces, and every kind of API key. */
class Hosted extends Context.Service<Hosted, {
  readonly url: string
  readonly pass: Movable["pass"]
  readonly services: checks.Ready["services"]
  readonly ours: Effect.Success<ReturnType<typeof checks.anotherWorkspace>>
  readonly theirs: Effect.Success<ReturnType<typeof checks.anotherWorkspace>>
  readonly deadKeys: { readonly [reason: string]: string }
}>()("@wac/server/test/keys/access.test/Hosted") {
  static readonly layer = Layer.effect(
    Hosted,
    Effect.gen(function*() {
      // whatever may be read shows the same until something changes it, however long these tests take
      const { clock, pass, services, url } = yield* still(start({
        environment: checks.unlimited,
        adapters: { authenticator: hostAuthenticator }
      }))
      const workspace = (name: string, number: string) =>
        checks.anotherWorkspace(name, number).pipe(Effect.provideContext(services))
      const ours = yield* workspace("ours", "+15005550101")
      const theirs = yield* workspace("theirs", "+15005550102")
      const session = actor("owner", ours.id)
      const made = (body: unknown) =>
        Effect.map(
          call(`${url}/internal/api-keys`, { headers: { ...session, "idempotency-key": crypto.randomUUID() }, body }),
          ({ body }) => body as { readonly id: string; readonly apiKey: string }
        )
      const revoked = yield* made({ name: "revoked" })
      yield* call(`${url}/internal/api-keys/${revoked.id}`, { method: "DELETE", headers: session })
      const expiresAt = Time.iso(clock.currentTimeMillisUnsafe() + 60_000)
      const expired = yield* made({ name: "expired", expiresAt })
      yield* pass("1 minute")
      const deadKeys = { revoked_key: revoked.apiKey, expired_key: expired.apiKey }
      return { url, pass, services, ours, theirs, deadKeys }
    })
  )
}

/** The headers of somebody with this role, on our own pages. */
const actor = (role: string, workspaceId: string) => ({ ...ownPage, [actorHeader]: `${role}@${workspaceId}` })

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe("the API definition", () => {
  it("every route of the API definition declares its access", () => {
    assert.deepStrictEqual(routes.filter(({ access }) => access === undefined), [])
    // whoever adds a route says here what it is meant to be
    assert.deepStrictEqual(Object.fromEntries(routes.map((route) => [route.name, wordOf(route)])), {
      "POST /v1/messages": "key: messages:send",
      "GET /v1/messages": "key: messages:read",
      "POST /v1/messages/batch": "key: messages:send",
      "POST /v1/messages/:id/read": "key: messages:send",
      "DELETE /v1/messages/:id": "key: messages:send",
      "GET /v1/messages/:id": "key: messages:read",
      "POST /internal/messages": "session: developer",
      "GET /internal/messages": "session: member",
      "GET /internal/contacts/:id/messages": "session: member",
      "GET /internal/messages/:id": "session: member",
      "DELETE /internal/messages/:id": "session: developer",
      "GET /internal/queue": "session: member",
      "POST /internal/queue/release": "session: admin",
      "POST /v1/campaigns": "key: campaigns:write",
      "GET /v1/campaigns": "key: campaigns:write",
      "GET /v1/campaigns/:id": "key: campaigns:write",
      "PATCH /v1/campaigns/:id": "key: campaigns:write",
      "DELETE /v1/campaigns/:id": "key: campaigns:write",
      "PUT /v1/campaigns/:id/recipients": "key: campaigns:write",
      "GET /v1/campaigns/:id/recipients": "key: campaigns:write",
      "POST /v1/campaigns/:id/check": "key: campaigns:write",
      "POST /v1/campaigns/:id/start": "key: campaigns:write",
      "POST /v1/campaigns/:id/pause": "key: campaigns:write",
      "POST /v1/campaigns/:id/resume": "key: campaigns:write",
      "POST /v1/campaigns/:id/cancel": "key: campaigns:write",
      "PUT /v1/contacts/:name/opt-out": "key: contacts:write",
      "DELETE /v1/contacts/:name/opt-out": "key: contacts:write",
      "POST /v1/media": "key: media:write",
      "GET /v1/media/:id": "key: messages:read",
      "DELETE /v1/media/:id": "key: media:write",
      "GET /v1/templates": "key: messages:send",
      "GET /internal/templates": "session: member",
      "POST /internal/templates": "session: developer",
      "GET /internal/templates/:id": "session: member",
      "PATCH /internal/templates/:id": "session: developer",
      "DELETE /internal/templates/:id": "session: developer",
      "POST /internal/templates/sync": "session: developer",
      "GET /internal/api-keys": "session: member, portal",
      "GET /internal/api-keys/:id": "session: member, portal",
      "POST /internal/api-keys": "session: developer, portal",
      "DELETE /internal/api-keys/:id": "session: developer, portal",
      "POST /internal/session": "anybody",
      "POST /internal/setup": "anybody",
      "GET /internal/members": "session: admin",
      "POST /internal/members": "session: admin",
      "PATCH /internal/members/:id": "session: admin",
      "DELETE /internal/members/:id": "session: admin",
      "POST /internal/invitations/accept": "anybody",
      "POST /internal/invitations/show": "anybody",
      "POST /internal/portal": "anybody",
      "GET /internal/workspaces": "session: member",
      "POST /internal/session/workspace": "session: member",
      "POST /internal/session/confirm": "session: member",
      "DELETE /internal/sessions": "session: member",
      "DELETE /internal/members/:id/sessions": "session: admin",
      "GET /internal/sessions": "session: member",
      "DELETE /internal/sessions/:id": "session: member",
      "PUT /internal/password": "session: member",
      "POST /internal/password/reset-request": "anybody",
      "POST /internal/password/reset": "anybody",
      "GET /internal/session": "session: member, portal",
      "DELETE /internal/session": "session: member, portal",
      "GET /internal/sign-in": "anybody",
      "GET /internal/stream": "session: member",
      "GET /internal/alerts": "session: member",
      "GET /internal/alerts/settings": "session: admin",
      "PUT /internal/alerts/settings": "session: admin",
      "GET /internal/audit": "session: admin",
      "GET /internal/requests": "session: member",
      "GET /internal/requests/:id": "session: member",
      "GET /internal/requests/:id/values": "session: admin",
      "GET /internal/settings/request-values": "session: member",
      "PUT /internal/settings/request-values": "session: owner",
      "GET /internal/usage": "session: member",
      "GET /internal/phone-numbers": "session: member",
      "POST /internal/campaigns": "session: developer",
      "GET /internal/campaigns": "session: developer",
      "GET /internal/campaigns/:id": "session: developer",
      "PATCH /internal/campaigns/:id": "session: developer",
      "DELETE /internal/campaigns/:id": "session: developer",
      "PUT /internal/campaigns/:id/recipients": "session: developer",
      "GET /internal/campaigns/:id/recipients": "session: developer",
      "GET /internal/campaigns/:id/problems": "session: developer",
      "GET /internal/campaigns/:id/timeline": "session: developer",
      "POST /internal/campaigns/:id/check": "session: developer",
      "POST /internal/campaigns/:id/start": "session: developer",
      "POST /internal/campaigns/:id/pause": "session: developer",
      "POST /internal/campaigns/:id/resume": "session: developer",
      "POST /internal/campaigns/:id/cancel": "session: developer",
      "GET /internal/customers": "session: member",
      "GET /internal/contacts": "session: member",
      "GET /internal/contacts/:id": "session: member",
      "PUT /internal/contacts/:id/opt-out": "session: developer",
      "DELETE /internal/contacts/:id/opt-out": "session: developer",
      "GET /internal/settings/opt-out": "session: admin",
      "PUT /internal/settings/opt-out": "session: admin",
      "GET /internal/suppressions": "session: developer",
      "PUT /internal/suppressions": "session: developer",
      "GET /internal/webhook": "session: member, portal",
      "GET /internal/webhook/receiver": "session: member, portal",
      "PUT /internal/webhook": "session: developer, portal",
      "DELETE /internal/webhook": "session: developer, portal",
      "POST /internal/webhook/rotate-secret": "session: developer, portal",
      "POST /internal/webhook/test": "session: developer, portal",
      "POST /internal/webhook/pause": "session: developer, portal",
      "POST /internal/webhook/resume": "session: developer, portal",
      "POST /internal/webhook/verify": "session: developer, portal",
      "GET /internal/webhook/deliveries": "session: member, portal",
      "GET /internal/webhook/deliveries/:id": "session: member, portal",
      "POST /internal/webhook/deliveries/:id/retry": "session: developer, portal",
      "POST /internal/webhook/replays": "session: developer, portal",
      "GET /internal/webhook/replays": "session: member, portal",
      "GET /internal/webhook/replays/:id": "session: member, portal",
      "DELETE /internal/webhook/replays/:id": "session: developer, portal",
      "GET /v1/events": "key: messages:read",
      "GET /internal/events": "session: member",
      "GET /internal/events/:id": "session: member",
      "POST /internal/session/factor": "anybody",
      "GET /internal/factor": "session: member",
      "PUT /internal/factor": "session: member",
      "POST /internal/factor/confirm": "session: member",
      "PUT /internal/factor/recovery-codes": "session: member",
      "DELETE /internal/factor": "session: member",
      "POST /internal/session/factor/options": "anybody",
      "PUT /internal/session/confirm/options": "session: member",
      "PUT /internal/factor/passkeys/options": "session: member",
      "POST /internal/factor/passkeys": "session: member",
      "DELETE /internal/factor/passkeys/:id": "session: member",
      "DELETE /internal/members/:id/factor": "session: owner",
      "GET /healthz": "anybody",
      "GET /readyz": "anybody"
    })
  })

  /** What somebody does who is not signed in yet. */
  const signingIn = new Set([
    "GET /internal/sign-in",
    "POST /internal/session",
    "POST /internal/session/factor",
    "POST /internal/session/factor/options",
    "POST /internal/setup",
    "POST /internal/invitations/accept",
    "POST /internal/invitations/show",
    "POST /internal/portal",
    "POST /internal/password/reset-request",
    "POST /internal/password/reset"
  ])

  /** What everybody may change: their own session, password and second factor. */
  const own = new Set([
    "DELETE /internal/session",
    "POST /internal/session/workspace",
    "POST /internal/session/confirm",
    "DELETE /internal/sessions",
    "DELETE /internal/sessions/:id",
    "PUT /internal/password",
    "PUT /internal/factor",
    "POST /internal/factor/confirm",
    "PUT /internal/factor/recovery-codes",
    "DELETE /internal/factor",
    "PUT /internal/session/confirm/options",
    "PUT /internal/factor/passkeys/options",
    "POST /internal/factor/passkeys",
    "DELETE /internal/factor/passkeys/:id"
  ])

  it("only API keys open /v1, and only sessions open /internal", () => {
    for (const { access, name, path } of routes) {
      if (path.startsWith("/v1/")) assert.strictEqual(access?._tag, "ApiKey", name)
      else if (signingIn.has(name)) {
        assert.strictEqual(access?._tag, "Public", name)
      } else if (path.startsWith("/internal/")) assert.strictEqual(access?._tag, "Session", name)
      else assert.include(["GET /healthz", "GET /readyz"], name)
    }
  })

  it("members can change only their own session, password and second factor", () => {
    for (const { access, method, name } of dashboard) {
      if (method === "GET" || own.has(name)) continue
      assert.notStrictEqual(access?._tag === "Session" && access.role, "member", name)
    }
  })
})

layer(Hosted.layer, checks.live)("callers", (it) => {
  describe.each(dashboard)("$name", (route) => {
    const needed = route.access?._tag === "Session" ? route.access.role : "owner"

    it.effect("the route refuses requests without a session", () =>
      Effect.gen(function*() {
        const { deadKeys, ours, url } = yield* Hosted
        const callers: ReadonlyArray<{ readonly [name: string]: string }> = [
          {},
          ownPage,
          { ...ownPage, cookie: "wac_session=garbage" },
          { ...ownPage, [actorHeader]: "" },
          { ...ownPage, [actorHeader]: "nobody@" },
          { ...ownPage, [actorHeader]: `superuser@${ours.id}` },
          { ...ownPage, authorization: "Basic b3duZXI6b3duZXI=" },
          { ...ownPage, ...bearer("garbage") },
          ...[ours.key.apiKey, ...Object.values(deadKeys), checks.wellFormed("x".repeat(30))].map((token) => ({
            ...ownPage,
            ...bearer(token)
          })),
          // an API key is no session, not even beside one
          { ...actor("owner", ours.id), ...bearer(ours.key.apiKey) },
          { ...actor("owner", ours.id), ...bearer("wac_live_x") }
        ]
        for (const caller of callers) {
          checks.assertError(yield* ask(url, route, caller), 401, missingSession)
          if (route.method === "GET") {
            const head = yield* ask(url, { ...route, method: "HEAD" }, caller)
            assert.deepStrictEqual([head.status, head.headers.get("www-authenticate")], [401, "Bearer"])
          }
        }
      }))

    it.effect.each(Member.Role.literals)("%s", (role) =>
      Effect.gen(function*() {
        const { ours, url } = yield* Hosted
        const answer = yield* ask(url, route, actor(role, ours.id))
        const allowed = Member.Role.literals.indexOf(role) >= Member.Role.literals.indexOf(needed)
        if (allowed) assertLetIn(answer, role)
        else checks.assertError(answer, 403, { code: "forbidden", reason: "role_not_allowed" })
        if (route.method === "GET") return
        // with the role or without: not from elsewhere
        for (const elsewhere of [{}, { "sec-fetch-site": "cross-site" }]) {
          const { [actorHeader]: header } = actor(role, ours.id)
          checks.assertError(yield* ask(url, route, { [actorHeader]: header!, ...elsewhere }), 403, {
            code: "forbidden",
            reason: "cross_site",
            param: "Sec-Fetch-Site"
          })
        }
      }))
  })

  describe.each(ofKeys)("$name", (route) => {
    it.effect("the route accepts only live keys with the scope", () =>
      Effect.gen(function*() {
        const { deadKeys, ours, services, theirs, url } = yield* Hosted
        const sessions: ReadonlyArray<{ readonly [name: string]: string }> = [
          {},
          ownPage,
          actor("owner", ours.id),
          { ...ownPage, cookie: "wac_session=x; __Host-wac_session=x" }
        ]
        const cases: ReadonlyArray<readonly [headers: { readonly [name: string]: string }, reason: string]> = [
          ...sessions.map((headers) => [headers, "missing_key"] as const),
          [bearer("garbage"), "invalid_key"],
          [bearer(checks.wellFormed("x".repeat(30))), "invalid_key"],
          [{ ...actor("owner", ours.id), ...bearer("garbage") }, "invalid_key"],
          [{ authorization: "Basic b3duZXI6b3duZXI=" }, "invalid_key"],
          ...Object.entries(deadKeys).map(([reason, token]) => [bearer(token), reason] as const)
        ]
        for (const [headers, reason] of cases) {
          checks.assertError(yield* ask(url, route, headers), 401, { code: "unauthorized", reason })
          if (route.method !== "GET") continue
          assert.strictEqual((yield* ask(url, { ...route, method: "HEAD" }, headers)).status, 401)
        }
        for (const { id } of [ours, theirs]) {
          const { apiKey } = yield* checks.keyWithScopes(services, id, ApiScope.all)
          assertLetIn(yield* ask(url, route, bearer(apiKey)), route.name)
        }
      }))
  })

  describe.each(ApiScope.all)("a key with the scope %s alone", (scope) => {
    it.effect("the key opens the routes of its scope and no others", () =>
      Effect.gen(function*() {
        const { ours, services, url } = yield* Hosted
        const { apiKey } = yield* checks.keyWithScopes(services, ours.id, [scope])
        for (const route of ofKeys) {
          const answer = yield* ask(url, route, bearer(apiKey))
          const needed = route.access?._tag === "ApiKey" ? route.access.scope : undefined
          if (needed === scope) assertLetIn(answer, route.name)
          else {
            checks.assertError(answer, 403, { code: "forbidden", reason: "missing_scope" })
            assert.include(answer.body.error.message, `the scope ${needed}`)
          }
        }
      }))
  })

  it.effect("a key without a scope is refused at every route", () =>
    Effect.gen(function*() {
      const { ours, services, url } = yield* Hosted
      const { apiKey } = yield* checks.keyWithScopes(services, ours.id, [])
      for (const route of ofKeys) {
        checks.assertError(yield* ask(url, route, bearer(apiKey)), 403, { code: "forbidden", reason: "missing_scope" })
      }
    }))

  describe.each(open)("$name", (route) => {
    it.effect("the route requires no authentication", () =>
      Effect.gen(function*() {
        const { ours, url } = yield* Hosted
        for (const caller of [{}, bearer("garbage"), bearer(ours.key.apiKey), { cookie: "wac_session=garbage" }]) {
          assertLetIn(yield* ask(url, route, { ...caller, ...ownPage }), route.name)
        }
        if (route.method === "GET") return
        checks.assertError(yield* ask(url, route), 403, {
          code: "forbidden",
          reason: "cross_site",
          param: "Sec-Fetch-Site"
        })
      }))
  })

  describe("one workspace", () => {
    const ownOf = ({ ours: { id, key }, pass, services, url }: Hosted["Service"]): Things.Own => ({
      url,
      pass,
      services,
      id,
      key,
      owner: actor("owner", id)
    })

    const callerFor = (
      { path }: Pick<Route, "path">,
      { id, key }: { readonly id: string; readonly key: { readonly apiKey: string } }
    ) => path.startsWith("/v1/") ? bearer(key.apiKey) : actor("owner", id)

    it("the workspace has a resource for each route with an id", () => {
      assert.deepStrictEqual(
        [...new Set(routes.filter(({ path }) => path.includes(":id")).map(({ path }) => path))].sort(),
        Object.keys(
          Things.byPath({
            message: "",
            contact: "",
            key: "",
            event: "",
            delivery: "",
            replay: "",
            invitation: "",
            session: "",
            campaign: "",
            template: "",
            file: "",
            request: ""
          })
        ).sort()
      )
    })

    it.effect("no route reaches into another workspace, whatever the id", () =>
      Effect.gen(function*() {
        const hosted = yield* Hosted
        const { ours, theirs, url } = hosted
        const { others, thing } = yield* Things.make(ownOf(hosted))
        const number = yield* Things.numberOf(ownOf(hosted))
        const templates = yield* call(`${url}/v1/templates`, { headers: bearer(ours.key.apiKey) })
        const ids = [
          ours.id,
          ...Object.values(thing),
          ...others,
          number.id,
          ...templates.body.data.map(({ id }: { readonly id: string }) => id)
        ] as ReadonlyArray<string>
        for (const id of ids) assert.match(id, /^[a-z]+[_.]/)

        /** The least that may read it: whom no fresh signature is shown. */
        const leastOf = ({ access }: Route) => access?._tag === "Session" ? access.role : "member"
        /** What our own looking adds to. */
        const growing = new Set(["/internal/requests", "/internal/usage", "/internal/audit"])
        /** What nobody has who signs in at the host. */
        const missing = new Set(["/internal/factor"])
        /** All else that we can read of ourselves. */
        const view = Effect.forEach(
          routes.filter(({ access, method, path }) =>
            method === "GET" && access?._tag !== "Public" && !growing.has(path) && !missing.has(path)
          ),
          (route) =>
            Effect.map(
              ask(
                url,
                route,
                { ...callerFor(route, ours), [actorHeader]: `${leastOf(route)}@${ours.id}` },
                thing[route.path]
              ),
              ({ body, status }) => [status, body]
            )
        )
        const before = yield* view
        assert.deepStrictEqual(new Set(before.map(([status]) => status)), new Set([200]))

        for (const route of routes.filter(({ access }) => access?._tag !== "Public")) {
          const caller = callerFor(route, theirs)
          for (const id of route.path.includes(":id") ? ids : [checks.nobody]) {
            const answer = yield* ask(url, route, caller, id)
            if (route.path.includes(":id")) checks.assertError(answer, 404, { code: "not_found" })
            for (const own of [...ids, "127.0.0.1:1/"]) assert.notInclude(answer.text, own, route.name)
          }
        }
        // nor by what a body or a query can name
        for (const from of [number.id, number.phoneNumber]) {
          checks.assertError(yield* send({ url, key: theirs.key }, { ...hello(), from }), 403, {
            code: "forbidden",
            reason: "sender_not_available",
            param: "from"
          })
        }
        const cursor = Buffer.from("1:key_7ZZZZZZZZZZZZZZZZZZZZZZZZZ").toString("base64url")
        const page = yield* call(`${url}/internal/api-keys?limit=100&cursor=${cursor}`, {
          headers: actor("owner", theirs.id)
        })
        assert.include(page.body.data.map(({ id }: { readonly id: string }) => id), theirs.key.id)
        for (const own of [...ids, ours.key.id]) assert.notInclude(page.text, own)
        // their webhook is another one
        assert.strictEqual((yield* Things.setWebhook({ url, owner: actor("owner", theirs.id) }, 2)).status, 200)
        assert.strictEqual(
          (yield* call(`${url}/internal/webhook`, { method: "DELETE", headers: actor("owner", theirs.id) })).status,
          204
        )

        assert.deepStrictEqual(yield* view, before)
      }))

    it.effect("a foreign id gets the same response as an unknown id", () =>
      Effect.gen(function*() {
        const hosted = yield* Hosted
        const { theirs, url } = hosted
        const { thing } = yield* Things.make(ownOf(hosted))
        for (const route of routes.filter(({ path }) => path.includes(":id"))) {
          const caller = callerFor(route, theirs)
          const [foreign, unknown] = [
            yield* ask(url, route, caller, thing[route.path]),
            yield* ask(url, route, caller, thing[route.path]!.replace(/.{4}$/, "0000"))
          ]
          const { request_id: _, ...one } = foreign.body.error
          const { request_id: __, ...other } = unknown.body.error
          assert.deepStrictEqual(one, other, route.name)
        }
      }))

    it.effect("the workspace is the session's, whatever the request contains", () =>
      Effect.gen(function*() {
        const { ours, theirs, url } = yield* Hosted
        const headers = {
          ...actor("owner", theirs.id),
          "x-workspace-id": ours.id,
          "x-tenant-id": ours.id,
          "tenant_id": ours.id
        }
        const keys = yield* call(`${url}/internal/api-keys`, { headers })
        assert.notInclude(keys.text, ours.key.id)
        checks.assertInvalid(
          yield* call(`${url}/internal/api-keys?workspaceId=${ours.id}`, { headers }),
          "unknown_field",
          "workspaceId"
        )
      }))
  })
})

describe("our own sessions", () => {
  it.live("an owner's cookie opens every dashboard route; an expired, ended or forged cookie opens none", () =>
    Effect.gen(function*() {
      const { services, session, url } = yield* ready({ environment: checks.unlimited })
      const { userId, workspaceId } = (yield* call(`${url}/internal/session`, { headers: session })).body
      const cookie = (token: string) => ({ ...ownPage, cookie: `wac_session=${token}` })
      const now = checks.now()
      const expired = "e".repeat(43)
      yield* Effect.orDie(
        Context.get(services, SessionStore.SessionStore).create({
          id: Id.SessionId.make(`ses_${checks.nobody}`),
          workspaceId,
          roles: null,
          address: null,
          agent: null,
          tokenHash: createHash("sha256").update(expired).digest("hex"),
          userId: Id.UserId.make(userId),
          createdAt: now,
          idleUntil: now,
          absoluteUntil: now + 1_000_000
        })
      )
      const ended = yield* call(`${url}/internal/session`, {
        headers: ownPage,
        body: { email: "owner@example.com", password: "correct horse battery" }
      })
      const endedCookie = { ...ownPage, cookie: ended.headers.getSetCookie()[0]!.split(";")[0]! }
      yield* call(`${url}/internal/session`, { method: "DELETE", headers: endedCookie })
      const dead = [cookie(expired), endedCookie, cookie("f".repeat(43)), cookie(""), cookie("%00%zz"), cookie(userId)]
      for (const route of dashboard) {
        for (const caller of dead) checks.assertError(yield* ask(url, route, caller), 401, missingSession)
        // the header that an embedding application would believe says nothing here
        checks.assertError(
          yield* ask(url, route, actor("owner", `ws_${checks.nobody}`)),
          401,
          missingSession
        )
      }
      // last the one that ends the session
      const signOut = dashboard.filter(({ name }) => name === "DELETE /internal/session")
      for (const route of [...dashboard.filter((route) => !signOut.includes(route)), ...signOut]) {
        assertLetIn(yield* ask(url, route, session), route.name)
      }
      checks.assertError(yield* call(`${url}/internal/session`, { headers: session }), 401, missingSession)
    }).pipe(Effect.scoped))

  it.live("sign-in is 404 if the embedding application signs people in", () =>
    Effect.gen(function*() {
      const { url } = yield* start({ adapters: { authenticator: hostAuthenticator } })
      const answer = yield* call(`${url}/internal/session`, {
        headers: ownPage,
        body: { email: "owner@example.com", password: "correct horse battery" }
      })
      checks.assertError(answer, 404, { code: "not_found" })
    }).pipe(Effect.scoped))
})
