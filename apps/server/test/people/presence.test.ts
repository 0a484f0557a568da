/**
 * Proof of presence (contract §17): what needs a fresh session, how it becomes fresh, and which passwords are refused.
 */
import { assert, describe, it } from "@effect/vitest"
import { Access, Api } from "@wac/api"
import { Portals, Setup, WorkspaceStore } from "@wac/core"
import { Clock, Context, Duration, Effect, Redacted } from "effect"
import { run } from "../../src/Run.ts"
import * as checks from "../checks.ts"
import { actorHeader, type Answer, call, environment, hostAuthenticator, ownPage, ready, start } from "../harness.ts"
import { moving } from "../movable.ts"
import { freshDatabase, masterKey, postgres } from "../processes.ts"
import { accept, cookieOf, type Headers, invite, join, password, renewedBy } from "./joining.ts"
import { mailbox, tokenIn } from "./mailbox.ts"

const owner = { email: "owner@example.com", password: "correct horse battery" }

const notFresh = { code: "forbidden", reason: "fresh_session_required" }

/** What contract §17 names, with bodies that are accepted. */
const guarded: { readonly [route: string]: unknown } = {
  "POST /internal/api-keys": { name: "a key" },
  "PUT /internal/webhook": { url: "https://example.com/hook" },
  "POST /internal/webhook/rotate-secret": {},
  "POST /internal/members": { email: "ben@example.com", role: "member" },
  "PATCH /internal/members/:id": { role: "member" },
  "DELETE /internal/members/:id": undefined,
  "DELETE /internal/members/:id/factor": undefined,
  "PUT /internal/alerts/settings": { emails: [], url: null },
  "PUT /internal/settings/request-values": { on: false },
  "PUT /internal/factor": undefined,
  "POST /internal/factor/confirm": { code: "000000" },
  "PUT /internal/factor/recovery-codes": undefined,
  "DELETE /internal/factor": undefined,
  "PUT /internal/factor/passkeys/options": undefined,
  "POST /internal/factor/passkeys": {
    name: "laptop",
    credential: { id: "AA", clientDataJSON: "AA", attestationObject: "AA", transports: [] }
  },
  "DELETE /internal/factor/passkeys/:id": undefined
}

let count = 0

const ask = (url: string, headers: Headers, route: string): Effect.Effect<Answer> => {
  const [method, path] = route.split(" ")
  const body = guarded[route]
  return call(`${url}${path!.replace(":id", `usr_${checks.nobody}`)}`, {
    method: method!,
    headers: { ...headers, "idempotency-key": `presence-${count += 1}` },
    ...(body === undefined ? {} : { body })
  })
}

