/**
 * The second factor of a sign-in (contract §17).
 */
import { assert, describe, it } from "@effect/vitest"
import { FactorStore, Id, MemberStore } from "@wac/core"
import { Context, Effect, Option } from "effect"
import * as checks from "../checks.ts"
import { type Answer, call, environment, ownPage, ready } from "../harness.ts"
import { still } from "../movable.ts"
import { enrol } from "./enrolment.ts"
import { accept, cookieOf, type Headers, invite, join, password, renewedBy } from "./joining.ts"
import { mailbox, tokenIn } from "./mailbox.ts"

const owner = { email: environment.WAC_OWNER_EMAIL, password: environment.WAC_OWNER_PASSWORD }

const wrongCode = { code: "unauthorized", reason: "invalid_code", param: "code" }
const ended = { code: "unauthorized", reason: "challenge_ended", param: "challenge" }

const signIn = (url: string, person: { readonly email: string; readonly password: string }, headers: Headers = {}) =>
  call(`${url}/internal/session`, { headers: { ...ownPage, ...headers }, body: person })

const end = (url: string, challenge: string, code: string, headers: Headers = {}) =>
  call(`${url}/internal/session/factor`, { headers: { ...ownPage, ...headers }, body: { challenge, code } })

/** The challenge of a sign-in whose password is right. */
const challengeOf = (answer: Answer): string => {
  const challenge = answer.body.error?.challenge
  checks.assertError(answer, 401, { code: "unauthorized", reason: "second_factor_required", challenge })
  assert.match(challenge, /^[0-9A-Za-z]{43}$/)
  return challenge
}

/** The device cookie that an answer set. */
const deviceOf = (answer: Answer): string =>
  answer.headers.getSetCookie().find((cookie) => cookie.startsWith("wac_device="))!.split(";")[0]!

const challenged = (url: string, person: { readonly email: string; readonly password: string } = owner) =>
  Effect.map(signIn(url, person), challengeOf)

const server = (environment: { readonly [name: string]: string } = {}) =>
  still(ready({ environment: { ...checks.unlimited, ...environment } }))

