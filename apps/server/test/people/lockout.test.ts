/**
 * Strangers who guess passwords limit themselves, not the person whom a session, a link or a device proves (contract
 * §5).
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { MemberStore, Password, Portals } from "@wac/core"
import { Context, Duration, Effect, Layer, Option, Redacted } from "effect"
import * as checks from "../checks.ts"
import { type Answer, call, environment, ownPage, ready } from "../harness.ts"
import { accept, cookieOf, type Headers, invite, join, password, renewedBy, show } from "./joining.ts"
import { mailbox, tokenIn } from "./mailbox.ts"

const owner = { email: environment.WAC_OWNER_EMAIL, password: environment.WAC_OWNER_PASSWORD }
const tooManyFailures = { code: "rate_limited", reason: "login" }

const attempt = (url: string, body: { readonly email: string; readonly password: string }, device?: string) =>
  call(`${url}/internal/session`, {
    headers: { ...ownPage, ...(device === undefined ? {} : { cookie: device }) },
    body
  })

/** The device cookie that an answer set. */
const deviceOf = (answer: Answer): string =>
  answer.headers.getSetCookie().find((cookie) => cookie.startsWith("wac_device="))!.split(";")[0]!

/** Guesses until an account is locked on new devices. */
const lock = Effect.fnUntraced(function*(url: string, email: string) {
  const guesses = Array.from({ length: 11 }, () => attempt(url, { email, password: "a wrong guess" }))
  const answers = yield* Effect.all(guesses, { concurrency: 11 })
  assert.strictEqual(answers.filter(({ status }) => status === 429).length, 1)
})

describe.concurrent("while strangers guess a password", () => {
  it.live("a signed-in person can change it, and their device signs in with the new one, as do new devices", () =>
    Effect.gen(function*() {
      const { session, url } = yield* ready({ environment: checks.unlimited })
      const device = deviceOf(yield* attempt(url, owner))
      yield* lock(url, owner.email)
      checks.assertError(yield* attempt(url, owner), 429, tooManyFailures)
      let headers: Headers = session
      const change = (current: string) =>
        Effect.tap(
          Effect.suspend(() =>
            call(`${url}/internal/password`, {
              method: "PUT",
              headers: { ...headers, cookie: `${headers["cookie"]}; ${device}` },
              body: { current, new: password }
            })
          ),
          (answer) => Effect.sync(() => void (headers = renewedBy(answer, headers)))
        )
      const changed = yield* change(owner.password)
      assert.strictEqual(changed.status, 204, changed.text)
      assert.strictEqual(deviceOf(changed), device)
      assert.strictEqual((yield* attempt(url, { ...owner, password })).status, 200)
      yield* lock(url, owner.email)
      assert.strictEqual((yield* attempt(url, { ...owner, password }, device)).status, 200)
      // a stolen session has as many guesses as a stranger
      const answers = yield* Effect.all(Array.from({ length: 11 }, () => change("a wrong guess")))
      assert.deepStrictEqual(answers.map(({ status }) => status), [...Array(10).fill(401), 429])
    }).pipe(Effect.scoped))

  it.live("a mailed link resets it, and the device that used the link signs in", () =>
    Effect.gen(function*() {
      const mail = yield* mailbox
      const { url } = yield* ready({ environment: { ...checks.unlimited, SMTP_URL: mail.url } })
      yield* lock(url, owner.email)
      yield* call(`${url}/internal/password/reset-request`, { headers: ownPage, body: { email: owner.email } })
      const { text } = yield* mail.to(owner.email)
      const reset = yield* call(`${url}/internal/password/reset`, {
        headers: ownPage,
        body: { token: tokenIn(text), password }
      })
      assert.strictEqual(reset.status, 204, reset.text)
      yield* lock(url, owner.email)
      checks.assertError(yield* attempt(url, { ...owner, password }), 429, tooManyFailures)
      assert.strictEqual((yield* attempt(url, { ...owner, password }, deviceOf(reset))).status, 200)
    }).pipe(Effect.scoped))

  it.live("an operator's reset lets the person sign in, on a new device too", () =>
    Effect.gen(function*() {
      const { services, url } = yield* ready({ environment: checks.unlimited })
      yield* lock(url, owner.email)
      const members = Context.get(services, MemberStore.MemberStore)
      const { person } = Option.getOrThrow(yield* Effect.orDie(members.findByEmail(owner.email)))
      const hash = yield* Password.Passwords.use((passwords) =>
        passwords.choose(Redacted.make(password), { email: owner.email, param: "password" })
      ).pipe(
        Effect.provide(Layer.provide(Password.Passwords.layer, NodeCrypto.layer))
      )
      yield* Effect.orDie(members.setPassword(person.userId, hash))
      assert.strictEqual((yield* attempt(url, { ...owner, password })).status, 200)
    }).pipe(Effect.scoped))

  it.live("a person with an account accepts an invitation with it, whose wrong passwords are limited separately", () =>
    Effect.gen(function*() {
      const { services, session, url } = yield* ready({ environment: checks.unlimited })
      yield* join(url, session, "ben@example.com", "member")
      const other = yield* checks.anotherWorkspace("other", "+15005550102").pipe(Effect.provideContext(services))
      const token = yield* checks.invited(services, other.id, "ben@example.com", "member")
      yield* lock(url, "ben@example.com")
      const wrong = yield* Effect.all(Array.from({ length: 9 }, () => accept(url, token, "a wrong guess")))
      assert.deepStrictEqual(wrong.map(({ status }) => status), Array(9).fill(401))
      assert.strictEqual((yield* accept(url, token, password)).status, 200)
    }).pipe(Effect.scoped))
})

