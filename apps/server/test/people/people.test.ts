/**
 * Members, invitations, workspaces of a person, sessions and passwords (contract §12 *Members*).
 */
import { assert, describe, it } from "@effect/vitest"
import { MemberStore } from "@wac/core"
import { Context, Effect, Fiber, Option } from "effect"
import * as checks from "../checks.ts"
import { type Answer, call, createKey, ownPage, ready, signIn } from "../harness.ts"
import { moving } from "../movable.ts"
import { accept, cookieOf, type Headers, invite, join, password, renewedBy, show, whileHashing } from "./joining.ts"
import { mailbox, tokenIn } from "./mailbox.ts"

const members = (url: string, headers: Headers) =>
  Effect.map(
    call(`${url}/internal/members`, { headers }),
    ({ body }) =>
      body.data.map(({ email, role, status }: { readonly [field: string]: string }) => [email, role, status])
  )

const roleNotAllowed = { code: "forbidden", reason: "role_not_allowed" }
const missingSession = { code: "unauthorized", reason: "missing_session" }
const invalidCredentials = (param: string) => ({ code: "unauthorized", reason: "invalid_credentials", param })

describe.concurrent("members", () => {
  it.live("an invited person becomes a member by the link, once, with the permissions of their role", () =>
    Effect.gen(function*() {
      const { session, url } = yield* ready({ environment: checks.unlimited })
      const invited = yield* invite(url, session, "Ben@Example.com", "member")
      assert.strictEqual(invited.status, 201, invited.text)
      assert.match(invited.body.id, checks.idShape("inv"))
      assert.match(invited.body.inviteUrl, /^http:\/\/127\.0\.0\.1:\d+\/dashboard\/invitation#token=[0-9A-Za-z]{32}$/)
      const week = Date.parse(invited.body.expiresAt) - checks.now()
      assert.closeTo(week, 7 * 24 * 3_600_000, 60_000)
      assert.deepStrictEqual(yield* members(url, session), [
        ["owner@example.com", "owner", "active"],
        ["ben@example.com", "member", "invited"]
      ])
      const token = tokenIn(invited.body.inviteUrl)
      assert.deepStrictEqual((yield* show(url, token)).body, {
        workspaceName: (yield* call(`${url}/internal/session`, { headers: session })).body.workspaceName,
        email: "ben@example.com",
        role: "member",
        invitedBy: "owner@example.com",
        expiresAt: invited.body.expiresAt
      })
      checks.assertError(yield* show(url, token.slice(1)), 401, invalidCredentials("token"))
      checks.assertInvalid(yield* accept(url, token), "missing_field", "password")
      checks.assertError(yield* accept(url, token.slice(1), password), 401, invalidCredentials("token"))
      const accepted = yield* accept(url, token, password)
      assert.deepStrictEqual([accepted.status, accepted.body.role, accepted.body.email], [
        200,
        "member",
        "ben@example.com"
      ])
      checks.assertError(yield* accept(url, token, password), 401, invalidCredentials("token"))
      checks.assertError(yield* show(url, token), 401, invalidCredentials("token"))
      const ben = cookieOf(accepted)
      checks.assertError(yield* call(`${url}/internal/members`, { headers: ben }), 403, roleNotAllowed)
      assert.strictEqual((yield* call(`${url}/internal/api-keys`, { headers: ben })).status, 200)
      const created = yield* call(`${url}/internal/api-keys`, {
        headers: { ...ben, "idempotency-key": "x" },
        body: { name: "x" }
      })
      checks.assertError(created, 403, roleNotAllowed)
      // a role counts from the next request on
      const changed = yield* call(`${url}/internal/members/${accepted.body.userId}`, {
        method: "PATCH",
        headers: session,
        body: { role: "developer" }
      })
      assert.deepStrictEqual([changed.status, changed.body.role], [200, "developer"])
      assert.match((yield* createKey(url, ben)).id, checks.idShape("key"))
      // and so does being removed
      const removed = yield* call(`${url}/internal/members/${accepted.body.userId}`, {
        method: "DELETE",
        headers: session
      })
      assert.strictEqual(removed.status, 204)
      checks.assertError(yield* call(`${url}/internal/session`, { headers: ben }), 401, missingSession)
      const again = yield* call(`${url}/internal/session`, {
        headers: ownPage,
        body: { email: "ben@example.com", password }
      })
      checks.assertError(again, 403, { code: "forbidden", reason: "role_not_allowed" })
    }).pipe(Effect.scoped))

  it.live("an invitation can be withdrawn, a member cannot be invited, and foreign invitations are not found", () =>
    Effect.gen(function*() {
      const server = yield* ready({ environment: checks.unlimited })
      const { session, url } = server
      const invited = yield* invite(url, session, "ben@example.com", "developer")
      const withdraw = (headers: Headers) =>
        call(`${url}/internal/members/${invited.body.id}`, { method: "DELETE", headers })
      assert.strictEqual((yield* withdraw(session)).status, 204)
      checks.assertError(yield* withdraw(session), 404, { code: "not_found" })
      checks.assertError(
        yield* accept(url, tokenIn(invited.body.inviteUrl), password),
        401,
        invalidCredentials("token")
      )
      checks.assertInvalid(yield* invite(url, session, "OWNER@example.com", "admin"), "invalid_field", "email")
      checks.assertInvalid(yield* invite(url, session, "nobody", "admin"), "invalid_field", "email")
      for (const id of [`usr_${checks.nobody}`, `inv_${checks.nobody}`, "x"]) {
        const answer = yield* call(`${url}/internal/members/${id}`, { method: "DELETE", headers: session })
        checks.assertError(answer, 404, { code: "not_found" })
      }
    }).pipe(Effect.scoped))

  it.live("an invitation that has expired, or whose maker may not give its role any more, is not shown", () =>
    Effect.gen(function*() {
      const { pass, session, url } = yield* moving(ready({ environment: checks.unlimited }))
      const { headers, id } = yield* join(url, session, "ada@example.com", "admin")
      const byAdmin = tokenIn((yield* invite(url, headers, "ben@example.com", "admin")).body.inviteUrl)
      const byOwner = tokenIn((yield* invite(url, session, "eve@example.com", "admin")).body.inviteUrl)
      assert.deepStrictEqual((yield* show(url, byAdmin)).body.invitedBy, "ada@example.com")
      yield* call(`${url}/internal/members/${id}`, { method: "PATCH", headers: session, body: { role: "developer" } })
      checks.assertError(yield* show(url, byAdmin), 401, invalidCredentials("token"))
      assert.strictEqual((yield* show(url, byOwner)).status, 200)
      yield* pass("7 days")
      checks.assertError(yield* show(url, byOwner), 401, invalidCredentials("token"))
    }).pipe(Effect.scoped))

  it.live("an admin can manage members but not owners, and the last owner cannot be changed", () =>
    Effect.gen(function*() {
      const { session, url } = yield* ready({ environment: checks.unlimited })
      const { userId: owner } = (yield* call(`${url}/internal/session`, { headers: session })).body
      const admin = yield* join(url, session, "ada@example.com", "admin")
      const member = yield* join(url, admin.headers, "ben@example.com", "member")
      const change = (by: Headers, id: string, role: string) =>
        call(`${url}/internal/members/${id}`, { method: "PATCH", headers: by, body: { role } })
      checks.assertError(yield* invite(url, admin.headers, "eve@example.com", "owner"), 403, roleNotAllowed)
      checks.assertError(yield* change(admin.headers, member.id, "owner"), 403, roleNotAllowed)
      checks.assertError(yield* change(admin.headers, owner, "member"), 403, roleNotAllowed)
      checks.assertError(yield* change(session, owner, "admin"), 403, roleNotAllowed)
      const leave = yield* call(`${url}/internal/members/${owner}`, { method: "DELETE", headers: session })
      checks.assertError(leave, 403, roleNotAllowed)
      assert.strictEqual((yield* change(session, admin.id, "owner")).status, 200)
      assert.strictEqual((yield* change(admin.headers, owner, "member")).status, 200)
      checks.assertError(yield* change(session, owner, "owner"), 403, roleNotAllowed)
    }).pipe(Effect.scoped))

  it.live("the invitation is also mailed if mail is set up", () =>
    Effect.gen(function*() {
      const mail = yield* mailbox
      const { session, url } = yield* ready({
        environment: { ...checks.unlimited, SMTP_URL: mail.url, SMTP_FROM: "wac@example.com" }
      })
      const invited = yield* invite(url, session, "ben@example.com", "member")
      const received = yield* mail.to("ben@example.com")
      assert.strictEqual(received.from, "wac@example.com")
      assert.include(received.text, "Subject: You are invited to wac")
      assert.strictEqual(tokenIn(received.text), tokenIn(invited.body.inviteUrl))
      assert.strictEqual((yield* accept(url, tokenIn(received.text), password)).status, 200)
    }).pipe(Effect.scoped))

  it.live("an invitation is valid even if the mail server refuses it, and the log names no person", () =>
    Effect.gen(function*() {
      const { session, url } = yield* ready({
        environment: { ...checks.unlimited, SMTP_URL: "smtp://127.0.0.1:1", LOG_LEVEL: "error" }
      })
      assert.strictEqual((yield* invite(url, session, "ben@example.com", "member")).status, 201)
    }).pipe(Effect.scoped))
})

describe.concurrent("a person's workspaces", () => {
  it.live("a session can switch workspaces, with the role in each; accepting an invitation needs the account's password", () =>
    Effect.gen(function*() {
      const server = yield* ready({ environment: checks.unlimited })
      const { services, session, url } = server
      const other = yield* checks.anotherWorkspace("other", "+15005550199").pipe(Effect.provideContext(services))
      // its first member comes by a host's or an operator's hand: here by the store
      const invited = yield* checks.invited(services, other.id, "owner@example.com", "developer")
      checks.assertError(yield* accept(url, invited, "wrong password"), 401, invalidCredentials("password"))
      // signed in, no password is needed
      const accepted = yield* accept(url, invited, undefined, { cookie: session.cookie })
      assert.deepStrictEqual([accepted.status, accepted.body.role, accepted.body.workspaceId], [
        200,
        "developer",
        other.id
      ])
      const here = cookieOf(accepted)
      const list = yield* call(`${url}/internal/workspaces`, { headers: here })
      assert.deepStrictEqual(
        list.body.data.map((
          { isCurrent, name, role }: { readonly [field: string]: unknown }
        ) => [name, role, isCurrent]),
        [["wac", "owner", false], ["other", "developer", true]]
      )
      const home = list.body.data[0].id
      const keyOf = yield* createKey(url, here, { name: "other's" })
      const moved = yield* call(`${url}/internal/session/workspace`, { headers: here, body: { workspaceId: home } })
      assert.deepStrictEqual([moved.status, moved.body.role, moved.body.workspaceId], [200, "owner", home])
      assert.deepStrictEqual((yield* call(`${url}/internal/session`, { headers: here })).body, moved.body)
      const keys = yield* call(`${url}/internal/api-keys`, { headers: here })
      assert.notInclude(keys.text, keyOf.id)
      for (const workspaceId of [`ws_${checks.nobody}`, "x"]) {
        const answer = yield* call(`${url}/internal/session/workspace`, { headers: here, body: { workspaceId } })
        checks.assertError(answer, 404, { code: "not_found" })
      }
    }).pipe(Effect.scoped))
})

describe.concurrent("a page's session", () => {
  it.live("a request that names the session of its page is refused in one of another workspace or person", () =>
    Effect.gen(function*() {
      const { services, session, url } = yield* ready({ environment: checks.unlimited })
      const ben = yield* join(url, session, "ben@example.com", "admin")
      const { body: shown } = yield* call(`${url}/internal/session`, { headers: session })
      const page = { "wac-session": `${shown.workspaceId} ${shown.userId}` }
      const words = (headers: Headers, word: string) =>
        call(`${url}/internal/settings/opt-out`, {
          method: "PUT",
          headers: { ...headers, ...page },
          body: { stopWords: [word], startWords: [], removed: [] }
        })
      assert.strictEqual((yield* words({ ...ownPage, ...session }, "adieu")).status, 200)
      const other = yield* checks.anotherWorkspace("other", "+15005550199").pipe(Effect.provideContext(services))
      const invited = yield* checks.invited(services, other.id, "owner@example.com", "admin")
      const there = cookieOf(yield* accept(url, invited, undefined, { cookie: session.cookie }))
      for (const headers of [there, ben.headers]) {
        checks.assertError(yield* words(headers, "addio"), 401, missingSession)
        checks.assertError(
          yield* call(`${url}/internal/session`, { method: "DELETE", headers: { ...headers, ...page } }),
          401,
          missingSession
        )
        const { body } = yield* call(`${url}/internal/settings/opt-out`, { headers })
        assert.deepStrictEqual(body.stopWords, headers === there ? [] : ["adieu"])
      }
      for (const wrong of ["", shown.workspaceId, `${other.id} usr_${checks.nobody}`]) {
        const answer = yield* call(`${url}/internal/api-keys`, { headers: { ...there, "wac-session": wrong } })
        checks.assertError(answer, 401, missingSession)
      }
    }).pipe(Effect.scoped))
})

describe.concurrent("a person's sessions", () => {
  it.live("sessions are listed with their address and browser, and can be ended one by one", () =>
    Effect.gen(function*() {
      const { session, url } = yield* ready({ environment: checks.unlimited })
      const other = yield* signIn(url)
      const list = yield* call(`${url}/internal/sessions`, { headers: session })
      assert.strictEqual(list.body.data.length, 2)
      const [newest, own] = list.body.data
      assert.deepStrictEqual([newest.isCurrent, own.isCurrent], [false, true])
      assert.match(own.id, checks.idShape("ses"))
      assert.deepStrictEqual([own.address, own.agent], ["127.0.0.1", "node"])
      assert.match(own.expiresAt, checks.timeShape)
      assert.notInclude(list.text, session.cookie.slice("wac_session=".length))
      const end = (id: string, headers: Headers) =>
        call(`${url}/internal/sessions/${id}`, { method: "DELETE", headers })
      const ben = yield* join(url, session, "ben@example.com", "owner")
      checks.assertError(yield* end(newest.id, ben.headers), 404, { code: "not_found" })
      assert.strictEqual((yield* end(newest.id, session)).status, 204)
      checks.assertError(yield* end(newest.id, session), 404, { code: "not_found" })
      checks.assertError(yield* call(`${url}/internal/session`, { headers: other }), 401, missingSession)
      assert.strictEqual((yield* call(`${url}/internal/session`, { headers: session })).status, 200)
    }).pipe(Effect.scoped))
})

describe.concurrent("a password", () => {
  const signInWith = (url: string, password: string) =>
    call(`${url}/internal/session`, { headers: ownPage, body: { email: "owner@example.com", password } })

  it.live("changing a password requires the current one, and ends the person's other sessions", () =>
    Effect.gen(function*() {
      const { session, url } = yield* ready({ environment: checks.unlimited })
      const other = yield* signIn(url)
      let headers: Headers = session
      const change = (current: string, next: string) =>
        Effect.tap(
          Effect.suspend(() =>
            call(`${url}/internal/password`, { method: "PUT", headers, body: { current, new: next } })
          ),
          (answer) => Effect.sync(() => void (headers = renewedBy(answer, headers)))
        )
      checks.assertError(yield* change("wrong password", password), 401, invalidCredentials("current"))
      checks.assertInvalid(yield* change("correct horse battery", "short"), "invalid_field", "new")
      assert.strictEqual((yield* change("correct horse battery", password)).status, 204)
      checks.assertError(yield* call(`${url}/internal/session`, { headers: other }), 401, missingSession)
      assert.strictEqual((yield* call(`${url}/internal/session`, { headers })).status, 200)
      // the cookie of before ends too, of which there may be a copy
      checks.assertError(yield* call(`${url}/internal/session`, { headers: session }), 401, missingSession)
      assert.strictEqual((yield* signInWith(url, "correct horse battery")).status, 401)
      assert.strictEqual((yield* signInWith(url, password)).status, 200)
      // guesses are limited as in signing in
      let refused: Answer | undefined
      for (let n = 0; n < 12 && refused?.status !== 429; n++) refused = yield* change(`guess number ${n}`, password)
      checks.assertError(refused!, 429, { code: "rate_limited", reason: "login" })
    }).pipe(Effect.scoped))

  it.live("a password change under way does not undo a reset, and is refused", () =>
    Effect.gen(function*() {
      const { services, session, url } = yield* ready({ environment: checks.unlimited })
      const members = Context.get(services, MemberStore.MemberStore)
      const { person } = Option.getOrThrow(yield* Effect.orDie(members.findByEmail("owner@example.com")))
      const thief = "correct horse battery"
      const change = yield* whileHashing(
        { services, url },
        call(`${url}/internal/password`, { method: "PUT", headers: session, body: { current: thief, new: thief } })
      )
      yield* Effect.orDie(members.setPassword(person.userId, "$reset"))
      checks.assertError(yield* Fiber.join(change), 401, invalidCredentials("current"))
      const { person: { passwordHash } } = Option.getOrThrow(
        yield* Effect.orDie(members.findByUserId(person.userId))
      )
      assert.strictEqual(passwordHash, "$reset")
      checks.assertError(yield* call(`${url}/internal/session`, { headers: session }), 401, missingSession)
    }).pipe(Effect.scoped))

  it.live("a mailed link resets a password once, and ends all of the person's sessions", () =>
    Effect.gen(function*() {
      const mail = yield* mailbox
      const { session, url } = yield* ready({ environment: { ...checks.unlimited, SMTP_URL: mail.url } })
      const ask = (email: string) =>
        call(`${url}/internal/password/reset-request`, { headers: ownPage, body: { email } })
      const unknown = yield* ask("nobody@example.com")
      const known = yield* ask("OWNER@example.com")
      assert.deepStrictEqual([unknown.status, unknown.text], [202, ""])
      assert.deepStrictEqual([known.status, known.text], [202, ""])
      const { text } = yield* mail.to("owner@example.com")
      assert.lengthOf(mail.received, 1)
      assert.match(text, /\/dashboard\/password-reset#token=/)
      const reset = (token: string) =>
        call(`${url}/internal/password/reset`, { headers: ownPage, body: { token, password } })
      checks.assertError(yield* reset("x".repeat(32)), 401, invalidCredentials("token"))
      assert.strictEqual((yield* reset(tokenIn(text))).status, 204)
      checks.assertError(yield* reset(tokenIn(text)), 401, invalidCredentials("token"))
      checks.assertError(yield* call(`${url}/internal/session`, { headers: session }), 401, missingSession)
      assert.strictEqual((yield* signInWith(url, password)).status, 200)
    }).pipe(Effect.scoped))

  it.live("without mail, a password reset link is refused with the reason", () =>
    Effect.gen(function*() {
      const { url } = yield* ready()
      const answer = yield* call(`${url}/internal/password/reset-request`, {
        headers: ownPage,
        body: { email: "owner@example.com" }
      })
      checks.assertError(answer, 404, { code: "not_found" })
      assert.include(answer.text, "wac members reset-password")
    }).pipe(Effect.scoped))
})
