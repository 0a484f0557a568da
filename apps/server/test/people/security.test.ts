/**
 * What strangers, and people who mean harm, may not do with accounts, invitations and links (contract §12).
 */
import { assert, describe, it } from "@effect/vitest"
import { AuditEntry, AuditStore, Id, MemberStore, SessionStore } from "@wac/core"
import { Context, Deferred, Effect, Fiber } from "effect"
import * as checks from "../checks.ts"
import { type Answer, call, environment, ownPage, ready, signIn } from "../harness.ts"
import { accept, cookieOf, type Headers, invite, join, password, whileHashing } from "./joining.ts"
import { mailbox, tokenIn } from "./mailbox.ts"

const invalidCredentials = (param: string) => ({ code: "unauthorized", reason: "invalid_credentials", param })

/** A server with a further workspace, whose invitations name whom the test says. */
const withOther = Effect.gen(function*() {
  const server = yield* ready({ environment: checks.unlimited })
  const other = yield* checks.anotherWorkspace("other", "+15005550199").pipe(Effect.provideContext(server.services))
  return { ...server, invited: (email: string) => checks.invited(server.services, other.id, email, "developer") }
})

const said = ({ body, status }: Answer) => {
  const { doc_url: _, request_id: __, ...error } = body.error
  return [status, error]
}

describe.concurrent("an invitation's maker", () => {
  const change = (url: string, by: Headers, id: string, role: string) =>
    call(`${url}/internal/members/${id}`, { method: "PATCH", headers: by, body: { role } })
  const remove = (url: string, by: Headers, id: string) =>
    call(`${url}/internal/members/${id}`, { method: "DELETE", headers: by })
  const listed = (url: string, by: Headers) =>
    Effect.map(
      call(`${url}/internal/members`, { headers: by }),
      ({ body }) =>
        body.data.filter(({ status }: { readonly status: string }) => status === "invited").map((
          { email, invitedBy }: { readonly email: string; readonly invitedBy: { readonly email: string } | null }
        ) => [email, invitedBy?.email])
    )

  it.live("an owner who was removed cannot return by an invitation that they made before", () =>
    Effect.gen(function*() {
      const { session, url } = yield* ready({ environment: checks.unlimited })
      const second = yield* join(url, session, "second@example.com", "owner")
      const made = yield* invite(url, second.headers, "sock@example.com", "owner")
      assert.deepStrictEqual(yield* listed(url, session), [["sock@example.com", "second@example.com"]])
      assert.strictEqual((yield* change(url, session, second.id, "member")).status, 200)
      assert.deepStrictEqual(yield* listed(url, session), [])
      assert.strictEqual((yield* remove(url, session, second.id)).status, 204)
      const accepted = yield* accept(url, tokenIn(made.body.inviteUrl), password)
      checks.assertError(accepted, 401, invalidCredentials("token"))
    }).pipe(Effect.scoped))

  it.live("an admin who was removed leaves no invitation behind, and a return as admin revives none", () =>
    Effect.gen(function*() {
      const { session, url } = yield* ready({ environment: checks.unlimited })
      const admin = yield* join(url, session, "admin@example.com", "admin")
      const made = yield* invite(url, admin.headers, "sock@example.com", "admin")
      const kept = yield* invite(url, session, "kept@example.com", "admin")
      assert.strictEqual((yield* remove(url, session, admin.id)).status, 204)
      const again = yield* invite(url, session, "admin@example.com", "admin")
      assert.strictEqual((yield* accept(url, tokenIn(again.body.inviteUrl), password)).status, 200)
      checks.assertError(yield* accept(url, tokenIn(made.body.inviteUrl), password), 401, invalidCredentials("token"))
      assert.strictEqual((yield* accept(url, tokenIn(kept.body.inviteUrl), password)).status, 200)
    }).pipe(Effect.scoped))

  it.live("an admin neither withdraws nor replaces an owner's invitation", () =>
    Effect.gen(function*() {
      const { session, url } = yield* ready({ environment: checks.unlimited })
      const admin = yield* join(url, session, "admin@example.com", "admin")
      const roleNotAllowed = { code: "forbidden", reason: "role_not_allowed" }
      for (const [email, role] of [["sue@example.com", "owner"], ["tom@example.com", "member"]] as const) {
        const made = yield* invite(url, session, email, role)
        checks.assertError(yield* remove(url, admin.headers, made.body.id), 403, roleNotAllowed)
        checks.assertError(yield* invite(url, admin.headers, email, "member"), 403, roleNotAllowed)
        const accepted = yield* accept(url, tokenIn(made.body.inviteUrl), password)
        assert.deepStrictEqual([accepted.status, accepted.body.role], [200, role])
        assert.isDefined(cookieOf(accepted))
      }
      const own = yield* invite(url, admin.headers, "uma@example.com", "member")
      assert.strictEqual((yield* invite(url, admin.headers, "uma@example.com", "developer")).status, 201)
      checks.assertError(yield* remove(url, admin.headers, own.body.id), 404, { code: "not_found" })
    }).pipe(Effect.scoped))

  it.live("a removed member is not notified of alerts any more", () =>
    Effect.gen(function*() {
      const { session, url } = yield* ready({ environment: checks.unlimited })
      const admin = yield* join(url, session, "admin@example.com", "admin")
      const set = (body?: unknown) =>
        call(`${url}/internal/alerts/settings`, {
          headers: session,
          ...(body === undefined ? {} : { method: "PUT", body })
        })
      const emails = ["Admin@example.com", "ops@example.com"]
      assert.strictEqual((yield* set({ emails, url: null })).status, 200)
      assert.strictEqual((yield* remove(url, session, admin.id)).status, 204)
      assert.deepStrictEqual((yield* set()).body.emails, ["ops@example.com"])
    }).pipe(Effect.scoped))
})

