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
  it.live("do not let the password of an account be guessed faster than signing in does", () =>
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

  it.live("do not tell without a password whether there is an account of an address", () =>
    Effect.gen(function*() {
      const { invited, url } = yield* withOther
      const known = yield* accept(url, yield* invited("owner@example.com"))
      const unknown = yield* accept(url, yield* invited("nobody@example.com"))
      assert.deepStrictEqual(said(known), said(unknown))
      checks.assertInvalid(known, "missing_field", "password")
    }).pipe(Effect.scoped))

  it.live("mail at most a hundred people at once, so that nobody sends mail to strangers through the service", () =>
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

  it.live("are mailed to one address three times at once, whoever asks, and nobody is told", () =>
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

  it.live("open nothing once the password was changed in another way", () =>
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