describe.concurrent("a fresh session", () => {
  it("new keys, rotated secrets, members, second factors, values of requests, and the webhook's and the alerts' address need one, and nothing else does", () => {
    const needing = Object.values(Api.groups).flatMap((group) =>
      Object.values(group.endpoints).flatMap(({ annotations, method, path }) =>
        Context.get(annotations, Access.NeedsFreshSession) ? [`${method} ${path}`] : []
      )
    )
    assert.sameMembers(needing, Object.keys(guarded))
  })

  it.live("ten minutes after the sign-in, what needs one is refused until the person confirms their password", () =>
    Effect.gen(function*() {
      const { pass, session, url } = yield* moving(ready({ environment: checks.unlimited }))
      let headers: Headers = session
      const confirm = (password: string) =>
        Effect.tap(
          Effect.suspend(() => call(`${url}/internal/session/confirm`, { headers, body: { password } })),
          (answer) => Effect.sync(() => void (headers = renewedBy(answer, headers)))
        )
      const refusals = Effect.suspend(() =>
        Effect.forEach(
          Object.keys(guarded),
          (route) => Effect.map(ask(url, headers, route), ({ body }) => body?.error?.reason)
        )
      )
      assert.notInclude(yield* refusals, notFresh.reason)
      yield* pass("10 minutes")
      for (const route of Object.keys(guarded)) checks.assertError(yield* ask(url, session, route), 403, notFresh)
      const { body } = yield* ask(url, session, "PUT /internal/webhook")
      assert.include(body.error.message, "POST /internal/session/confirm")
      // the session itself goes on
      assert.strictEqual((yield* call(`${url}/internal/api-keys`, { headers: session })).status, 200)
      checks.assertError(yield* confirm("wrong password"), 401, {
        code: "unauthorized",
        reason: "invalid_credentials",
        param: "password"
      })
      checks.assertError(yield* ask(url, session, "POST /internal/api-keys"), 403, notFresh)
      assert.strictEqual((yield* confirm(owner.password)).status, 204)
      assert.notInclude(yield* refusals, notFresh.reason)
      // a copy of the cookie of before neither is fresh nor lives on
      assert.strictEqual((yield* ask(url, session, "POST /internal/api-keys")).status, 401)
      assert.strictEqual((yield* call(`${url}/internal/api-keys`, { headers: session })).status, 401)
      yield* pass("9 minutes")
      assert.strictEqual((yield* ask(url, headers, "POST /internal/api-keys")).status, 201)
      yield* pass("1 minute")
      checks.assertError(yield* ask(url, headers, "POST /internal/api-keys"), 403, notFresh)
      const again = yield* call(`${url}/internal/session`, { headers: ownPage, body: owner })
      assert.strictEqual((yield* ask(url, cookieOf(again), "POST /internal/api-keys")).status, 201)
      // guesses are limited as in changing the password
      let refused: Answer | undefined
      for (let n = 0; n < 12 && refused?.status !== 429; n++) refused = yield* confirm(`guess number ${n}`)
      checks.assertError(refused!, 429, { code: "rate_limited", reason: "login" })
    }).pipe(Effect.scoped))

  it.live("accepting an invitation with only a session makes the session neither fresh nor longer", () =>
    Effect.gen(function*() {
      const { clock, pass, services, session, url } = yield* moving(ready({ environment: checks.unlimited }))
      const ben = yield* join(url, session, "ben@example.com", "admin")
      const other = yield* checks.anotherWorkspace("other", "+15005550199").pipe(Effect.provideContext(services))
      const own = (headers: Headers) =>
        Effect.map(
          call(`${url}/internal/sessions`, { headers }),
          ({ body }) =>
            body.data.find(({ isCurrent }: { readonly isCurrent: boolean }) => isCurrent) as {
              readonly expiresAt: string
            }
        )
      const { expiresAt } = yield* own(ben.headers)
      yield* pass("11 minutes")
      checks.assertError(yield* ask(url, ben.headers, "POST /internal/api-keys"), 403, notFresh)
      const token = yield* checks.invited(services, other.id, "ben@example.com", "owner").pipe(
        Effect.provideService(Clock.Clock, clock)
      )
      const accepted = yield* accept(url, token, undefined, ben.headers)
      assert.deepStrictEqual([accepted.status, accepted.body.workspaceId], [200, other.id])
      const continued = cookieOf(accepted)
      for (const route of Object.keys(guarded)) checks.assertError(yield* ask(url, continued, route), 403, notFresh)
      assert.strictEqual((yield* own(continued)).expiresAt, expiresAt)
      assert.strictEqual((yield* call(`${url}/internal/session`, { headers: ben.headers })).status, 401)
      const confirmed = yield* call(`${url}/internal/session/confirm`, { headers: continued, body: { password } })
      assert.strictEqual(confirmed.status, 204, confirmed.text)
      assert.strictEqual((yield* ask(url, renewedBy(confirmed, continued), "POST /internal/api-keys")).status, 201)
    }).pipe(Effect.scoped))

  it.live("sessions of a portal and of a host count as fresh however old they are, because they are the host's", () =>
    Effect.gen(function*() {
      const { clock, pass, services, session, url } = yield* moving(ready({ environment: checks.unlimited }))
      const { workspaceId } = (yield* call(`${url}/internal/session`, { headers: session })).body
      const link = yield* Context.get(services, Portals.Portals).link({
        workspaceId,
        role: "developer",
        visitor: "ana@shop.example",
        lifetime: Duration.hours(1)
      }).pipe(Effect.orDie, Effect.provideService(Clock.Clock, clock))
      const opened = yield* call(`${url}/internal/portal`, {
        headers: ownPage,
        body: { token: Redacted.value(link.token) }
      })
      assert.strictEqual(opened.status, 200, opened.text)
      const portal = {
        ...ownPage,
        cookie: opened.headers.getSetCookie()[0]!.split(";")[0]!,
        "wac-portal": workspaceId as string
      }
      const host = yield* moving(start({ adapters: { authenticator: hostAuthenticator } }))
      const [workspace] = yield* Effect.orDie(Context.get(host.services, WorkspaceStore.WorkspaceStore).list)
      const hosts = { ...ownPage, [actorHeader]: `owner@${workspace!.id}` }
      yield* pass("59 minutes")
      yield* host.pass("59 minutes")
      checks.assertError(yield* ask(url, session, "POST /internal/api-keys"), 403, notFresh)
      for (const [place, headers] of [[url, portal], [host.url, hosts]] as const) {
        for (const route of ["PUT /internal/webhook", "POST /internal/webhook/rotate-secret"]) {
          const { status, text } = yield* ask(place, headers, route)
          assert.strictEqual(status, 200, text)
        }
        assert.strictEqual((yield* ask(place, headers, "POST /internal/api-keys")).status, 201)
      }
    }).pipe(Effect.scoped))
})

