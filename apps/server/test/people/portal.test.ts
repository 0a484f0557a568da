/**
 * The portal (contract §12): a host's link becomes a session of one workspace, which opens its webhook, deliveries and
 * keys, and nothing else.
 */
import { assert, layer } from "@effect/vitest"
import { Access, Api } from "@wac/api"
import { type Id, type Member, Portals } from "@wac/core"
import { Clock, Context, Duration, Effect, Layer, Redacted } from "effect"
import * as checks from "../checks.ts"
import { actorHeader, call, hostAuthenticator, ownPage, start } from "../harness.ts"
import { moving } from "../movable.ts"

const origin = "https://app.example.com"

/** A server of a host's, with two workspaces. */
class Hosted extends Context.Service<Hosted, {
  readonly url: string
  readonly pass: (duration: Duration.Input) => Effect.Effect<void>
  readonly ours: Effect.Success<ReturnType<typeof checks.anotherWorkspace>>
  readonly theirs: Effect.Success<ReturnType<typeof checks.anotherWorkspace>>
  /** Makes a link's token. */
  readonly link: (link?: {
    readonly workspaceId?: Id.WorkspaceId
    readonly role?: Member.Role
    readonly lifetime?: Duration.Duration
  }) => Effect.Effect<string>
}>()("@wac/server/test/people/portal.test/Hosted") {
  static readonly layer = Layer.effect(
    Hosted,
    Effect.gen(function*() {
      const { clock, pass, services, url } = yield* moving(start({
        environment: { ...checks.unlimited, PORTAL_ORIGINS: `${origin}, http://localhost:3000` },
        adapters: { authenticator: hostAuthenticator }
      }))
      const workspace = (name: string, number: string) =>
        checks.anotherWorkspace(name, number).pipe(Effect.provideContext(services))
      const ours = yield* workspace("ours", "+15005550101")
      const theirs = yield* workspace("theirs", "+15005550102")
      const portals = Context.get(services, Portals.Portals)
      return {
        url,
        pass,
        ours,
        theirs,
        link: ({ lifetime = Duration.hours(1), role = "developer", workspaceId = ours.id } = {}) =>
          portals.link({ workspaceId, role, visitor: "ana@shop.example", lifetime }).pipe(
            Effect.orDie,
            Effect.map(({ token }) => Redacted.value(token)),
            // the server's time, which the tests let pass
            Effect.provideService(Clock.Clock, clock)
          )
      }
    })
  )
}

const open = (url: string, token: string, headers: { readonly [name: string]: string } = ownPage) =>
  call(`${url}/internal/portal`, { headers, body: { token } })

/** Opens the portal; gives the headers of its pages' requests. */
const opened = Effect.fnUntraced(function*(role: Member.Role = "developer") {
  const { link, ours, url } = yield* Hosted
  const answer = yield* open(url, yield* link({ role }))
  assert.strictEqual(answer.status, 200, answer.text)
  return { ...ownPage, cookie: answer.headers.getSetCookie()[0]!.split(";")[0]!, "wac-portal": ours.id as string }
})

const missingSession = { code: "unauthorized", reason: "missing_session" }
const usedUp = { code: "unauthorized", reason: "invalid_credentials", param: "token" }