describe.concurrent("invitations", () => {
  it.live("wrong passwords with invitations for an address are limited as at a sign-in, and do not prevent one", () =>
    Effect.gen(function*() {
      const { invited, url } = yield* withOther
      const token = yield* invited("owner@example.com")
      for (let i = 0; i < 10; i++) {
        checks.assertError(yield* accept(url, token, `guess number ${i}`), 401, invalidCredentials("password"))
      }
      const limited = { code: "rate_limited", reason: "login" }
      checks.assertError(yield* accept(url, token, environment.WAC_OWNER_PASSWORD), 429, limited)
      // nor is another invitation another ten guesses
      const another = yield* invited("owner@example.com")
      checks.assertError(yield* accept(url, another, "guess number 10"), 429, limited)
      // a session is proof enough
      const headers = yield* signIn(url)
      assert.strictEqual((yield* accept(url, another, undefined, headers)).status, 200)
    }).pipe(Effect.scoped))

  it.live("of two passwords that are chosen for an address at once, the second opens no session of its account", () =>
    Effect.gen(function*() {
      const { invited, session, url } = yield* withOther
      const here = yield* invite(url, session, "ben@example.com", "member")
      const there = yield* invited("ben@example.com")
      const accepted = yield* Effect.all([
        accept(url, tokenIn(here.body.inviteUrl), password),
        accept(url, there, "the one of a thief")
      ], { concurrency: "unbounded" })
      const refused = accepted.filter(({ status }) => status !== 200)
      assert.lengthOf(refused, 1)
      checks.assertError(refused[0]!, 401, invalidCredentials("password"))
      assert.isEmpty(refused[0]!.headers.getSetCookie())
    }).pipe(Effect.scoped))

  it.live("an invitation opens no session by a password that was reset after it was verified", () =>
    Effect.gen(function*() {
      const { invited, services, session, url } = yield* withOther
      const { id } = yield* join(url, session, "ben@example.com", "member")
      const token = yield* invited("ben@example.com")
      const accepting = yield* whileHashing({ services, url }, accept(url, token, password))
      const members = Context.get(services, MemberStore.MemberStore)
      yield* Effect.orDie(members.setPassword(Id.UserId.make(id), "$reset"))
      const refused = yield* Fiber.join(accepting)
      checks.assertError(refused, 401, { code: "unauthorized", reason: "invalid_credentials" })
      assert.isEmpty(refused.headers.getSetCookie())
    }).pipe(Effect.scoped))

  it.live("a person who becomes an owner by a session that ends meanwhile is in the audit, and the owners are mailed", () =>
    Effect.gen(function*() {
      const mail = yield* mailbox
      const { services, session, url } = yield* ready({ environment: { ...checks.unlimited, SMTP_URL: mail.url } })
      const other = yield* checks.anotherWorkspace("other", "+15005550199").pipe(Effect.provideContext(services))
      const otherOwner = yield* checks.invited(services, other.id, "ada@example.com", "owner")
      assert.strictEqual((yield* accept(url, otherOwner, password)).status, 200)
      const { headers, id } = yield* join(url, session, "ben@example.com", "member")
      const token = yield* checks.invited(services, other.id, "ben@example.com", "owner")
      const [reached, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const sessions = Context.get(services, SessionStore.SessionStore)
      const { create } = sessions
      Object.assign(sessions, {
        create: (...given: Parameters<typeof create>) =>
          Deferred.succeed(reached, undefined).pipe(
            Effect.andThen(Deferred.await(released)),
            Effect.andThen(create(...given))
          )
      })
      const accepting = yield* Effect.forkChild(accept(url, token, undefined, headers))
      yield* Deferred.await(reached)
      assert.strictEqual((yield* call(`${url}/internal/session`, { method: "DELETE", headers })).status, 204)
      yield* Deferred.succeed(released, undefined)
      checks.assertError(yield* Fiber.join(accepting), 401, { code: "unauthorized", reason: "invalid_credentials" })
      const members = Context.get(services, MemberStore.MemberStore)
      const roles = (yield* Effect.orDie(members.ofWorkspace(other.id))).map(({ email, role }) => [email, role])
      assert.deepInclude(roles, ["ben@example.com", "owner"])
      const audit = Context.get(services, AuditStore.AuditStore)
      const { items } = yield* Effect.orDie(audit.list(other.id, {}, { limit: 100, after: null }))
      const joins = items.filter(({ action, by }) =>
        action === "member.join" && by !== null && AuditEntry.namesOf(by).id === id
      )
      assert.deepStrictEqual(joins.map(({ detail }) => detail), [{ email: "ben@example.com", role: "owner" }])
      yield* checks.until(
        Effect.sync(() =>
          mail.notices.some(({ text, to }) =>
            to.includes("ada@example.com") && /A new owner[^]*ben@example\.com/.test(text)
          )
        ),
        (isMailed) => isMailed
      )
    }).pipe(Effect.scoped))

  it.live("an invitation does not reveal without a password whether an address has an account", () =>
    Effect.gen(function*() {
      const { invited, url } = yield* withOther
      const known = yield* accept(url, yield* invited("owner@example.com"))
      const unknown = yield* accept(url, yield* invited("nobody@example.com"))
      assert.deepStrictEqual(said(known), said(unknown))
      checks.assertInvalid(known, "missing_field", "password")
    }).pipe(Effect.scoped))

  it.live("a workspace mails at most 100 invitations at once", () =>
    Effect.gen(function*() {
      const mail = yield* mailbox
      const { session, url } = yield* ready({
        environment: { ...checks.unlimited, SMTP_URL: mail.url, LOG_LEVEL: "error" }
      })
      for (let i = 0; i < 105; i++) {
        assert.strictEqual((yield* invite(url, session, `stranger${i}@example.com`, "member")).status, 201)
      }
      yield* checks.until(Effect.sync(() => mail.received.length), (count) => count === 100)
      // another workspace's mail, and that of one's own password, is none of these
      yield* call(`${url}/internal/password/reset-request`, {
        headers: ownPage,
        body: { email: "owner@example.com" }
      })
      yield* mail.to("owner@example.com")
      assert.lengthOf(mail.received, 101)
    }).pipe(Effect.scoped))
})

describe.concurrent("links that reset a password", () => {
  const ask = (url: string, email: string) =>
    call(`${url}/internal/password/reset-request`, { headers: ownPage, body: { email } })

  it.live("at most three reset links at once are mailed to one address, and the response does not reveal it", () =>
    Effect.gen(function*() {
      const mail = yield* mailbox
      const { session, url } = yield* ready({ environment: { ...checks.unlimited, SMTP_URL: mail.url } })
      const invited = yield* invite(url, session, "ben@example.com", "member")
      yield* accept(url, tokenIn(invited.body.inviteUrl), password)
      yield* mail.to("ben@example.com")
      for (let i = 0; i < 5; i++) assert.strictEqual((yield* ask(url, "owner@example.com")).status, 202)
      yield* ask(url, "ben@example.com")
      yield* checks.until(
        Effect.sync(() => mail.received.filter(({ to }) => to.includes("ben@example.com")).length),
        (count) => count === 2
      )
      assert.lengthOf(mail.received.filter(({ to }) => to.includes("owner@example.com")), 3)
    }).pipe(Effect.scoped))

  it.live("a reset link is invalid once the password was changed otherwise", () =>
    Effect.gen(function*() {
      const mail = yield* mailbox
      const { session, url } = yield* ready({ environment: { ...checks.unlimited, SMTP_URL: mail.url } })
      yield* ask(url, "owner@example.com")
      const { text } = yield* mail.to("owner@example.com")
      const changed = yield* call(`${url}/internal/password`, {
        method: "PUT",
        headers: session,
        body: { current: "correct horse battery", new: password }
      })
      assert.strictEqual(changed.status, 204)
      const reset = yield* call(`${url}/internal/password/reset`, {
        headers: ownPage,
        body: { token: tokenIn(text), password: "the one of a thief" }
      })
      checks.assertError(reset, 401, invalidCredentials("token"))
    }).pipe(Effect.scoped))
})