describe.concurrent("ending sessions", () => {
  const isLive = (url: string, headers: Headers) =>
    Effect.map(call(`${url}/internal/session`, { headers }), ({ status }) => status === 200)
  const signIn = (url: string, person: typeof owner) =>
    Effect.map(call(`${url}/internal/session`, { headers: ownPage, body: person }), cookieOf)
  const ben = { email: "ben@example.com", password: "a horse of another colour" }

  it.live("a person ends all of their other sessions in one step, and nobody else's", () =>
    Effect.gen(function*() {
      const { session, url } = yield* ready({ environment: checks.unlimited })
      const { headers: bens } = yield* join(url, session, ben.email, "member")
      const others = yield* Effect.replicateEffect(signIn(url, owner), 2)
      const ended = yield* call(`${url}/internal/sessions`, { method: "DELETE", headers: session })
      assert.strictEqual(ended.status, 204, ended.text)
      assert.isTrue(yield* isLive(url, session))
      assert.isTrue(yield* isLive(url, bens))
      for (const other of others) assert.isFalse(yield* isLive(url, other))
      const { body } = yield* call(`${url}/internal/audit?limit=1`, { headers: session })
      assert.deepInclude(body.data[0], { action: "session.end_all", target: null })
    }).pipe(Effect.scoped))

  it.live("an admin ends all sessions of another member, but not an owner's", () =>
    Effect.gen(function*() {
      const { session, url } = yield* ready({ environment: checks.unlimited })
      const { userId: ownersId } = (yield* call(`${url}/internal/session`, { headers: session })).body
      const { headers: admin } = yield* join(url, session, "ada@example.com", "admin")
      const { headers: bens, id } = yield* join(url, session, ben.email, "developer")
      const again = yield* signIn(url, ben)
      const end = (by: Headers, id: string) =>
        call(`${url}/internal/members/${id}/sessions`, { method: "DELETE", headers: by })
      const refused = { code: "forbidden", reason: "role_not_allowed" }
      checks.assertError(yield* end(bens, id), 403, refused)
      checks.assertError(yield* end(admin, ownersId), 403, refused)
      checks.assertError(yield* end(admin, `usr_${checks.nobody}`), 404, { code: "not_found" })
      assert.isTrue(yield* isLive(url, session))
      assert.strictEqual((yield* end(admin, id)).status, 204)
      for (const headers of [bens, again]) assert.isFalse(yield* isLive(url, headers))
      assert.isTrue(yield* isLive(url, admin))
      const { body } = yield* call(`${url}/internal/audit?limit=1`, { headers: session })
      assert.deepInclude(body.data[0], { action: "member.end_sessions", target: id })
      // they can sign in again
      assert.isTrue(yield* isLive(url, yield* signIn(url, ben)))
    }).pipe(Effect.scoped))
})