layer(Hosted.layer, checks.live)("the portal", (it) => {
  it.effect("a link opens a session of an hour, with a cookie that works in frames of other sites", () =>
    Effect.gen(function*() {
      const { link, ours, pass, url } = yield* Hosted
      const answer = yield* open(url, yield* link({ role: "admin" }))
      assert.deepInclude(answer.body, {
        email: "ana@shop.example",
        role: "admin",
        workspaceId: ours.id,
        workspaceName: "ours"
      })
      const [cookie = "", ...others] = answer.headers.getSetCookie()
      assert.deepStrictEqual(others, [])
      const [pair = "", ...attributes] = cookie.split("; ")
      assert.match(pair, /^__Host-wac_portal=\w{32}$/)
      assert.sameMembers(attributes, ["Max-Age=3600", "Path=/", "Secure", "HttpOnly", "SameSite=None", "Partitioned"])
      const headers = { ...ownPage, cookie: pair, "wac-portal": ours.id }
      const session = call(`${url}/internal/session`, { headers })
      assert.deepStrictEqual((yield* session).body, answer.body)
      yield* pass("59 minutes")
      assert.strictEqual((yield* session).status, 200)
      yield* pass("1 minute")
      checks.assertError(yield* session, 401, missingSession)
    }))

  it.effect("a link works once before it expires, and not from pages of other sites", () =>
    Effect.gen(function*() {
      const { link, pass, url } = yield* Hosted
      const token = yield* link()
      const elsewhere = yield* open(url, token, { "sec-fetch-site": "cross-site", origin })
      checks.assertError(elsewhere, 403, { code: "forbidden", reason: "cross_site", param: "Origin" })
      assert.strictEqual((yield* open(url, token)).status, 200)
      checks.assertError(yield* open(url, token), 401, usedUp)
      const late = yield* link({ lifetime: Duration.minutes(5) })
      yield* pass("5 minutes")
      checks.assertError(yield* open(url, late), 401, usedUp)
      checks.assertError(yield* open(url, "x".repeat(32)), 401, usedUp)
    }))

  it.effect("the cookie is valid only with the header of its own workspace", () =>
    Effect.gen(function*() {
      const { ours, theirs, url } = yield* Hosted
      const { "wac-portal": _, ...headers } = yield* opened()
      const get = (portal: { readonly [name: string]: string }) =>
        call(`${url}/internal/api-keys`, { headers: { ...headers, ...portal } })
      assert.strictEqual((yield* get({ "wac-portal": ours.id })).status, 200)
      for (const portal of [{}, { "wac-portal": "" }, { "wac-portal": theirs.id }]) {
        checks.assertError(yield* get(portal), 401, missingSession)
      }
      // a page of the portal is never somebody's dashboard
      const host = { [actorHeader]: `owner@${ours.id}`, ...ownPage, "wac-portal": ours.id as string }
      checks.assertError(yield* call(`${url}/internal/members`, { headers: host }), 401, missingSession)
    }))

  it.effect("signing out ends the portal's session and deletes its cookie", () =>
    Effect.gen(function*() {
      const { url } = yield* Hosted
      const headers = yield* opened()
      const answer = yield* call(`${url}/internal/session`, { method: "DELETE", headers })
      assert.strictEqual(answer.status, 204)
      assert.match(answer.headers.getSetCookie().join(), /^__Host-wac_portal=; Max-Age=0;/)
      checks.assertError(yield* call(`${url}/internal/session`, { headers }), 401, missingSession)
    }))

  it.effect("the audit names the visitor, and the portal does not show the audit", () =>
    Effect.gen(function*() {
      const { ours, url } = yield* Hosted
      const headers = yield* opened()
      const key = yield* call(`${url}/internal/api-keys`, {
        headers: { ...headers, "idempotency-key": crypto.randomUUID() },
        body: { name: "by the visitor" }
      })
      assert.strictEqual(key.status, 201, key.text)
      const owner = { ...ownPage, [actorHeader]: `owner@${ours.id}` }
      const { body } = yield* call(`${url}/internal/audit?limit=2`, { headers: owner })
      assert.deepStrictEqual(
        body.data.map((entry: { readonly action: string; readonly by: { readonly email: string } }) => [
          entry.action,
          entry.by.email
        ]),
        [["api_key.create", "ana@shop.example"], ["portal.open", "ana@shop.example"]]
      )
      checks.assertError(yield* call(`${url}/internal/audit`, { headers }), 403, {
        code: "forbidden",
        reason: "role_not_allowed"
      })
    }))

  it.effect("only the configured origins can frame the portal and give it images, and none can frame the dashboard", () =>
    Effect.gen(function*() {
      const { ours, url } = yield* Hosted
      const policy = (path: string) =>
        Effect.map(
          call(url + path),
          ({ headers, status }) =>
            [status, /frame-ancestors ([^;]*)/.exec(headers.get("content-security-policy") ?? "")?.[1]] as const
        )
      for (const path of [`/portal/${ours.id}`, `/portal/${ours.id}/deliveries?status=held`]) {
        assert.deepStrictEqual(yield* policy(path), [200, `${origin} http://localhost:3000`])
      }
      assert.deepStrictEqual(yield* policy("/dashboard"), [200, "'none'"])
      assert.deepStrictEqual(yield* policy(`/dashboard/portal/${ours.id}`), [200, "'none'"])
      const images = Effect.map(
        call(`${url}/portal/${ours.id}`),
        ({ headers }) => /img-src ([^;]*)/.exec(headers.get("content-security-policy")!)?.[1]
      )
      assert.strictEqual(yield* images, `'self' data: ${origin} http://localhost:3000`)
      for (const path of ["/portal", "/portal/", "/portal/x", "/portal/x/deliveries"]) {
        assert.strictEqual((yield* policy(path))[0], 404, path)
      }
    }))

  it.effect("guesses at links are limited per address, and a valid link always works", () =>
    Effect.gen(function*() {
      const { link, pass, url } = yield* Hosted
      const guess = open(url, "y".repeat(32))
      for (let i = 0; i < 50; i++) yield* guess
      checks.assertError(yield* guess, 429, { code: "rate_limited", reason: "login" })
      assert.strictEqual((yield* open(url, yield* link())).status, 200)
      yield* pass("1 hour")
      assert.strictEqual((yield* guess).status, 401)
    }))
})

layer(Hosted.layer, checks.live)("access of the portal", (it) => {
  it.effect("the portal gives access only to the session, the webhook, deliveries, replays and API keys", () =>
    Effect.sync(() => {
      const open = Object.values(Api.groups).flatMap((group) =>
        Object.values(group.endpoints).flatMap(({ annotations, path }) =>
          Context.get(annotations, Access.OpenToPortal) ? [path] : []
        )
      )
      assert.deepStrictEqual([...new Set(open)].sort(), [
        "/internal/api-keys",
        "/internal/api-keys/:id",
        "/internal/session",
        "/internal/webhook",
        "/internal/webhook/deliveries",
        "/internal/webhook/deliveries/:id",
        "/internal/webhook/deliveries/:id/retry",
        "/internal/webhook/pause",
        "/internal/webhook/receiver",
        "/internal/webhook/replays",
        "/internal/webhook/replays/:id",
        "/internal/webhook/resume",
        "/internal/webhook/rotate-secret",
        "/internal/webhook/test",
        "/internal/webhook/verify"
      ])
    }))
})
