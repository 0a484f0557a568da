/**
 * Passkeys as a second factor (contract §17), with an authenticator in software.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import { type Answer, call, environment, ownPage, ready } from "../harness.ts"
import { still } from "../movable.ts"
import * as SoftAuthenticator from "./authenticator.ts"
import { enrol } from "./enrolment.ts"
import { accept, cookieOf, type Headers, invite, join, password, renewedBy } from "./joining.ts"
import { mailbox, tokenIn } from "./mailbox.ts"

const owner = { email: environment.WAC_OWNER_EMAIL, password: environment.WAC_OWNER_PASSWORD }

const refused = { code: "unauthorized", reason: "invalid_passkey", param: "credential" }
const ended = { code: "unauthorized", reason: "challenge_ended", param: "credential" }
const signInEnded = { code: "unauthorized", reason: "challenge_ended", param: "challenge" }

/** The page at which people open the service. */
const page = "https://wac.example.com"

const server = (environment: { readonly [name: string]: string } = {}) =>
  Effect.map(
    still(ready({ environment: { ...checks.unlimited, PUBLIC_URL: page, ...environment } })),
    (made) => ({ ...made, session: { ...made.session, origin: page } })
  )

type Authenticator = ReturnType<typeof SoftAuthenticator.make>

const put = (url: string, headers: Headers) => call(url, { method: "PUT", headers })

const optionsOf = (url: string, headers: Headers) =>
  Effect.map(put(`${url}/internal/factor/passkeys/options`, headers), ({ body, status, text }) => {
    assert.strictEqual(status, 200, text)
    return body
  })

const add = (url: string, headers: Headers, credential: unknown, name = "laptop") =>
  call(`${url}/internal/factor/passkeys`, { headers, body: { name, credential } })

/** Adds a passkey. Returns the answer's body. */
const added = Effect.fnUntraced(function*(url: string, headers: Headers, authenticator: Authenticator, name?: string) {
  const answer = yield* add(url, headers, authenticator.create(yield* optionsOf(url, headers)), name)
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.body as {
    readonly passkey: { readonly id: string; readonly name: string; readonly lastUsedAt: string | null }
    readonly recoveryCodes: ReadonlyArray<string>
  }
})

const signIn = (url: string, person: { readonly email: string; readonly password: string } = owner) =>
  call(`${url}/internal/session`, { headers: ownPage, body: person })

const challengeOf = (answer: Answer): string => {
  const challenge = answer.body.error?.challenge
  checks.assertError(answer, 401, { code: "unauthorized", reason: "second_factor_required", challenge })
  return challenge
}

const challenged = (url: string, person?: typeof owner) => Effect.map(signIn(url, person), challengeOf)

const end = (url: string, body: unknown) =>
  call(`${url}/internal/session/factor`, { headers: { ...ownPage, origin: page }, body })

/** The options of a passkey for the second step of a sign-in. */
const requested = (url: string, challenge: string) =>
  Effect.map(
    call(`${url}/internal/session/factor/options`, {
      headers: { ...ownPage, origin: page },
      body: { challenge }
    }),
    ({ body, status, text }) => {
      assert.strictEqual(status, 200, text)
      return body
    }
  )

/** A sign-in with the password and a passkey. */
const signInWith = Effect.fnUntraced(function*(
  url: string,
  authenticator: Authenticator,
  manner: Parameters<Authenticator["get"]>[1] = {},
  person?: typeof owner
) {
  const challenge = yield* challenged(url, person)
  const credential = authenticator.get(yield* requested(url, challenge), manner)
  return { answer: yield* end(url, { challenge, credential }), challenge, credential }
})

const factorOf = (url: string, headers: Headers) =>
  Effect.map(call(`${url}/internal/factor`, { headers }), ({ body }) => body)

const remove = (url: string, headers: Headers, id: string) =>
  call(`${url}/internal/factor/passkeys/${id}`, { method: "DELETE", headers })