it.live("links that are valid work, however many failures their client's address has", () =>
  Effect.gen(function*() {
    const mail = yield* mailbox
    const { services, session, url } = yield* ready({ environment: { ...checks.unlimited, SMTP_URL: mail.url } })
    const reset = (token: string) =>
      call(`${url}/internal/password/reset`, { headers: ownPage, body: { token, password } })
    const invited = yield* invite(url, session, "ben@example.com", "admin")
    yield* call(`${url}/internal/password/reset-request`, { headers: ownPage, body: { email: owner.email } })
    const { text } = yield* mail.to(owner.email)
    const portals = Context.get(services, Portals.Portals)
    const { body: { workspaceId } } = yield* call(`${url}/internal/session`, { headers: session })
    const link = yield* Effect.orDie(
      portals.link({ workspaceId, role: "member", visitor: "ana", lifetime: Duration.hours(1) })
    )
    for (
      const wrong of [
        (i: number) => reset(`${i}`.padStart(32, "0")),
        (i: number) => accept(url, `${i}`, password),
        (i: number) => show(url, `${i}`)
      ]
    ) {
      const answers = yield* Effect.all(Array.from({ length: 60 }, (_, i) => wrong(i)), { concurrency: 10 })
      assert.isAbove(answers.filter(({ status }) => status === 429).length, 4)
    }
    assert.strictEqual((yield* show(url, tokenIn(invited.body.inviteUrl))).status, 200)
    const accepted = yield* accept(url, tokenIn(invited.body.inviteUrl), password)
    assert.strictEqual(accepted.status, 200, accepted.text)
    assert.strictEqual((yield* call(`${url}/internal/session`, { headers: cookieOf(accepted) })).status, 200)
    assert.strictEqual((yield* reset(tokenIn(text))).status, 204)
    yield* Effect.orDie(portals.open(link.token, "127.0.0.1"))
  }).pipe(Effect.scoped))