describe.concurrent("a second factor", () => {
  it.live("a sign-in needs a code once the factor is on, and the right password alone opens no session", () =>
    Effect.gen(function*() {
      const { clock, pass, session, url } = yield* server()
      const status = Effect.map(call(`${url}/internal/factor`, { headers: session }), ({ body }) => body)
      assert.deepStrictEqual(yield* status, { isOn: false, hasApp: false, passkeys: [], recoveryCodesLeft: 0 })
      const { code, recoveryCodes, uri } = yield* enrol(url, session, clock)
      assert.match(uri, /^otpauth:\/\/totp\/wac:/)
      assert.strictEqual(new Set(recoveryCodes).size, 10)
      assert.deepStrictEqual(yield* status, { isOn: true, hasApp: true, passkeys: [], recoveryCodesLeft: 10 })
      const wrongPassword = yield* signIn(url, { ...owner, password: "a wrong guess" })
      checks.assertError(wrongPassword, 401, { code: "unauthorized", reason: "invalid_credentials" })
      assert.notProperty(wrongPassword.body.error, "challenge")
      yield* pass("1 minute")
      const refused = yield* signIn(url, owner)
      assert.deepStrictEqual(refused.headers.getSetCookie(), [])
      const challenge = challengeOf(refused)
      checks.assertError(yield* end(url, challenge, "000000"), 401, wrongCode)
      const signedIn = yield* end(url, challenge, code())
      assert.strictEqual(signedIn.status, 200, signedIn.text)
      assert.strictEqual(signedIn.body.email, owner.email)
      assert.strictEqual((yield* call(`${url}/internal/session`, { headers: cookieOf(signedIn) })).status, 200)
      const { body } = yield* call(`${url}/internal/audit`, { headers: session })
      const actions = body.data.map(({ action, detail }: { action: string; detail: unknown }) => ({ action, detail }))
      assert.deepInclude(actions, { action: "factor.enable", detail: null })
      assert.deepInclude(actions, { action: "session.refuse", detail: { cause: "invalid_code" } })
      assert.notDeepInclude(actions, { action: "session.refuse", detail: { cause: "second_factor_required" } })
    }).pipe(Effect.scoped))

  it.live("a code is right for one step before and after its own, and is used once, also by concurrent sign-ins", () =>
    Effect.gen(function*() {
      const { clock, pass, session, url } = yield* server()
      const { code } = yield* enrol(url, session, clock)
      const attempt = (code: string) => Effect.flatMap(challenged(url), (challenge) => end(url, challenge, code))
      // used to switch the factor on
      checks.assertError(yield* attempt(code()), 401, wrongCode)
      yield* pass("3 minutes")
      checks.assertError(yield* attempt(code(2)), 401, wrongCode)
      checks.assertError(yield* attempt(code(-2)), 401, wrongCode)
      assert.strictEqual((yield* attempt(code(-1))).status, 200)
      const both = yield* Effect.all([attempt(code()), attempt(code()), attempt(code())], { concurrency: "unbounded" })
      assert.sameMembers(both.map(({ status }) => status), [200, 401, 401])
      assert.strictEqual((yield* attempt(code(1))).status, 200)
      // of a step before one that was used
      checks.assertError(yield* attempt(code()), 401, wrongCode)
    }).pipe(Effect.scoped))

  it.live("a recovery code ends a sign-in once, however it is typed", () =>
    Effect.gen(function*() {
      const { clock, session, url } = yield* server()
      const { recoveryCodes: [first, second] } = yield* enrol(url, session, clock)
      assert.strictEqual((yield* end(url, yield* challenged(url), first!)).status, 200)
      checks.assertError(yield* end(url, yield* challenged(url), first!), 401, wrongCode)
      const typed = ` ${second!.toUpperCase().replaceAll("-", " ")}`
      assert.strictEqual((yield* end(url, yield* challenged(url), typed)).status, 200)
      const { body } = yield* call(`${url}/internal/factor`, { headers: session })
      assert.deepStrictEqual(body, { isOn: true, hasApp: true, passkeys: [], recoveryCodesLeft: 8 })
    }).pipe(Effect.scoped))

  it.live("new recovery codes end those of before, and are asked for in a session that is fresh", () =>
    Effect.gen(function*() {
      const { clock, pass, session, url } = yield* server()
      const renew = call(`${url}/internal/factor/recovery-codes`, { method: "PUT", headers: session })
      checks.assertError(yield* renew, 404, { code: "not_found" })
      const { recoveryCodes: [old] } = yield* enrol(url, session, clock)
      const renewed = yield* renew
      assert.strictEqual(renewed.status, 200, renewed.text)
      const { recoveryCodes } = renewed.body
      assert.strictEqual(new Set(recoveryCodes).size, 10)
      checks.assertError(yield* end(url, yield* challenged(url), old!), 401, wrongCode)
      assert.strictEqual((yield* end(url, yield* challenged(url), recoveryCodes[0])).status, 200)
      const { body } = yield* call(`${url}/internal/factor`, { headers: session })
      assert.deepStrictEqual(body, { isOn: true, hasApp: true, passkeys: [], recoveryCodesLeft: 9 })
      const { body: audit } = yield* call(`${url}/internal/audit`, { headers: session })
      assert.lengthOf(
        audit.data.filter(({ action }: { action: string }) => action === "factor.renew_recovery_codes"),
        1
      )
      yield* pass("11 minutes")
      checks.assertError(yield* renew, 403, { code: "forbidden", reason: "fresh_session_required" })
    }).pipe(Effect.scoped))

  it.live("a challenge ends with its sign-in, after five minutes, after five codes, and with another password", () =>
    Effect.gen(function*() {
      const { clock, pass, services, session, url } = yield* server()
      const { code, recoveryCodes } = yield* enrol(url, session, clock)
      checks.assertError(yield* end(url, "unknown", code()), 401, ended)
      const used = yield* challenged(url)
      assert.strictEqual((yield* end(url, used, recoveryCodes[0]!)).status, 200)
      checks.assertError(yield* end(url, used, recoveryCodes[1]!), 401, ended)
      const old = yield* challenged(url)
      yield* pass("5 minutes")
      checks.assertError(yield* end(url, old, recoveryCodes[1]!), 401, ended)
      const tried = yield* challenged(url)
      for (let n = 0; n < 5; n++) checks.assertError(yield* end(url, tried, "000000"), 401, wrongCode)
      checks.assertError(yield* end(url, tried, recoveryCodes[1]!), 401, ended)
      yield* pass("1 hour")
      const before = yield* challenged(url)
      const members = Context.get(services, MemberStore.MemberStore)
      const { person } = Option.getOrThrow(yield* Effect.orDie(members.findByEmail(owner.email)))
      yield* Effect.orDie(members.setPassword(person.userId, `${person.passwordHash}x`))
      checks.assertError(yield* end(url, before, recoveryCodes[2]!), 401, ended)
    }).pipe(Effect.scoped))

  it.live("wrong codes are limited per account on new devices, and apart from that on a device that signed in", () =>
    Effect.gen(function*() {
      const { clock, session, url } = yield* server()
      const { recoveryCodes } = yield* enrol(url, session, clock)
      const known = yield* end(url, yield* challenged(url), recoveryCodes[0]!)
      const device = deviceOf(known)
      const guesses = yield* Effect.forEach(
        Array.from({ length: 11 }, (_, n) => n),
        () => Effect.flatMap(challenged(url), (challenge) => end(url, challenge, "000000"))
      )
      assert.deepStrictEqual(guesses.map(({ status }) => status), [...Array(10).fill(401), 429])
      checks.assertError(yield* end(url, yield* challenged(url), recoveryCodes[1]!), 429, {
        code: "rate_limited",
        reason: "login"
      })
      const signedIn = yield* end(url, yield* challenged(url), recoveryCodes[1]!, { cookie: device })
      assert.strictEqual(signedIn.status, 200, signedIn.text)
    }).pipe(Effect.scoped))

  it.live("a reset password does not remove it, and neither does an invitation to another workspace", () =>
    Effect.gen(function*() {
      const mail = yield* mailbox
      const { clock, session, url } = yield* server({ SMTP_URL: mail.url })
      const ben = yield* join(url, session, "ben@example.com", "member")
      const { recoveryCodes } = yield* enrol(url, ben.headers, clock)
      yield* call(`${url}/internal/password/reset-request`, { headers: ownPage, body: { email: "ben@example.com" } })
      const mailed = yield* checks.until(
        Effect.sync(() => mail.received.find(({ text }) => text.includes("password-reset"))),
        (found) => found !== undefined
      )
      const reset = yield* call(`${url}/internal/password/reset`, {
        headers: ownPage,
        body: { token: tokenIn(mailed!.text), password: "another horse entirely" }
      })
      assert.strictEqual(reset.status, 204, reset.text)
      const again = { email: "ben@example.com", password: "another horse entirely" }
      assert.strictEqual((yield* end(url, yield* challenged(url, again), recoveryCodes[0]!)).status, 200)
      // removed, and invited again: the link and the password are not enough
      const removed = yield* call(`${url}/internal/members/${ben.id}`, { method: "DELETE", headers: session })
      assert.strictEqual(removed.status, 204, removed.text)
      const { body: { inviteUrl } } = yield* invite(url, session, again.email, "member")
      const accepted = yield* accept(url, tokenIn(inviteUrl), again.password)
      assert.deepStrictEqual(accepted.headers.getSetCookie(), [])
      challengeOf(accepted)
      // with a code they are, once
      const joinWith = (code: string) => accept(url, tokenIn(inviteUrl), again.password, {}, { code })
      checks.assertError(yield* joinWith("000000"), 401, wrongCode)
      checks.assertError(yield* joinWith(recoveryCodes[0]!), 401, wrongCode)
      const joined = yield* joinWith(recoveryCodes[1]!)
      assert.strictEqual(joined.status, 200, joined.text)
      assert.strictEqual((yield* call(`${url}/internal/session`, { headers: cookieOf(joined) })).status, 200)
      assert.strictEqual((yield* end(url, yield* challenged(url, again), recoveryCodes[2]!)).status, 200)
      checks.assertError(yield* end(url, yield* challenged(url, again), recoveryCodes[1]!), 401, wrongCode)
    }).pipe(Effect.scoped))

  it.live("an invitation is accepted with a code of the app, and one that has ended uses no recovery code up", () =>
    Effect.gen(function*() {
      const { clock, pass, services, session, url } = yield* server()
      const ben = yield* join(url, session, "ben@example.com", "member")
      const { code, recoveryCodes } = yield* enrol(url, ben.headers, clock)
      yield* call(`${url}/internal/members/${ben.id}`, { method: "DELETE", headers: session })
      const invited = yield* invite(url, session, "ben@example.com", "member")
      const link = tokenIn(invited.body.inviteUrl)
      const both = yield* accept(url, link, password, {}, { code: code(), credential: {} })
      assert.strictEqual(both.status, 400)
      // a wrong password uses up no proof
      const wrong = yield* accept(url, link, "a wrong guess", {}, { code: recoveryCodes[0]! })
      checks.assertError(wrong, 401, { code: "unauthorized", reason: "invalid_credentials", param: "password" })
      yield* pass("1 minute")
      const [one, other] = yield* Effect.all(
        [accept(url, link, password, {}, { code: code() }), accept(url, link, password, {}, { code: code() })],
        { concurrency: "unbounded" }
      )
      assert.sameMembers([one.status, other.status], [200, 401])
      yield* call(`${url}/internal/members/${ben.id}`, { method: "DELETE", headers: session })
      const again = tokenIn((yield* invite(url, session, "ben@example.com", "member")).body.inviteUrl)
      yield* pass("8 days")
      const late = yield* accept(url, again, password, {}, { code: recoveryCodes[0]! })
      checks.assertError(late, 401, { code: "unauthorized", reason: "invalid_credentials", param: "token" })
      const factor = yield* Context.get(services, FactorStore.FactorStore).find(Id.UserId.make(ben.id))
      assert.strictEqual(Option.getOrThrow(factor).recoveryCodesLeft, recoveryCodes.length)
    }).pipe(Effect.scoped, Effect.orDie))

  it.live("wrong codes with an invitation are limited as those of a sign-in, and do not count as wrong passwords", () =>
    Effect.gen(function*() {
      const { clock, session, url } = yield* server()
      const ben = yield* join(url, session, "ben@example.com", "member")
      const { recoveryCodes } = yield* enrol(url, ben.headers, clock)
      yield* call(`${url}/internal/members/${ben.id}`, { method: "DELETE", headers: session })
      const link = tokenIn((yield* invite(url, session, "ben@example.com", "member")).body.inviteUrl)
      const attempt = (code: string) => accept(url, link, password, {}, { code })
      const guesses = yield* Effect.all(Array.from({ length: 11 }, () => attempt("000000")))
      assert.deepStrictEqual(guesses.map(({ status }) => status), [...Array(10).fill(401), 429])
      checks.assertError(yield* attempt(recoveryCodes[0]!), 429, { code: "rate_limited", reason: "login" })
      challengeOf(yield* accept(url, link, password))
    }).pipe(Effect.scoped))

  it.live("a device that signed in before accepts an invitation with a code, however many wrong codes others gave", () =>
    Effect.gen(function*() {
      const { clock, session, url } = yield* server()
      const ben = yield* join(url, session, "ben@example.com", "member")
      const { recoveryCodes } = yield* enrol(url, ben.headers, clock)
      const person = { email: "ben@example.com", password }
      const known = yield* end(url, yield* challenged(url, person), recoveryCodes[0]!)
      const device = { cookie: deviceOf(known) }
      yield* call(`${url}/internal/members/${ben.id}`, { method: "DELETE", headers: session })
      const link = tokenIn((yield* invite(url, session, "ben@example.com", "member")).body.inviteUrl)
      const attempt = (code: string, headers: Headers = {}) => accept(url, link, password, headers, { code })
      const strangers = yield* Effect.all(Array.from({ length: 11 }, () => attempt("000000")))
      assert.deepStrictEqual(strangers.map(({ status }) => status), [...Array(10).fill(401), 429])
      // the device has a limit of its own
      const own = yield* Effect.all(Array.from({ length: 9 }, () => attempt("000000", device)))
      for (const wrong of own) checks.assertError(wrong, 401, wrongCode)
      const joined = yield* attempt(recoveryCodes[1]!, device)
      assert.strictEqual(joined.status, 200, joined.text)
    }).pipe(Effect.scoped))

  it.live("a person without a workspace is told so, with the right password alone and in a sign-in that has begun, and no recovery code is used up", () =>
    Effect.gen(function*() {
      const { clock, services, session, url } = yield* server()
      const [ben, cleo] = [
        yield* join(url, session, "ben@example.com", "member"),
        yield* join(url, session, "cleo@example.com", "member")
      ]
      const { recoveryCodes } = yield* enrol(url, ben.headers, clock)
      const challenge = yield* challenged(url, { email: "ben@example.com", password })
      for (const { id } of [ben, cleo]) {
        const removed = yield* call(`${url}/internal/members/${id}`, { method: "DELETE", headers: session })
        assert.strictEqual(removed.status, 204, removed.text)
      }
      const refusal = { code: "forbidden", reason: "role_not_allowed" }
      // more often than wrong passwords and proofs are allowed
      for (let i = 0; i < 12; i++) {
        for (const email of ["ben@example.com", "cleo@example.com"]) {
          const refused = yield* signIn(url, { email, password })
          checks.assertError(refused, 403, refusal)
          assert.include(refused.body.error.message, "not a member of any workspace")
          assert.deepStrictEqual(refused.headers.getSetCookie(), [])
        }
        checks.assertError(yield* end(url, challenge, recoveryCodes[0]!), 403, refusal)
      }
      const factor = yield* Context.get(services, FactorStore.FactorStore).find(Id.UserId.make(ben.id))
      assert.strictEqual(Option.getOrThrow(factor).recoveryCodesLeft, recoveryCodes.length)
      // a stranger learns nothing
      const wrong = yield* signIn(url, { email: "cleo@example.com", password: "a wrong guess" })
      checks.assertError(wrong, 401, { code: "unauthorized", reason: "invalid_credentials" })
    }).pipe(Effect.scoped, Effect.orDie))

  it.live("a code confirms a person's presence, once, and exactly one proof is accepted", () =>
    Effect.gen(function*() {
      const { clock, pass, session, url } = yield* server()
      const { code } = yield* enrol(url, session, clock)
      yield* pass("10 minutes")
      let headers: Headers = session
      const confirm = (body: unknown) =>
        Effect.tap(
          Effect.suspend(() => call(`${url}/internal/session/confirm`, { headers, body })),
          (answer) => Effect.sync(() => void (headers = renewedBy(answer, headers)))
        )
      checks.assertError(yield* call(`${url}/internal/factor`, { method: "DELETE", headers }), 403, {
        code: "forbidden",
        reason: "fresh_session_required"
      })
      checks.assertError(yield* confirm({}), 400, {
        code: "invalid_body",
        reason: "missing_field",
        param: "password"
      })
      checks.assertError(yield* confirm({ code: code(), password: owner.password }), 400, {
        code: "invalid_body",
        reason: "invalid_field",
        param: "code"
      })
      checks.assertError(yield* confirm({ code: "000000" }), 401, wrongCode)
      assert.strictEqual((yield* confirm({ code: code() })).status, 204)
      checks.assertError(yield* confirm({ code: code() }), 401, wrongCode)
      assert.strictEqual((yield* call(`${url}/internal/factor`, { method: "DELETE", headers })).status, 204)
      checks.assertError(yield* confirm({ code: code(1) }), 401, wrongCode)
    }).pipe(Effect.scoped))

  it.live("a secret that was not confirmed changes nothing, and one that is on is replaced only once it is off", () =>
    Effect.gen(function*() {
      const { clock, session, url } = yield* server()
      const start = call(`${url}/internal/factor`, { method: "PUT", headers: session })
      const confirm = (code: string) => call(`${url}/internal/factor/confirm`, { headers: session, body: { code } })
      checks.assertError(yield* confirm("000000"), 404, { code: "not_found" })
      assert.strictEqual((yield* start).status, 200)
      checks.assertError(yield* confirm("000000"), 401, wrongCode)
      assert.strictEqual((yield* signIn(url, owner)).status, 200)
      yield* enrol(url, session, clock)
      checks.assertError(yield* start, 400, { code: "invalid_body", reason: "invalid_field" })
      checks.assertError(yield* confirm("000000"), 400, { code: "invalid_body", reason: "invalid_field" })
      const remove = call(`${url}/internal/factor`, { method: "DELETE", headers: session })
      assert.strictEqual((yield* remove).status, 204)
      checks.assertError(yield* remove, 404, { code: "not_found" })
      assert.strictEqual((yield* signIn(url, owner)).status, 200)
      const { body } = yield* call(`${url}/internal/audit`, { headers: session })
      assert.lengthOf(body.data.filter(({ action }: { action: string }) => action === "factor.disable"), 1)
    }).pipe(Effect.scoped))

  it.live("a person is mailed when their second factor is switched on, off, or reset by an owner, and of new recovery codes", () =>
    Effect.gen(function*() {
      const mail = yield* mailbox
      const { clock, session, url } = yield* server({ SMTP_URL: mail.url })
      const ben = yield* join(url, session, "ben@example.com", "member")
      const { recoveryCodes } = yield* enrol(url, ben.headers, clock)
      const on = yield* mail.notice("ben@example.com", "Your second factor was switched on")
      assert.match(on.text, /from the address /)
      for (const code of recoveryCodes) assert.notInclude(on.text, code)
      const renewed = yield* call(`${url}/internal/factor/recovery-codes`, { method: "PUT", headers: ben.headers })
      assert.strictEqual(renewed.status, 200)
      const anew = yield* mail.notice("ben@example.com", "Your recovery codes were replaced")
      for (const code of renewed.body.recoveryCodes) assert.notInclude(anew.text, code)
      const removed = yield* call(`${url}/internal/factor`, { method: "DELETE", headers: ben.headers })
      assert.strictEqual(removed.status, 204)
      yield* mail.notice("ben@example.com", "Your second factor was switched off")
      yield* enrol(url, ben.headers, clock)
      const reset = yield* call(`${url}/internal/members/${ben.id}/factor`, { method: "DELETE", headers: session })
      assert.strictEqual(reset.status, 204)
      const { text } = yield* mail.notice("ben@example.com", "Your second factor was reset")
      assert.include(text, owner.email)
      // neither is a matter of the workspace's owners
      assert.notMatch(
        mail.notices.filter(({ to }) => to.includes(owner.email)).map(({ text }) => text).join(),
        /second factor/
      )
    }).pipe(Effect.scoped))

  it.live("an owner resets the factor of a member who has lost it, and an admin may not", () =>
    Effect.gen(function*() {
      const { clock, session, url } = yield* server()
      const ben = { email: "ben@example.com", password }
      const { headers, id } = yield* join(url, session, ben.email, "member")
      const { headers: admin } = yield* join(url, session, "ada@example.com", "admin")
      const reset = (by: Headers) => call(`${url}/internal/members/${id}/factor`, { method: "DELETE", headers: by })
      checks.assertError(yield* reset(session), 404, { code: "not_found" })
      yield* enrol(url, headers, clock)
      const refused = { code: "forbidden", reason: "role_not_allowed" }
      checks.assertError(yield* reset(admin), 403, refused)
      assert.strictEqual((yield* reset(session)).status, 204)
      assert.strictEqual((yield* signIn(url, ben)).status, 200)
      const { body } = yield* call(`${url}/internal/audit`, { headers: session })
      const entry = body.data.find(({ action }: { action: string }) => action === "member.reset_factor")
      assert.deepInclude(entry, { target: id, detail: { email: ben.email } })
    }).pipe(Effect.scoped))
})
