/**
 * Signing in at an OpenID Connect issuer (contract §12 `AUTH=oidc`), against a real one.
 */
import { assert, it } from "@effect/vitest"
import { AuditStore, Id, InvitationStore, IssuerState, Vault, WorkspaceStore } from "@wac/core"
import { Context, Deferred, Effect } from "effect"
import { createHash } from "node:crypto"
import type { OutgoingHttpHeaders, ServerResponse } from "node:http"
import { ClientError } from "openid-client"
import { isRefusal } from "../../src/OidcIssuer.ts"
import * as checks from "../checks.ts"
import { call, environment, noticed, ownPage, start } from "../harness.ts"
import { logged } from "../logged.ts"
import { moving } from "../movable.ts"
import { environmentFor, issuer, type People } from "./issuer.ts"

/** A browser's cookies, for all places on loopback. */
class Browser {
  readonly #jar = new Map<string, string>()
  readonly #strict = new Set<string>()
  /** What a browser sends of its cookies where another site leads it, as an issuer at a domain of its own does. */
  sentFromElsewhere(): string {
    return [...this.#jar].filter(([name]) => !this.#strict.has(name)).map(([name, value]) => `${name}=${value}`).join(
      "; "
    )
  }
  async go(url: string, form?: Record<string, string>, signal: AbortSignal | null = null): Promise<Response> {
    const response = await fetch(url, {
      redirect: "manual",
      signal,
      headers: { cookie: [...this.#jar].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) })
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      if (value === "") this.#jar.delete(name!)
      else this.#jar.set(name!, value!)
      if (/; samesite=strict/i.test(cookie)) this.#strict.add(name!)
    }
    return response
  }
  cookie(name: string): string | undefined {
    return this.#jar.get(name)
  }
  plant(name: string, value: string): void {
    this.#jar.set(name, value)
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

const served = Effect.fnUntraced(function*(people: People, environment: { readonly [name: string]: string } = {}) {
  const { redirectUris, tokenEndpoint, tokenRequests, url: issuerUrl } = yield* issuer(people)
  const server = yield* moving(start({
    environment: { ...checks.unlimited, ...environmentFor(issuerUrl), ...environment }
  }))
  redirectUris.push(`${server.url}/internal/oidc/callback`)
  const signIn = (name: string, browser = new Browser(), query = "") =>
    Effect.promise(async () => {
      const response = await browser.go(await atIssuer(browser, server.url, name, query))
      return { response, browser, body: await response.text() }
    })
  const headersOf = (browser: Browser) => ({ ...ownPage, cookie: `wac_session=${browser.cookie("wac_session")}` })
  const who = (browser: Browser) => call(`${server.url}/internal/session`, { headers: headersOf(browser) })
  return { ...server, signIn, who, headersOf, issuerUrl, tokenEndpoint, tokenRequests }
})

/** The refusal of a sign-in: status and reason. */
const refusalOf = ({ body, response }: { readonly body: string; readonly response: Response }) => [
  response.status,
  JSON.parse(body).error.reason
]
const notAllowed = [403, "role_not_allowed"]

/** How many refused sign-ins a server's metrics have, of a cause. */
const refusedIn = (text: string, cause: string) =>
  Number(new RegExp(`^wac_sign_ins_refused_total\\{cause="${cause}"\\} (\\d+)$`, "m").exec(text)?.[1] ?? 0)

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
  }).pipe(Effect.scoped))

it.live("a sign-in is in the audit even if the person hangs up once the session is opened", () =>
  Effect.gen(function*() {
    const people: People = { ada: { email: "ada@example.com", email_verified: true, wac_roles: "owner" } }
    const { headersOf, services, signIn, url } = yield* served(people)
    const [opened, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const store = Context.get(services, AuditStore.AuditStore)
    const { record } = store
    Object.assign(store, {
      record: (...given: Parameters<typeof record>) =>
        Deferred.succeed(opened, undefined).pipe(
          Effect.andThen(Deferred.await(released)),
          Effect.andThen(record(...given))
        )
    })
    const browser = new Browser()
    const place = yield* Effect.promise(() => atIssuer(browser, url, "ada"))
    const leaving = new AbortController()
    const left = browser.go(place, undefined, leaving.signal).catch(() => {})
    yield* Deferred.await(opened)
    leaving.abort()
    yield* Effect.promise(() => left)
    yield* noticed(url)
    yield* Deferred.succeed(released, undefined)
    Object.assign(store, { record })
    const { browser: later } = yield* signIn("ada")
    yield* checks.until(
      call(`${url}/internal/audit`, { headers: headersOf(later) }),
      ({ body }) => body.data.filter(({ action }: { action: string }) => action === "session.sign_in").length === 2
    )
  }).pipe(Effect.scoped))

it.live("a device is known when its browser comes back from the issuer, which is another site", () =>
  Effect.gen(function*() {
    const { signIn, url } = yield* served({
      ada: { email: "ada@example.com", email_verified: true, wac_roles: "owner" }
    })
    const { browser } = yield* signIn("ada")
    const callback = yield* Effect.promise(() => atIssuer(browser, url, "ada"))
    const cookie = browser.sentFromElsewhere()
    assert.include(cookie, `wac_device=${browser.cookie("wac_device")}`)
    const back = yield* Effect.promise(() => fetch(callback, { redirect: "manual", headers: { cookie } }))
    assert.strictEqual(back.status, 302)
    assert.include(back.headers.getSetCookie().join(), `wac_device=${browser.cookie("wac_device")}`)
  }).pipe(Effect.scoped))

it.live("a person without a role at the issuer, or without a verified address that is distinct, is refused", () =>
  Effect.gen(function*() {
    const people: People = {
      none: { email: "none@example.com", email_verified: true },
      odd: { email: "odd@example.com", email_verified: true, wac_roles: ["owner"] },
      nameless: { email_verified: true, wac_roles: "owner" },
      kelvin: { email: "\u212Aate@example.com", email_verified: true, wac_roles: "owner" }
    }
    for (const [i, verified] of [undefined, null, false, 0, 1, "false", "true", {}].entries()) {
      people[`unverified${i}`] = { email: "owner@example.com", email_verified: verified, wac_roles: "owner" }
    }
    const { signIn } = yield* served(people)
    for (const name of Object.keys(people)) {
      const refused = yield* signIn(name)
      assert.deepStrictEqual(refusalOf(refused), notAllowed, name)
      const cookies = refused.response.headers.getSetCookie()
      assert.deepStrictEqual(cookies.filter((cookie) => cookie.startsWith("wac_session=")), [])
    }
  }).pipe(Effect.scoped))

it.live("an address counts only with the statement beside it, where the ID token and the userinfo response disagree", () =>
  Effect.gen(function*() {
    const [own, others] = ["own@example.com", "others@example.com"]
    const people: People = {}
    const { signIn, who } = yield* served(people)
    const cases: ReadonlyArray<
      readonly [inToken: People[string]["inToken"], ofPerson: People[string]["inToken"], address: string | undefined]
    > = [
      [{ email: own, email_verified: true }, { email: others, email_verified: false }, own],
      [{ email: own, email_verified: true }, { email: others, email_verified: true }, own],
      [{ email: others }, { email: own, email_verified: true }, own],
      [{ email: others, email_verified: false }, { email: others, email_verified: true }, undefined],
      [{ email: others, email_verified: false }, { email: own, email_verified: true }, undefined],
      [{ email: others, email_verified: "true" }, { email: others, email_verified: true }, undefined],
      [{ email_verified: true }, { email: others, email_verified: false }, undefined],
      [{ email_verified: true }, { email: others }, undefined],
      [{ email: others }, { email_verified: true }, undefined],
      [{ email: others }, { email: others, email_verified: false }, undefined]
    ]
    for (const [n, [inToken, ofPerson, address]] of cases.entries()) {
      // a person of their own each, as an address counts at the first sign-in alone
      const distinct = (claims: typeof inToken) =>
        claims?.email === undefined ? claims : { ...claims, email: `${n}-${claims.email}` }
      people[`person${n}`] = { ...distinct(ofPerson), inToken: distinct(inToken)!, wac_roles: "member" }
      const returned = yield* signIn(`person${n}`)
      if (address === undefined) assert.deepStrictEqual(refusalOf(returned), notAllowed, String(n))
      else assert.strictEqual((yield* who(returned.browser)).body.email, `${n}-${address}`, String(n))
    }
  }).pipe(Effect.scoped))

it.live("a different person at the issuer never becomes the person of an address, whatever the issuer says of it", () =>
  Effect.gen(function*() {
    const people: People = {
      boss: { email: "boss@example.com", email_verified: true, wac_roles: "owner" },
      attacker: { email: "boss@example.com", email_verified: true, wac_roles: "member" }
    }
    const { headersOf, signIn, url, who } = yield* served(people)
    const boss = yield* signIn("boss")
    assert.deepStrictEqual(refusalOf(yield* signIn("attacker")), notAllowed)
    assert.deepInclude((yield* who(boss.browser)).body, { email: "boss@example.com", role: "owner" })
    // an account of their own stays theirs when their address becomes another person's
    people["attacker"]!.email = "attacker@example.com"
    const attacker = yield* signIn("attacker")
    people["attacker"]!.email = "boss@example.com"
    const again = yield* signIn("attacker")
    yield* signIn("boss")
    for (const { browser } of [attacker, again]) {
      assert.deepInclude((yield* who(browser)).body, { email: "attacker@example.com", role: "member" })
      const list = yield* call(`${url}/internal/members`, { headers: headersOf(browser) })
      checks.assertError(list, 403, { code: "forbidden", reason: "role_not_allowed" })
    }
  }).pipe(Effect.scoped))

it.live("a person who was recognized once needs no address at later sign-ins", () =>
  Effect.gen(function*() {
    const people: People = { ada: { email: "ada@example.com", email_verified: true, wac_roles: "admin" } }
    const { signIn, who } = yield* served(people)
    const first = yield* signIn("ada")
    people["ada"] = { wac_roles: "admin" }
    const second = yield* signIn("ada")
    assert.deepStrictEqual((yield* who(second.browser)).body, (yield* who(first.browser)).body)
  }).pipe(Effect.scoped))

it.live("a session never has a higher role than its own sign-in brought", () =>
  Effect.gen(function*() {
    const people: People = { ada: { email: "ada@example.com", email_verified: true, wac_roles: "admin" } }
    const { headersOf, signIn, url, who } = yield* served(people)
    const first = yield* signIn("ada")
    people["ada"]!.wac_roles = "owner"
    const second = yield* signIn("ada")
    assert.strictEqual((yield* who(first.browser)).body.role, "admin")
    const { body } = yield* who(second.browser)
    assert.strictEqual(body.role, "owner")
    const workspaces = yield* call(`${url}/internal/workspaces`, { headers: headersOf(first.browser) })
    assert.deepStrictEqual(workspaces.body.data.map(({ role }: { role: string }) => role), ["admin"])
    // nor may it do what only the present role of the person allows
    const change = yield* call(`${url}/internal/members/${body.userId}`, {
      method: "PATCH",
      headers: headersOf(first.browser),
      body: { role: "admin" }
    })
    checks.assertError(change, 403, { code: "forbidden", reason: "role_not_allowed" })
  }).pipe(Effect.scoped))

it.live("a new sign-in opens the workspace of the browser's session, if it is of the same person and its role is left", () =>
  Effect.gen(function*() {
    const people: People = {
      ada: { email: "ada@example.com", email_verified: true, wac_roles: "admin" },
      ben: { email: "ben@example.com", email_verified: true }
    }
    const { headersOf, services, signIn, url, who } = yield* served(people)
    const { browser } = yield* signIn("ada")
    const first: string = (yield* who(browser)).body.workspaceId
    const { id: second } = yield* checks.anotherWorkspace("Porto Flowers", "+15005550199").pipe(
      Effect.provideContext(services)
    )
    people["ada"]!.wac_roles = { [first]: "admin", [second]: "admin" }
    people["ben"]!.wac_roles = { [first]: "admin", [second]: "admin" }
    const shown = Effect.map(Effect.suspend(() => who(browser)), ({ body }) => [body.email, body.workspaceId])
    yield* signIn("ada", browser)
    assert.deepStrictEqual(yield* shown, ["ada@example.com", first])
    const moveToSecond = Effect.gen(function*() {
      const headers = headersOf(browser)
      const moved = yield* call(`${url}/internal/session/workspace`, { headers, body: { workspaceId: second } })
      assert.strictEqual(moved.status, 200, moved.text)
    })
    yield* moveToSecond
    yield* signIn("ada", browser, "?fresh=true")
    assert.deepStrictEqual(yield* shown, ["ada@example.com", second])
    // an issuer that knows Ada would not ask for Ben
    const others = new Browser()
    others.plant("wac_session", browser.cookie("wac_session")!)
    yield* signIn("ben", others)
    assert.deepInclude((yield* who(others)).body, { email: "ben@example.com", workspaceId: first })
    yield* signIn("ada", browser)
    yield* moveToSecond
    people["ada"]!.wac_roles = { [first]: "admin" }
    yield* signIn("ada", browser)
    assert.deepStrictEqual(yield* shown, ["ada@example.com", first])
  }).pipe(Effect.scoped, Effect.orDie))

it.live("a sign-in opens the workspace that its link names, if the person has a role there", () =>
  Effect.gen(function*() {
    const people: People = { ada: { email: "ada@example.com", email_verified: true, wac_roles: "admin" } }
    const { services, signIn, who } = yield* served(people)
    const first: string = (yield* who((yield* signIn("ada")).browser)).body.workspaceId
    const { id: second } = yield* checks.anotherWorkspace("Porto Flowers", "+15005550199").pipe(
      Effect.provideContext(services)
    )
    people["ada"]!.wac_roles = { [first]: "admin", [second]: "admin" }
    for (
      const [named, opened] of [[second, second], [first, first], [`ws_${checks.nobody}`, first], ["second", first]]
    ) {
      const { browser } = yield* signIn("ada", new Browser(), `?workspace=${named}`)
      assert.strictEqual((yield* who(browser)).body.workspaceId, opened, named)
    }
    people["ada"]!.wac_roles = { [first]: "admin" }
    const { browser } = yield* signIn("ada", new Browser(), `?workspace=${second}`)
    assert.strictEqual((yield* who(browser)).body.workspaceId, first)
  }).pipe(Effect.scoped, Effect.orDie))

it.live("a sign-in that is refused because no role is left ends the person's sessions", () =>
  Effect.gen(function*() {
    const people: People = { ada: { email: "ada@example.com", email_verified: true, wac_roles: "admin" } }
    const { signIn, who } = yield* served(people)
    const [one, other] = [yield* signIn("ada"), yield* signIn("ada")]
    people["ada"] = { email: "ada@example.com" }
    assert.deepStrictEqual(refusalOf(yield* signIn("ada")), notAllowed)
    for (const { browser } of [one, other]) {
      checks.assertError(yield* who(browser), 401, { code: "unauthorized", reason: "missing_session" })
    }
    people["ada"]!.wac_roles = "member"
    yield* signIn("ada")
    checks.assertError(yield* who(one.browser), 401, { code: "unauthorized", reason: "missing_session" })
  }).pipe(Effect.scoped))

it.live("a person to whom the issuer assigns no role any more gets no alert mails of the workspace any more", () =>
  Effect.gen(function*() {
    const people: People = {
      boss: { email: "boss@example.com", email_verified: true, wac_roles: "owner" },
      ada: { email: "ada@example.com", email_verified: true, wac_roles: "admin" }
    }
    const { headersOf, signIn, url } = yield* served(people)
    const headers = headersOf((yield* signIn("boss")).browser)
    yield* signIn("ada")
    const set = yield* call(`${url}/internal/alerts/settings`, {
      method: "PUT",
      headers,
      body: { emails: ["ada@example.com", "boss@example.com"], url: null }
    })
    assert.strictEqual(set.status, 200, set.text)
    people["ada"] = { email: "ada@example.com", email_verified: true }
    assert.deepStrictEqual(refusalOf(yield* signIn("ada")), notAllowed)
    const { body } = yield* call(`${url}/internal/alerts/settings`, { headers })
    assert.deepStrictEqual(body.emails, ["boss@example.com"])
  }).pipe(Effect.scoped))

it.live("a refused sign-in at the issuer is counted by cause, and is in the audit of the workspaces of the account that it concerns", () =>
  Effect.gen(function*() {
    const people: People = {
      boss: { email: "boss@example.com", email_verified: true, wac_roles: "owner" },
      ada: { email: "ada@example.com", email_verified: true, wac_roles: "admin" },
      attacker: { email: "boss@example.com", email_verified: true, wac_roles: "owner" },
      stranger: { email: "stranger@example.com", email_verified: true },
      nameless: { email_verified: true, wac_roles: "owner" }
    }
    const { headersOf, issuerUrl, signIn, url, who } = yield* served(people)
    const [boss, ada] = [yield* signIn("boss"), yield* signIn("ada")]
    const [bossId, adaId] = [(yield* who(boss.browser)).body.userId, (yield* who(ada.browser)).body.userId]
    people["ada"] = { email: "ada@example.com", email_verified: true }
    // without a role the second time, of which no workspace is left to tell
    for (const name of ["attacker", "ada", "ada", "stranger", "nameless"]) {
      assert.deepStrictEqual(refusalOf(yield* signIn(name)), notAllowed, name)
    }
    const forged = yield* call(`${url}/internal/oidc/callback?code=x&state=y&iss=${issuerUrl}`)
    assert.strictEqual(forged.status, 401)
    const entries = yield* checks.until(
      Effect.map(
        call(`${url}/internal/audit?limit=100`, { headers: headersOf(boss.browser) }),
        ({ body }) =>
          (body.data as ReadonlyArray<{ readonly [field: string]: unknown }>).filter(({ action }) =>
            action === "session.refuse"
          )
      ),
      (found) => found.length >= 2
    )
    assert.sameDeepMembers(
      entries.map(({ by, detail, target }) => ({ by, detail, target })),
      [[bossId, "boss@example.com"], [adaId, "ada@example.com"]].map(([userId, email]) => ({
        by: { userId, email },
        detail: { cause: "role_not_allowed" },
        target: userId
      }))
    )
    for (const { address, requestId } of entries) {
      assert.strictEqual(address, "127.0.0.1")
      assert.match(String(requestId), checks.idShape("req"))
    }
    const { text } = yield* call(`${url}/metrics`)
    assert.deepStrictEqual([refusedIn(text, "role_not_allowed"), refusedIn(text, "invalid_credentials")], [5, 1])
  }).pipe(Effect.scoped))

it.live("the state of a sign-in is accepted only as the service gave it out, so no request reaches the issuer", () =>
  Effect.gen(function*() {
    const { issuerUrl, tokenRequests, url } = yield* served({})
    const browser = new Browser()
    yield* Effect.promise(() => browser.go(`${url}/internal/oidc/sign-in`))
    const kept = browser.cookie("wac_oidc")!
    const forged = { state: "s", nonce: "n", codeVerifier: "v".repeat(43), page: "https://evil.example", until: 9e15 }
    const values = [
      encodeURIComponent(JSON.stringify(forged)),
      `${Buffer.from(JSON.stringify(forged)).toString("base64url")}.${"0".repeat(64)}`,
      kept.replace(/^./, (first) => first === "A" ? "B" : "A"),
      kept.replace(/.$/, (last) => last === "0" ? "1" : "0"),
      kept.split(".")[0]!
    ]
    for (const value of values) {
      const answer = yield* call(`${url}/internal/oidc/callback?code=x&state=s&iss=${issuerUrl}`, {
        headers: { cookie: `wac_oidc=${value}` }
      })
      checks.assertError(answer, 401, { code: "unauthorized", reason: "invalid_credentials" })
    }
    assert.strictEqual(tokenRequests.count, 0)
  }).pipe(Effect.scoped))

it.live("callbacks are limited per address as sign-ins are, and a sign-in that succeeds does not count", () =>
  Effect.gen(function*() {
    const people: People = { ada: { email: "ada@example.com", email_verified: true, wac_roles: "admin" } }
    const { issuerUrl, signIn, tokenRequests, url } = yield* served(people)
    assert.strictEqual((yield* signIn("ada")).response.status, 302)
    tokenRequests.count = 0
    const browser = new Browser()
    const begun = yield* Effect.promise(() => browser.go(`${url}/internal/oidc/sign-in`))
    const state = new URL(begun.headers.get("location")!).searchParams.get("state")!
    const statuses: Array<number> = []
    for (let i = 0; i < 60; i++) {
      const answer = yield* call(`${url}/internal/oidc/callback?code=${i}&state=${state}&iss=${issuerUrl}`, {
        headers: { cookie: `wac_oidc=${browser.cookie("wac_oidc")}` }
      })
      statuses.push(answer.status)
    }
    assert.deepStrictEqual(statuses.slice(0, 50), Array.from({ length: 50 }, () => 401))
    assert.strictEqual(statuses.at(-1), 429)
    // one token returns in six seconds, however long the test takes
    assert.strictEqual(tokenRequests.count, statuses.filter((status) => status === 401).length)
  }).pipe(Effect.scoped))

it.live("a person returns to the page of the dashboard that they asked for, and to no other site", () =>
  Effect.gen(function*() {
    const { url } = yield* served({ ada: { email: "ada@example.com", email_verified: true, wac_roles: "admin" } })
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

it.live("the page is checked again at the return, even in a state that the service has sealed", () =>
  Effect.gen(function*() {
    const { services, url } = yield* served({
      ada: { email: "ada@example.com", email_verified: true, wac_roles: "admin" }
    })
    const vault = Context.get(services, Vault.Vault)
    for (const page of ["https://evil.example/dashboard/", "//evil.example/dashboard/", "/internal/session"]) {
      const browser = new Browser()
      const callback = yield* Effect.promise(() => atIssuer(browser, url, "ada"))
      const state = yield* IssuerState.open(vault, browser.cookie("wac_oidc")!, checks.now())
      browser.plant("wac_oidc", yield* IssuerState.seal(vault, { ...state!, page }))
      const returned = yield* Effect.promise(() => browser.go(callback))
      assert.deepStrictEqual([returned.status, returned.headers.get("location")], [302, "/dashboard"], page)
    }
  }).pipe(Effect.scoped))

it.live("a forged or repeated callback, or one from a different browser, signs nobody in", () =>
  Effect.gen(function*() {
    const { url } = yield* served({ ada: { email: "ada@example.com", email_verified: true, wac_roles: "owner" } })
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
    const { services, signIn, url } = yield* served({
      ada: { email: "ada@example.com", email_verified: true, wac_roles: "owner" }
    })
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
        ["POST", "/internal/invitations/show", { token }],
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
    for (const cookie of ["%", "%zz", "%00", "{}", "null", "e30.", encodeURIComponent("{\"state\":1}")]) {
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

/** A response of a token endpoint with this status and body. */
const responding = (status: number, body: string, headers: OutgoingHttpHeaders = {}) => (response: ServerResponse) =>
  void response.writeHead(status, { "content-type": "application/json", ...headers }).end(body)

const invalidClient = JSON.stringify({ error: "invalid_client", error_description: "the secret is s3cret" })

const faults: ReadonlyArray<readonly [code: string, instead: (response: ServerResponse) => void]> = [
  ["OAUTH_RESPONSE_IS_NOT_CONFORM", responding(503, "out of order")],
  ["OAUTH_RESPONSE_IS_NOT_JSON", responding(200, "<p>out of order", { "content-type": "text/html" })],
  ["OAUTH_PARSE_ERROR", responding(200, "{")],
  ["invalid_client", responding(400, invalidClient)],
  ["OAUTH_WWW_AUTHENTICATE_CHALLENGE", responding(401, invalidClient, { "www-authenticate": "Basic realm=x" })],
  ["UND_ERR_SOCKET", ({ socket }) => void socket!.destroy()],
  ["unknown", responding(400, JSON.stringify({ error: `"of its own"\n${"x".repeat(100)}` }))]
]

it.live(
  "a broken issuer and a wrong client secret are reported as provider_unavailable and logged once, and count as no failed sign-in",
  () =>
    logged((lines) =>
      Effect.gen(function*() {
        const people: People = { ada: { email: "ada@example.com", email_verified: true, wac_roles: "owner" } }
        const { issuerUrl, signIn, tokenEndpoint, url } = yield* served(people, { LOG_LEVEL: "warn" })
        const warnings = () => lines().filter((line) => line.includes("issuer"))
        for (const [i, [code, instead]] of faults.entries()) {
          tokenEndpoint.instead = instead
          assert.deepStrictEqual(refusalOf(yield* signIn("ada")), [502, "provider_unavailable"], code)
          assert.strictEqual(warnings().length, i + 1, code)
          assert.include(warnings()[i], `: ${code}`)
        }
        const browser = new Browser()
        const begun = yield* Effect.promise(() => browser.go(`${url}/internal/oidc/sign-in`))
        const state = new URL(begun.headers.get("location")!).searchParams.get("state")!
        const returned = (query: string) =>
          call(`${url}/internal/oidc/callback?${query}&state=${state}&iss=${issuerUrl}`, {
            headers: { cookie: `wac_oidc=${browser.cookie("wac_oidc")}` }
          })
        // more than an address may fail
        for (let i = 0; i < 60; i++) {
          checks.assertError(yield* returned("error=temporarily_unavailable"), 502, {
            code: "server_error",
            reason: "provider_unavailable"
          })
        }
        assert.strictEqual(refusedIn((yield* call(`${url}/metrics`)).text, "invalid_credentials"), 0)
        for (const error of ["access_denied", "login_required"]) {
          checks.assertError(yield* returned(`error=${error}`), 401, {
            code: "unauthorized",
            reason: "invalid_credentials"
          })
        }
        assert.strictEqual(refusedIn((yield* call(`${url}/metrics`)).text, "invalid_credentials"), 2)
        assert.strictEqual(warnings().length, faults.length + 60)
        for (const secret of ["out of order", "s3cret", "xxx", environmentFor("").OIDC_CLIENT_SECRET]) {
          assert.notInclude(lines().join("\n"), secret)
        }
        tokenEndpoint.instead = undefined
        assert.strictEqual((yield* signIn("ada")).response.status, 302)
      }).pipe(Effect.scoped)
    ),
  60_000
)

it("an issuer that takes too long, or whose responses cannot be read, has refused nobody", () => {
  const failed = (code: string | undefined) => isRefusal(Object.assign(new ClientError("x"), { code }))
  for (const code of ["OAUTH_TIMEOUT", "OAUTH_ABORT", "OAUTH_RESPONSE_IS_NOT_CONFORM", undefined]) {
    assert.isFalse(failed(code), code)
  }
  // of a return that does not belong to the sign-in, such as with another state
  for (const code of ["OAUTH_INVALID_RESPONSE", "OAUTH_JWT_CLAIM_COMPARISON_FAILED"]) assert.isTrue(failed(code), code)
})

it.live("a fresh session needs a new proof at the issuer, whose time counts", () =>
  Effect.gen(function*() {
    const people: People = { ada: { email: "ada@example.com", email_verified: true, wac_roles: "owner" } }
    const { headersOf, pass, signIn, url } = yield* served(people)
    const asked = Effect.fnUntraced(function*(query: string) {
      const { headers } = yield* Effect.promise(() => new Browser().go(`${url}/internal/oidc/sign-in${query}`))
      const { searchParams } = new URL(headers.get("location")!)
      return [searchParams.get("prompt"), searchParams.get("max_age")]
    })
    assert.deepStrictEqual(yield* asked(""), [null, null])
    assert.deepStrictEqual(yield* asked("?fresh=true"), ["login", "0"])
    const createKey = (browser: Browser, key: string) =>
      call(`${url}/internal/api-keys`, {
        headers: { ...headersOf(browser), "idempotency-key": key },
        body: { name: "a key" }
      })
    const { browser } = yield* signIn("ada")
    assert.strictEqual((yield* createKey(browser, "1")).status, 201)
    assert.strictEqual((yield* signIn("ada", browser, "?fresh=true")).response.status, 302)
    assert.strictEqual((yield* createKey(browser, "2")).status, 201)
    // there are no passwords to confirm
    const confirmed = yield* call(`${url}/internal/session/confirm`, {
      headers: headersOf(browser),
      body: { password: "x" }
    })
    assert.strictEqual(confirmed.status, 404)
    // to the service, what the issuer has just seen is now ten minutes old
    yield* pass("10 minutes")
    const notFresh = { code: "forbidden", reason: "fresh_session_required" }
    const stale = yield* createKey(browser, "3")
    checks.assertError(stale, 403, notFresh)
    assert.include(stale.body.error.message, "/internal/oidc/sign-in?fresh=true")
    assert.notInclude(stale.body.error.message, "/internal/session/confirm")
    assert.strictEqual((yield* signIn("ada", browser)).response.status, 302)
    checks.assertError(yield* createKey(browser, "4"), 403, notFresh)
    const refused = yield* signIn("ada", new Browser(), "?fresh=true")
    assert.deepStrictEqual(refusalOf(refused), [401, "invalid_credentials"])
  }).pipe(Effect.scoped))