describe.concurrent("passkeys", () => {
  it.live("a person with a passkey alone, in no workspace any more, accepts an invitation with it", () =>
    Effect.gen(function*() {
      const { session, url } = yield* server()
      const ben = yield* join(url, session, "ben@example.com", "member")
      const authenticator = SoftAuthenticator.make(page)
      yield* added(url, { ...ben.headers, origin: page }, authenticator)
      yield* call(`${url}/internal/members/${ben.id}`, { method: "DELETE", headers: session })
      const link = tokenIn((yield* invite(url, session, "ben@example.com", "member")).body.inviteUrl)
      const challenge = Effect.map(accept(url, link, password), challengeOf)
      const attempt = (credential: unknown) => accept(url, link, password, { origin: page }, { credential })
      const first = yield* challenge
      const foreign = SoftAuthenticator.make(page)
      foreign.create(yield* optionsOf(url, session))
      checks.assertError(yield* attempt(foreign.get(yield* requested(url, first))), 401, refused)
      // the challenge of another person's sign-in is worth nothing here
      yield* added(url, session, SoftAuthenticator.make(page))
      const others = yield* requested(url, yield* challenged(url))
      const options = yield* requested(url, first)
      checks.assertError(yield* attempt(authenticator.get({ ...options, challenge: others.challenge })), 401, ended)
      const joined = yield* attempt(authenticator.get(options))
      assert.strictEqual(joined.status, 200, joined.text)
      assert.strictEqual((yield* call(`${url}/internal/session`, { headers: cookieOf(joined) })).status, 200)
    }).pipe(Effect.scoped))

  it.live("a first passkey switches the second factor on, with recovery codes, and ends a sign-in after the password", () =>
    Effect.gen(function*() {
      const { pass, session, url } = yield* server()
      assert.deepStrictEqual(yield* factorOf(url, session), {
        isOn: false,
        hasApp: false,
        passkeys: [],
        recoveryCodesLeft: 0
      })
      const authenticator = SoftAuthenticator.make(page)
      const options = yield* optionsOf(url, session)
      assert.deepStrictEqual(options.rp, { id: "wac.example.com", name: "wac" })
      assert.deepInclude(options, { attestation: "none", excludeCredentials: [], timeout: 300_000 })
      const { passkey, recoveryCodes } = yield* added(url, session, authenticator, " My laptop ")
      assert.deepInclude(passkey, { name: "My laptop", lastUsedAt: null })
      assert.strictEqual(new Set(recoveryCodes).size, 10)
      yield* pass("1 minute")
      const { answer } = yield* signInWith(url, authenticator)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual((yield* call(`${url}/internal/session`, { headers: cookieOf(answer) })).status, 200)
      const { passkeys: [used], ...factor } = yield* factorOf(url, session)
      assert.deepStrictEqual(factor, { isOn: true, hasApp: false, recoveryCodesLeft: 10 })
      assert.strictEqual(Date.parse(used.lastUsedAt) - Date.parse(used.createdAt), 60_000)
      const again = yield* optionsOf(url, session)
      assert.deepStrictEqual(again.excludeCredentials, [{
        type: "public-key",
        id: authenticator.id,
        transports: ["internal"]
      }])
      const recovered = yield* end(url, { challenge: yield* challenged(url), code: recoveryCodes[0] })
      assert.strictEqual(recovered.status, 200, recovered.text)
    }).pipe(Effect.scoped))

  it.live("a passkey of another origin, domain, purpose, challenge or without a person is refused", () =>
    Effect.gen(function*() {
      const { session, url } = yield* server()
      const authenticator = SoftAuthenticator.make(page)
      const wrong = [
        { origin: "https://wac.example.org" },
        { rpId: "example.com" },
        { type: "webauthn.get" },
        { isPresent: false }
      ]
      for (const manner of wrong) {
        const credential = authenticator.create(yield* optionsOf(url, session), manner)
        checks.assertError(yield* add(url, session, credential), 401, refused)
      }
      yield* added(url, session, authenticator)
      const inUse = [...wrong.slice(0, 2), { type: "webauthn.create" }, { isPresent: false }, { challenge: "c29tZQ" }]
      for (const manner of inUse) {
        checks.assertError((yield* signInWith(url, authenticator, manner)).answer, 401, refused)
      }
      const challenge = yield* challenged(url)
      const right = authenticator.get(yield* requested(url, challenge))
      const forged = SoftAuthenticator.make(page).get(yield* requested(url, challenge))
      checks.assertError(yield* end(url, { challenge, credential: forged }), 401, refused)
      checks.assertError(
        yield* end(url, { challenge, credential: { ...right, signature: forged.signature } }),
        401,
        refused
      )
      assert.strictEqual((yield* end(url, { challenge, credential: right })).status, 200)
    }).pipe(Effect.scoped))

  it.live("a passkey is refused when its counter has not risen, unless its authenticator does not count", () =>
    Effect.gen(function*() {
      const { session, url } = yield* server()
      const counting = SoftAuthenticator.make(page)
      const other = SoftAuthenticator.make(page, { isCounting: false })
      yield* added(url, session, counting)
      assert.deepStrictEqual((yield* added(url, session, other)).recoveryCodes, [])
      assert.strictEqual((yield* signInWith(url, counting, { counter: 7 })).answer.status, 200)
      for (const counter of [0, 6, 7]) {
        checks.assertError((yield* signInWith(url, counting, { counter })).answer, 401, refused)
      }
      assert.strictEqual((yield* signInWith(url, counting, { counter: 8 })).answer.status, 200)
      for (let n = 0; n < 2; n++) assert.strictEqual((yield* signInWith(url, other)).answer.status, 200)
    }).pipe(Effect.scoped))

  it.live("what a passkey has signed is worth nothing a second time, or for another sign-in", () =>
    Effect.gen(function*() {
      const { pass, session, url } = yield* server()
      const authenticator = SoftAuthenticator.make(page, { isCounting: false })
      yield* added(url, session, authenticator)
      const { answer, challenge, credential } = yield* signInWith(url, authenticator)
      assert.strictEqual(answer.status, 200, answer.text)
      checks.assertError(yield* end(url, { challenge, credential }), 401, signInEnded)
      checks.assertError(yield* end(url, { challenge: yield* challenged(url), credential }), 401, refused)
      checks.assertError(
        yield* call(`${url}/internal/session/factor/options`, {
          headers: { ...ownPage, origin: page },
          body: { challenge }
        }),
        401,
        signInEnded
      )
      const old = yield* challenged(url)
      const late = authenticator.get(yield* requested(url, old))
      yield* pass("5 minutes")
      checks.assertError(yield* end(url, { challenge: old, credential: late }), 401, signInEnded)
      const both = yield* challenged(url)
      const right = authenticator.get(yield* requested(url, both))
      const answers = yield* Effect.all(
        Array.from({ length: 3 }, () => end(url, { challenge: both, credential: right })),
        { concurrency: "unbounded" }
      )
      assert.sameMembers(answers.map(({ status }) => status), [200, 401, 401])
    }).pipe(Effect.scoped))

  it.live("a challenge to add a passkey is of one person, for one use, within five minutes", () =>
    Effect.gen(function*() {
      const { pass, session, url } = yield* server()
      const ben = yield* join(url, session, "ben@example.com", "member")
      const bens = { ...ben.headers, origin: page }
      const authenticator = SoftAuthenticator.make(page)
      const options = yield* optionsOf(url, session)
      const credential = authenticator.create(options)
      checks.assertError(yield* add(url, bens, credential), 401, ended)
      assert.strictEqual((yield* add(url, session, credential)).status, 201)
      checks.assertError(yield* add(url, session, credential), 401, ended)
      // the credential is somebody's already
      const again = authenticator.create(yield* optionsOf(url, bens))
      checks.assertError(yield* add(url, bens, again), 400, {
        code: "invalid_body",
        reason: "invalid_field",
        param: "credential"
      })
      assert.strictEqual((yield* factorOf(url, bens)).isOn, false)
      const late = SoftAuthenticator.make(page).create(yield* optionsOf(url, session))
      yield* pass("5 minutes")
      checks.assertError(yield* add(url, session, late), 401, ended)
      // that of a proof of presence is for nothing else
      const confirming = yield* put(`${url}/internal/session/confirm/options`, session)
      const crossed = SoftAuthenticator.make(page).create({
        challenge: confirming.body.challenge,
        rp: { id: confirming.body.rpId }
      })
      checks.assertError(yield* add(url, session, crossed), 401, ended)
    }).pipe(Effect.scoped))

  it.live("another person's passkey and a removed one end no sign-in", () =>
    Effect.gen(function*() {
      const { session, url } = yield* server()
      const ben = yield* join(url, session, "ben@example.com", "member")
      const bens = { ...ben.headers, origin: page }
      const [own, second, other] = [1, 2, 3].map(() => SoftAuthenticator.make(page))
      const { passkey } = yield* added(url, session, own!)
      yield* added(url, session, second!, "phone")
      yield* added(url, bens, other!)
      checks.assertError((yield* signInWith(url, other!)).answer, 401, refused)
      checks.assertError(yield* remove(url, bens, passkey.id), 404, { code: "not_found" })
      assert.strictEqual((yield* remove(url, session, passkey.id)).status, 204)
      checks.assertError(yield* remove(url, session, passkey.id), 404, { code: "not_found" })
      checks.assertError((yield* signInWith(url, own!)).answer, 401, refused)
      assert.strictEqual((yield* signInWith(url, second!)).answer.status, 200)
      const person = { email: "ben@example.com", password } as typeof owner
      assert.strictEqual((yield* signInWith(url, other!, {}, person)).answer.status, 200)
    }).pipe(Effect.scoped))

  it.live("without the last passkey the password alone signs in, unless there is an app", () =>
    Effect.gen(function*() {
      const { clock, pass, session, url } = yield* server()
      const authenticator = SoftAuthenticator.make(page)
      const { passkey } = yield* added(url, session, authenticator)
      assert.strictEqual((yield* remove(url, session, passkey.id)).status, 204)
      assert.strictEqual((yield* signIn(url)).status, 200)
      assert.deepInclude(yield* factorOf(url, session), { isOn: false, recoveryCodesLeft: 0, passkeys: [] })
      const app = yield* enrol(url, session, clock)
      assert.lengthOf(app.recoveryCodes, 10)
      const second = yield* added(url, session, authenticator)
      assert.deepStrictEqual(second.recoveryCodes, [])
      assert.deepInclude(yield* factorOf(url, session), { isOn: true, hasApp: true, recoveryCodesLeft: 10 })
      assert.strictEqual((yield* remove(url, session, second.passkey.id)).status, 204)
      yield* pass("1 minute")
      const challenge = yield* challenged(url)
      assert.deepStrictEqual((yield* requested(url, challenge)).allowCredentials, [])
      assert.strictEqual((yield* end(url, { challenge, code: app.code() })).status, 200)
    }).pipe(Effect.scoped))

  it.live("an app is added to passkeys, with the recovery codes of before, and all of it is switched off at once", () =>
    Effect.gen(function*() {
      const { clock, session, url } = yield* server()
      const { recoveryCodes } = yield* added(url, session, SoftAuthenticator.make(page))
      const app = yield* enrol(url, session, clock)
      assert.deepStrictEqual(app.recoveryCodes, [])
      assert.deepInclude(yield* factorOf(url, session), { isOn: true, hasApp: true, recoveryCodesLeft: 10 })
      const recovered = yield* end(url, { challenge: yield* challenged(url), code: recoveryCodes[0] })
      assert.strictEqual(recovered.status, 200, recovered.text)
      const off = yield* call(`${url}/internal/factor`, { method: "DELETE", headers: session })
      assert.strictEqual(off.status, 204)
      assert.deepInclude(yield* factorOf(url, session), { isOn: false, hasApp: false, passkeys: [] })
    }).pipe(Effect.scoped))

  it.live("a passkey proves a person's presence once, for their own session, and exactly one proof is accepted", () =>
    Effect.gen(function*() {
      const { pass, session, url } = yield* server()
      const authenticator = SoftAuthenticator.make(page)
      const { passkey } = yield* added(url, session, authenticator)
      yield* pass("10 minutes")
      const stale = { code: "forbidden", reason: "fresh_session_required" }
      checks.assertError(yield* remove(url, session, passkey.id), 403, stale)
      checks.assertError(yield* put(`${url}/internal/factor/passkeys/options`, session), 403, stale)
      checks.assertError(yield* add(url, session, authenticator.create({ challenge: "", rp: { id: "" } })), 403, stale)
      let headers: Headers = session
      const request = Effect.map(put(`${url}/internal/session/confirm/options`, session), ({ body }) => body)
      const confirm = (body: unknown) =>
        Effect.tap(
          Effect.suspend(() => call(`${url}/internal/session/confirm`, { headers, body })),
          (answer) => Effect.sync(() => void (headers = renewedBy(answer, headers)))
        )
      const credential = authenticator.get(yield* request)
      checks.assertError(yield* confirm({ credential, password: owner.password }), 400, {
        code: "invalid_body",
        reason: "invalid_field",
        param: "credential"
      })
      const elsewhere = authenticator.get(yield* request, { origin: "https://wac.example.org" })
      checks.assertError(yield* confirm({ credential }), 401, ended)
      checks.assertError(yield* confirm({ credential: elsewhere }), 401, refused)
      // used up, although it was refused
      checks.assertError(yield* confirm({ credential: elsewhere }), 401, ended)
      // that of a sign-in is for nothing else
      const signedIn = authenticator.get(yield* requested(url, yield* challenged(url)))
      checks.assertError(yield* confirm({ credential: signedIn }), 401, ended)
      const right = authenticator.get(yield* request)
      assert.strictEqual((yield* confirm({ credential: right })).status, 204)
      checks.assertError(yield* confirm({ credential: right }), 401, ended)
      assert.strictEqual((yield* remove(url, headers, passkey.id)).status, 204)
    }).pipe(Effect.scoped))

  it.live("wrong passkeys are limited as wrong codes are", () =>
    Effect.gen(function*() {
      const { session, url } = yield* server()
      const authenticator = SoftAuthenticator.make(page)
      yield* added(url, session, authenticator)
      const statuses: Array<number> = []
      for (let n = 0; n < 11; n++) {
        statuses.push((yield* signInWith(url, authenticator, { isPresent: false })).answer.status)
      }
      assert.deepStrictEqual(statuses, [...Array(10).fill(401), 429])
    }).pipe(Effect.scoped))

  it.live("passkeys are recorded and mailed, and an owner's reset removes them", () =>
    Effect.gen(function*() {
      const mail = yield* mailbox
      const { session, url } = yield* server({ SMTP_URL: mail.url })
      const ben = yield* join(url, session, "ben@example.com", "member")
      const bens = { ...ben.headers, origin: page }
      const authenticator = SoftAuthenticator.make(page)
      const { passkey } = yield* added(url, bens, authenticator, "Ben's key")
      const on = yield* mail.notice("ben@example.com", "Your passkey was added")
      assert.include(on.text, "Ben's key")
      assert.strictEqual((yield* remove(url, bens, passkey.id)).status, 204)
      const gone = yield* mail.notice("ben@example.com", "Your passkey was removed")
      assert.include(gone.text, "your password alone signs you in")
      const { body } = yield* call(`${url}/internal/audit`, { headers: session })
      const entries = body.data.filter(({ action }: { action: string }) => action.includes("passkey"))
      assert.deepStrictEqual(
        entries.map(({ action, detail, target }: { action: string; detail: unknown; target: string }) => ({
          action,
          detail,
          target
        })),
        [
          {
            action: "factor.remove_passkey",
            detail: { name: "Ben's key", secondFactor: "off" },
            target: passkey.id
          },
          { action: "factor.add_passkey", detail: { name: "Ben's key" }, target: passkey.id }
        ]
      )
      yield* added(url, bens, authenticator)
      const reset = yield* call(`${url}/internal/members/${ben.id}/factor`, { method: "DELETE", headers: session })
      assert.strictEqual(reset.status, 204, reset.text)
      assert.strictEqual((yield* signIn(url, { email: "ben@example.com", password })).status, 200)
      assert.deepStrictEqual((yield* factorOf(url, bens)).passkeys, [])
    }).pipe(Effect.scoped))

  it.live("without a public address passkeys work at localhost only", () =>
    Effect.gen(function*() {
      const { session, url } = yield* still(ready({ environment: checks.unlimited }))
      const none = { code: "not_found" }
      checks.assertError(yield* put(`${url}/internal/factor/passkeys/options`, session), 404, none)
      const origin = url.replace("127.0.0.1", "localhost")
      const local = { ...session, origin }
      const authenticator = SoftAuthenticator.make(origin)
      const options = yield* optionsOf(url, local)
      assert.strictEqual(options.rp.id, "localhost")
      assert.strictEqual((yield* add(url, local, authenticator.create(options))).status, 201)
    }).pipe(Effect.scoped))
})
