/**
 * Signing in at an OpenID Connect issuer (contract §12 `AUTH=oidc`), against a real one.
 */
import { assert, it } from "@effect/vitest"
import { Id, InvitationStore, WorkspaceStore } from "@wac/core"
import { Context, Effect } from "effect"
import { createHash } from "node:crypto"
import * as checks from "../checks.ts"
import { call, environment, ownPage, start } from "../harness.ts"
import { environmentFor, issuer, type People } from "./issuer.ts"

/** A browser's cookies, for all places on loopback. */
class Browser {
  readonly #jar = new Map<string, string>()
  async go(url: string, form?: Record<string, string>): Promise<Response> {
    const response = await fetch(url, {
      redirect: "manual",
      headers: { cookie: [...this.#jar].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) })
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      if (value === "") this.#jar.delete(name!)
      else this.#jar.set(name!, value!)
    }
    return response
  }
  cookie(name: string): string | undefined {
    return this.#jar.get(name)
  }
}

/** Goes to the issuer, signs in there as somebody, consents, and stands before our callback. */
const atIssuer = async (browser: Browser, url: string, name: string, query = ""): Promise<string> => {
  let place = `${url}/internal/oidc/sign-in${query}`
  for (let step = 0; step < 12; step++) {
    let response = await browser.go(place)
    if (response.status === 200) {
      const prompt = /name="prompt" value="(\w+)"/.exec(await response.text())![1]!
      response = await browser.go(place, { prompt, ...(prompt === "login" ? { login: name, password: "x" } : {}) })
    }
    const location = response.headers.get("location")
    if (location === null) throw new Error(`${response.status} ${await response.text()}`)
    place = new URL(location, place).href
    if (place.startsWith(`${url}/internal/oidc/callback`)) return place
  }
  throw new Error("it never came back")
}

const served = Effect.fnUntraced(function*(people: People) {
  const { redirectUris, url: issuerUrl } = yield* issuer(people)
  const server = yield* start({
    environment: { ...checks.unlimited, ...environmentFor(issuerUrl) }
  })
  redirectUris.push(`${server.url}/internal/oidc/callback`)
  const signIn = (name: string, browser = new Browser()) =>
    Effect.promise(async () => {
      const response = await browser.go(await atIssuer(browser, server.url, name))
      return { response, browser, body: await response.text() }
    })
  const who = (browser: Browser) =>
    call(`${server.url}/internal/session`, { headers: { cookie: `wac_session=${browser.cookie("wac_session")}` } })
  return { ...server, signIn, who }
})

it.live("a person signs in with the issuer's role, which is read at each sign-in", () =>
  Effect.gen(function*() {
    const people: People = { ada: { email: "Ada@Example.com", email_verified: true, wac_roles: "admin" } }
    const { signIn, url, who } = yield* served(people)
    assert.deepStrictEqual((yield* call(`${url}/internal/sign-in`)).body, { method: "oidc" })
    const first = yield* signIn("ada")
    assert.strictEqual(first.response.status, 302, first.body)
    assert.strictEqual(first.response.headers.get("location"), "/dashboard")
    assert.isUndefined(first.browser.cookie("wac_oidc"))
    const session = yield* who(first.browser)
    assert.deepInclude(session.body, { email: "ada@example.com", role: "admin" })
    people["ada"]!.wac_roles = { [session.body.workspaceId]: "developer", ws_other: "owner" }
    const again = yield* signIn("ada")
    assert.deepInclude((yield* who(again.browser)).body, { userId: session.body.userId, role: "developer" })
    // the session of before has the role of now
    assert.strictEqual((yield* who(first.browser)).body.role, "developer")
    people["ada"]!.wac_roles = undefined
    const refused = yield* signIn("ada")
    assert.strictEqual(refused.response.status, 403)
    assert.strictEqual(JSON.parse(refused.body).error.reason, "role_not_allowed")
  }).pipe(Effect.scoped))

it.live("a person without a role at the issuer, or with an unverified address, is refused", () =>
  Effect.gen(function*() {
    const { signIn } = yield* served({
      none: { email: "none@example.com" },
      odd: { email: "odd@example.com", wac_roles: ["owner"] },
      unverified: { email: "owner@example.com", email_verified: false, wac_roles: "owner" },
      nameless: { wac_roles: "owner" }
    })
    for (const name of ["none", "odd", "unverified", "nameless"]) {
      const { body, response } = yield* signIn(name)
      assert.deepStrictEqual([response.status, JSON.parse(body).error.reason], [403, "role_not_allowed"], name)
      assert.deepStrictEqual(response.headers.getSetCookie().filter((cookie) => cookie.startsWith("wac_session=")), [])
    }
  }).pipe(Effect.scoped))

it.live("a person returns to the page of the dashboard that they asked for, and to no other site", () =>
  Effect.gen(function*() {
    const { url } = yield* served({ ada: { email: "ada@example.com", wac_roles: "admin" } })
    const returned = (page: string) =>
      Effect.promise(async () => {
        const browser = new Browser()
        const callback = await atIssuer(browser, url, "ada", `?${new URLSearchParams({ page })}`)
        return (await browser.go(callback)).headers.get("location")
      })
    const own = "/dashboard/messages?status=failed&customer=%2B31612345678"
    assert.strictEqual(yield* returned(own), own)
    const strange = [
      "//evil.example/dashboard/",
      "/\\evil.example/dashboard/",
      "https://evil.example/dashboard/",
      "http://dashboard@evil.example/dashboard/x",
      "javascript:alert(1)//dashboard/",
      "/dashboard/../internal/session",
      "/dashboardx",
      "/internal/session",
      "/dashboard/x\r\nset-cookie: a=b".padEnd(1100, "x"),
      ""
    ]
    for (const page of strange) assert.strictEqual(yield* returned(page), "/dashboard", page)
  }).pipe(Effect.scoped))

it.live("a forged or repeated callback, or one from a different browser, signs nobody in", () =>
  Effect.gen(function*() {
    const { url } = yield* served({ ada: { email: "ada@example.com", wac_roles: "owner" } })
    const [own, other] = [new Browser(), new Browser()]
    const callback = yield* Effect.promise(() => atIssuer(own, url, "ada"))
    yield* Effect.promise(() => other.go(`${url}/internal/oidc/sign-in`))
    const refused = (browser: Browser, place: string) =>
      Effect.promise(async () => {
        const response = await browser.go(place)
        const { error } = JSON.parse(await response.text())
        assert.deepStrictEqual([response.status, error.reason], [401, "invalid_credentials"], place)
        assert.isUndefined(browser.cookie("wac_session"))
      })
    yield* refused(other, callback)
    yield* refused(new Browser(), callback)
    yield* refused(other, `${url}/internal/oidc/callback`)
    yield* refused(other, `${url}/internal/oidc/callback?error=access_denied&state=x`)
    const kept = own.cookie("wac_oidc")!
    assert.strictEqual((yield* Effect.promise(() => own.go(callback))).status, 302)
    const again = yield* call(callback, { headers: { cookie: `wac_oidc=${kept}` } })
    checks.assertError(again, 401, { code: "unauthorized", reason: "invalid_credentials" })
  }).pipe(Effect.scoped))

it.live("if people sign in at an issuer, passwords are refused", () =>
  Effect.gen(function*() {
    const { url } = yield* served({})
    const answer = yield* call(`${url}/internal/session`, {
      headers: ownPage,
      body: { email: environment.WAC_OWNER_EMAIL, password: environment.WAC_OWNER_PASSWORD }
    })
    checks.assertError(answer, 404, { code: "not_found" })
  }).pipe(Effect.scoped))

it.live("invitations, links and passwords do not bypass the issuer", () =>
  Effect.gen(function*() {
    const { services, signIn, url } = yield* served({ ada: { email: "ada@example.com", wac_roles: "owner" } })
    const [workspace] = yield* Effect.orDie(Context.get(services, WorkspaceStore.WorkspaceStore).list)
    // made while people still had passwords
    const store = Context.get(services, InvitationStore.InvitationStore)
    const token = "a".repeat(32)
    yield* Effect.orDie(store.create({
      id: Id.InvitationId.make(`inv_${checks.nobody}`),
      workspaceId: workspace!.id,
      email: "eve@example.com",
      role: "owner",
      by: { person: null, role: "owner" },
      tokenHash: createHash("sha256").update(token).digest("hex"),
      createdAt: checks.now(),
      expiresAt: checks.now() + 60_000
    }))
    const { browser } = yield* signIn("ada")
    const session = { ...ownPage, cookie: `wac_session=${browser.cookie("wac_session")}` }
    const password = "a horse of another colour"
    for (
      const [method, path, body] of [
        ["POST", "/internal/invitations/accept", { token, password }],
        ["POST", "/internal/members", { email: "eve@example.com", role: "owner" }],
        ["POST", "/internal/password/reset-request", { email: environment.WAC_OWNER_EMAIL }],
        ["POST", "/internal/password/reset", { token, password }],
        ["PUT", "/internal/password", { current: password, new: password }]
      ] as const
    ) {
      const answer = yield* call(url + path, { method, headers: session, body })
      checks.assertError(answer, 404, { code: "not_found" })
      assert.include(answer.text, "issuer", path)
    }
  }).pipe(Effect.scoped))

it.live("a callback with a broken cookie is refused", () =>
  Effect.gen(function*() {
    const { url } = yield* served({})
    for (const cookie of ["%", "%zz", "%00", "{}", "null", encodeURIComponent("{\"state\":1}")]) {
      const answer = yield* call(`${url}/internal/oidc/callback?code=x&state=y`, {
        headers: { cookie: `wac_oidc=${cookie}` }
      })
      checks.assertError(answer, 401, { code: "unauthorized", reason: "invalid_credentials" })
    }
  }).pipe(Effect.scoped))

it.live("an unreachable issuer is reported as provider_unavailable", () =>
  Effect.gen(function*() {
    const { url } = yield* start({
      environment: { AUTH: "oidc", OIDC_ISSUER: "http://127.0.0.1:1", OIDC_CLIENT_ID: "wac", OIDC_CLIENT_SECRET: "s" }
    })
    const answer = yield* call(`${url}/internal/oidc/sign-in`)
    checks.assertError(answer, 502, { code: "server_error", reason: "provider_unavailable" })
  }).pipe(Effect.scoped))