describe.concurrent("a password that is set", () => {
  it.live("a common password and the person's own address are refused in a change, and the old one stays", () =>
    Effect.gen(function*() {
      const { session, url } = yield* ready({ environment: checks.unlimited })
      const change = (next: string) =>
        call(`${url}/internal/password`, {
          method: "PUT",
          headers: session,
          body: { current: owner.password, new: next }
        })
      for (const next of ["password", "123456789", owner.email]) {
        checks.assertInvalid(yield* change(next), "invalid_field", "new")
      }
      assert.strictEqual((yield* call(`${url}/internal/session`, { headers: ownPage, body: owner })).status, 200)
    }).pipe(Effect.scoped))

  it.live("an invited person cannot choose a common password or their own address, and the invitation stays valid", () =>
    Effect.gen(function*() {
      const { session, url } = yield* ready({ environment: checks.unlimited })
      const invited = yield* invite(url, session, "ben@example.com", "member")
      const accept = (password: string) =>
        call(`${url}/internal/invitations/accept`, {
          headers: ownPage,
          body: { token: tokenIn(invited.body.inviteUrl), password }
        })
      for (const password of ["password", "ben@example.com"]) {
        checks.assertInvalid(yield* accept(password), "invalid_field", "password")
      }
      assert.strictEqual((yield* accept("a horse of another colour")).status, 200)
    }).pipe(Effect.scoped))

  it.live("a first owner cannot choose a common password or their own address, and the set-up link stays valid", () =>
    Effect.gen(function*() {
      const { services, url } = yield* start({ environment: { WAC_OWNER_EMAIL: "", WAC_OWNER_PASSWORD: "" } })
      const token = Redacted.value((yield* Effect.orDie(Context.get(services, Setup.Setup).token))!)
      const setUp = (password: string) =>
        call(`${url}/internal/setup`, {
          headers: ownPage,
          body: { token, email: owner.email, password, workspaceName: "First" }
        })
      for (const password of ["password", owner.email]) {
        checks.assertInvalid(yield* setUp(password), "invalid_field", "password")
      }
      assert.strictEqual((yield* setUp(owner.password)).status, 201)
    }).pipe(Effect.scoped))

  it.live("a reset link sets no common password and not the person's own address, and stays valid", () =>
    Effect.gen(function*() {
      const mail = yield* mailbox
      const { url } = yield* ready({ environment: { ...checks.unlimited, SMTP_URL: mail.url } })
      yield* call(`${url}/internal/password/reset-request`, { headers: ownPage, body: { email: owner.email } })
      const token = tokenIn((yield* mail.to(owner.email)).text)
      const reset = (password: string) =>
        call(`${url}/internal/password/reset`, { headers: ownPage, body: { token, password } })
      for (const password of ["password", owner.email]) {
        checks.assertInvalid(yield* reset(password), "invalid_field", "password")
      }
      assert.strictEqual((yield* call(`${url}/internal/session`, { headers: ownPage, body: owner })).status, 200)
      assert.strictEqual((yield* reset("a horse of another colour")).status, 204)
    }).pipe(Effect.scoped))

  it.live("a new owner's WAC_OWNER_PASSWORD that is common or their own address fails the start", () =>
    Effect.gen(function*() {
      for (const WAC_OWNER_PASSWORD of ["password", owner.email]) {
        const { message } = yield* Effect.scoped(Effect.flip(run({ ...environment, WAC_OWNER_PASSWORD })))
        assert.match(message, /^WAC_OWNER_PASSWORD: expected a password, which must not be [^\n]+$/)
      }
    }))

  it.live("a common WAC_OWNER_PASSWORD fails no start if the owner exists, whose password stays", () =>
    Effect.gen(function*() {
      const kept = { DATABASE_URL: yield* Effect.flatMap(postgres, freshDatabase), WAC_MASTER_KEY: masterKey() }
      yield* Effect.scoped(start({ environment: kept }))
      const { url } = yield* start({ environment: { ...kept, WAC_OWNER_PASSWORD: "password" } })
      const signIn = (password: string) =>
        Effect.map(
          call(`${url}/internal/session`, { headers: ownPage, body: { email: owner.email, password } }),
          ({ status }) => status
        )
      assert.deepStrictEqual([yield* signIn("password"), yield* signIn(owner.password)], [401, 200])
    }).pipe(Effect.scoped, Effect.orDie))
})

