/**
 * What strangers, and people who mean harm, may not do with accounts, invitations and links (contract §12).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import { type Answer, call, ownPage, ready } from "../harness.ts"
import { accept, invite, password } from "./joining.ts"
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

describe.concurrent("invitations", () => {
  it.live("accepting invitations does not allow faster password guesses than signing in", () =>
    Effect.gen(function*() {
      const { invited, url } = yield* withOther
      const token = yield* invited("owner@example.com")
      for (let i = 0; i < 10; i++) {
        checks.assertError(yield* accept(url, token, `guess number ${i}`), 401, invalidCredentials("password"))
      }
      const limited = { code: "rate_limited", reason: "login" }
      checks.assertError(yield* accept(url, token, "guess number 10"), 429, limited)
      // the same limit as that of signing in
      const answer = yield* call(`${url}/internal/session`, {
        headers: ownPage,
        body: { email: "owner@example.com", password: "guess number 11" }
      })
      checks.assertError(answer, 429, limited)
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