describe.concurrent("refused sign-ins", () => {
  const refusals = (url: string, session: { readonly [name: string]: string }) =>
    Effect.map(
      call(`${url}/internal/audit?limit=100`, { headers: session }),
      ({ body }) =>
        (body.data as ReadonlyArray<{ readonly [field: string]: unknown }>).filter(({ action }) =>
          action === "session.refuse"
        )
    )
  const countOf = (text: string, cause: string): number =>
    Number(new RegExp(`^wac_sign_ins_refused_total\\{cause="${cause}"\\} (\\d+)$`, "m").exec(text)?.[1])

  it.live("failed sign-ins are counted by cause, and are in the audit of the account's workspaces, without the password", () =>
    Effect.gen(function*() {
      const { session, url } = yield* ready({ environment: checks.unlimited })
      const metrics = Effect.map(call(`${url}/metrics`), ({ text }) => text)
      const before = yield* metrics
      for (const cause of ["invalid_credentials", "login", "role_not_allowed"]) {
        assert.strictEqual(countOf(before, cause), 0, cause)
      }
      yield* attempt(url, { email: "nobody@example.com", password: "a wrong guess" })
      yield* lock(url, owner.email)
      const entries = yield* checks.until(refusals(url, session), (found) => found.length === 11)
      const { body: { userId } } = yield* call(`${url}/internal/session`, { headers: session })
      const causes = entries.map(({ detail }) => (detail as { readonly cause: string }).cause)
      assert.sameMembers(causes, ["login", ...Array(10).fill("invalid_credentials")])
      for (const { address, by, requestId, target } of entries) {
        assert.deepStrictEqual([by, target, address], [{ userId, email: owner.email }, userId, "127.0.0.1"])
        assert.match(String(requestId), checks.idShape("req"))
      }
      assert.notInclude(JSON.stringify(entries), "guess")
      const after = yield* metrics
      assert.deepStrictEqual([countOf(after, "invalid_credentials"), countOf(after, "login")], [11, 1])
    }).pipe(Effect.scoped))

  it.live("a password refused with an invitation is counted and in the audit of the account's workspaces, a refused token is not", () =>
    Effect.gen(function*() {
      const { services, session, url } = yield* ready({ environment: checks.unlimited })
      const { id } = yield* join(url, session, "ben@example.com", "member")
      const other = yield* checks.anotherWorkspace("other", "+15005550102").pipe(Effect.provideContext(services))
      const token = yield* checks.invited(services, other.id, "ben@example.com", "member")
      const unknown = yield* checks.invited(services, other.id, "nobody@example.com", "member")
      yield* accept(url, "0".repeat(32), "a wrong guess")
      assert.strictEqual((yield* accept(url, unknown)).status, 400)
      for (let i = 0; i < 11; i++) yield* accept(url, token, "a wrong guess")
      const entries = yield* checks.until(refusals(url, session), (found) => found.length === 11)
      const causes = entries.map(({ detail }) => (detail as { readonly cause: string }).cause)
      assert.sameMembers(causes, ["login", ...Array(10).fill("invalid_credentials")])
      for (const { by, target } of entries) {
        assert.deepStrictEqual([by, target], [{ userId: id, email: "ben@example.com" }, id])
      }
      assert.notInclude(JSON.stringify(entries), "guess")
      const { text } = yield* call(`${url}/metrics`)
      assert.deepStrictEqual([countOf(text, "invalid_credentials"), countOf(text, "login")], [10, 1])
    }).pipe(Effect.scoped))

  it.live("fill the audit no further than twenty of a cause at once, and all are counted", () =>
    Effect.gen(function*() {
      const { session, url } = yield* ready({ environment: checks.unlimited })
      yield* lock(url, owner.email)
      for (let i = 0; i < 30; i++) yield* attempt(url, { email: owner.email, password: "a wrong guess" })
      yield* checks.until(
        Effect.map(call(`${url}/metrics`), ({ text }) => countOf(text, "login")),
        (count) => count === 31
      )
      const entries = yield* checks.until(refusals(url, session), (found) => found.length >= 30)
      assert.lengthOf(entries, 30)
    }).pipe(Effect.scoped))
})