describe.concurrent("a notice", () => {
  const mailed = Effect.gen(function*() {
    const mail = yield* mailbox
    const server = yield* ready({ environment: { ...checks.unlimited, SMTP_URL: mail.url } })
    return { ...server, mail }
  })

  it.live("a person is mailed about a sign-in on a new device, and not about the next one there", () =>
    Effect.gen(function*() {
      const { mail, url } = yield* mailed
      const { text } = yield* mail.notice(owner.email, "You signed in on a new device")
      assert.match(text, /from the address (127\.0\.0\.1|::1|::ffff:127\.0\.0\.1)/)
      const first = yield* call(`${url}/internal/session`, { headers: ownPage, body: owner })
      const device = first.headers.getSetCookie().find((cookie) => cookie.startsWith("wac_device="))!.split(";")[0]!
      const count = () => mail.notices.filter(({ text }) => text.includes("on a new device")).length
      yield* checks.until(Effect.sync(count), (found) => found === 2)
      const again = yield* call(`${url}/internal/session`, { headers: { ...ownPage, cookie: device }, body: owner })
      assert.strictEqual(again.status, 200)
      // a mail about that sign-in would come before the mail about what happens after it
      const body = { current: owner.password, new: "a horse of another colour" }
      yield* call(`${url}/internal/password`, { method: "PUT", headers: cookieOf(again), body })
      yield* mail.notice(owner.email, "Your password was changed")
      assert.strictEqual(count(), 2)
    }).pipe(Effect.scoped))

  it.live("a person is mailed about an invitation accepted on a new device by password, not as a new person or by session", () =>
    Effect.gen(function*() {
      const { mail, services, session, url } = yield* mailed
      const ben = "ben@example.com"
      const notices = () => mail.notices.filter(({ text, to }) => to.includes(ben) && text.includes("on a new device"))
      const { headers } = yield* join(url, session, ben, "member")
      const [first, second] = [
        yield* checks.anotherWorkspace("first", "+15005550198").pipe(Effect.provideContext(services)),
        yield* checks.anotherWorkspace("second", "+15005550199").pipe(Effect.provideContext(services))
      ]
      const bySession = yield* accept(url, yield* checks.invited(services, first.id, ben, "member"), undefined, headers)
      assert.strictEqual(bySession.status, 200, bySession.text)
      const token = yield* checks.invited(services, second.id, ben, "member")
      assert.strictEqual((yield* accept(url, token, password)).status, 200)
      yield* mail.notice(ben, "You signed in on a new device")
      // the mails about the earlier ones would have come before
      yield* call(`${url}/internal/password`, {
        method: "PUT",
        headers: cookieOf(bySession),
        body: { current: password, new: "another horse entirely" }
      })
      yield* mail.notice(ben, "Your password was changed")
      assert.lengthOf(notices(), 1)
    }).pipe(Effect.scoped))

  it.live("a person is mailed when their password is changed", () =>
    Effect.gen(function*() {
      const { mail, session, url } = yield* mailed
      const next = "a horse of another colour"
      const changed = yield* call(`${url}/internal/password`, {
        method: "PUT",
        headers: session,
        body: { current: owner.password, new: next }
      })
      assert.strictEqual(changed.status, 204)
      const { text } = yield* mail.notice(owner.email, "Your password was changed")
      for (const password of [owner.password, next]) assert.notInclude(text, password)
    }).pipe(Effect.scoped))

  it.live("a person is mailed when a mailed link resets their password", () =>
    Effect.gen(function*() {
      const { mail, url } = yield* mailed
      yield* call(`${url}/internal/password/reset-request`, { headers: ownPage, body: { email: owner.email } })
      const token = tokenIn((yield* mail.to(owner.email)).text)
      const next = "a horse of another colour"
      const reset = yield* call(`${url}/internal/password/reset`, { headers: ownPage, body: { token, password: next } })
      assert.strictEqual(reset.status, 204)
      const { text } = yield* mail.notice(owner.email, "Your password was changed")
      assert.match(text, /from the address (127\.0\.0\.1|::1|::ffff:127\.0\.0\.1)/)
      for (const secret of [token, next]) assert.notInclude(text, secret)
    }).pipe(Effect.scoped))

  it.live("a person is mailed once when a mailed link resets their password, in however many workspaces they are", () =>
    Effect.gen(function*() {
      const { mail, services, session, url } = yield* mailed
      const reset = Effect.fnUntraced(function*(email: string) {
        yield* call(`${url}/internal/password/reset-request`, { headers: ownPage, body: { email } })
        // an invitation has a link too
        const link = yield* checks.until(
          Effect.sync(() =>
            mail.received.find(({ text, to }) => to.includes(email) && text.includes("password-reset#"))
          ),
          (found) => found !== undefined
        )
        const body = { token: tokenIn(link!.text), password: "a horse of another colour" }
        const answer = yield* call(`${url}/internal/password/reset`, { headers: ownPage, body })
        assert.strictEqual(answer.status, 204, answer.text)
        yield* mail.notice(email, "Your password was changed")
      })
      const [ben, cleo] = ["ben@example.com", "cleo@example.com"]
      const { id } = yield* join(url, session, ben, "member")
      yield* call(`${url}/internal/members/${id}`, { method: "DELETE", headers: session })
      const { headers } = yield* join(url, session, cleo, "member")
      const second = yield* checks.anotherWorkspace("second", "+15005550199").pipe(Effect.provideContext(services))
      yield* accept(url, yield* checks.invited(services, second.id, cleo, "member"), undefined, headers)
      yield* reset(cleo)
      // a second mail to the person before would come before this one
      yield* reset(ben)
      const count = (email: string) =>
        mail.notices.filter(({ text, to }) => to.includes(email) && text.includes("Your password was changed")).length
      assert.deepStrictEqual([count(ben), count(cleo)], [1, 1])
    }).pipe(Effect.scoped))

  it.live("owners are mailed about a rotated signing secret, without a secret", () =>
    Effect.gen(function*() {
      const { mail, session, url } = yield* mailed
      yield* join(url, session, "ben@example.com", "developer")
      const set = yield* call(`${url}/internal/webhook`, {
        method: "PUT",
        headers: session,
        body: { url: "https://example.com/hook" }
      })
      const rotated = yield* ask(url, session, "POST /internal/webhook/rotate-secret")
      assert.strictEqual(rotated.status, 200, rotated.text)
      const { text, to } = yield* mail.notice(owner.email, "A new signing secret of the webhook in wac")
      assert.deepStrictEqual(to, [owner.email])
      for (const secret of [set.body.signingSecret, rotated.body.signingSecret]) {
        assert.match(secret, /^whsec_/)
        assert.notInclude(text, secret)
      }
    }).pipe(Effect.scoped))

  it.live("owners are mailed about a new key, a changed webhook and a new owner, without a secret", () =>
    Effect.gen(function*() {
      const { mail, session, url } = yield* mailed
      const { id } = yield* join(url, session, "ben@example.com", "developer")
      const made = yield* ask(url, session, "POST /internal/api-keys")
      yield* checks.until(
        Effect.sync(() => mail.notices.filter(({ text }) => text.includes("A new API key in wac"))),
        (mails) => mails.length === 2
      )
      yield* call(`${url}/internal/webhook`, {
        method: "PUT",
        headers: session,
        body: { url: "https://example.com/hook?token=s3cret" }
      })
      yield* mail.notice(owner.email, "A changed webhook in wac")
      for (const { text } of mail.notices) {
        for (const secret of [made.body.apiKey, made.body.signingSecret, "s3cret"]) assert.notInclude(text, secret)
      }
      assert.isEmpty(mail.notices.filter(({ to }) => !to.includes(owner.email)))
      yield* call(`${url}/internal/members/${id}`, { method: "PATCH", headers: session, body: { role: "owner" } })
      for (const to of [owner.email, "ben@example.com"]) {
        assert.include((yield* mail.notice(to, "A new owner in wac")).text, "ben@example.com")
      }
      yield* join(url, session, "cem@example.com", "owner")
      yield* checks.until(
        Effect.sync(() => mail.notices.filter(({ text }) => text.includes("cem@example.com"))),
        (mails) => mails.length >= 2
      )
    }).pipe(Effect.scoped))
})
