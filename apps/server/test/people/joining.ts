/**
 * Somebody becomes a member by the link of an invitation; and requests that a change of their password overtakes.
 */
import { assert } from "@effect/vitest"
import { Password } from "@wac/core"
import { Context, Effect, Redacted } from "effect"
import { type Answer, call, noticed, ownPage } from "../harness.ts"
import { tokenIn } from "./mailbox.ts"

/** What a session is shown by. */
export type Headers = { readonly [name: string]: string }

/** The headers of the session that an answer opened. */
export const cookieOf = (answer: Answer) => ({
  ...ownPage,
  cookie: answer.headers.getSetCookie().find((cookie) => /^(?:__Host-)?wac_session=/.test(cookie))!.split(";")[0]!
})

/** The headers with the session's cookie that an answer set, if it did. */
export const renewedBy = (answer: Answer, headers: Headers): Headers =>
  answer.headers.getSetCookie().some((cookie) => /^(?:__Host-)?wac_session=/.test(cookie))
    ? { ...headers, ...cookieOf(answer) }
    : headers

/** Invites somebody. */
export const invite = (url: string, headers: Headers, email: string, role: string) =>
  call(`${url}/internal/members`, { headers, body: { email, role } })

/** Accepts an invitation. */
export const accept = (
  url: string,
  token: string,
  password?: string,
  headers: Headers = {},
  proof: { readonly code?: string; readonly credential?: unknown } = {}
) =>
  call(`${url}/internal/invitations/accept`, {
    headers: { ...ownPage, ...headers },
    body: { token, ...(password === undefined ? {} : { password }), ...proof }
  })

/** The invitation of a link. */
export const show = (url: string, token: string) =>
  call(`${url}/internal/invitations/show`, { headers: ownPage, body: { token } })

/** The password of whoever joins. */
export const password = "a horse of another colour"

/** Makes somebody a member; gives their session's headers and their id. */
export const join = Effect.fnUntraced(function*(url: string, by: Headers, email: string, role: string) {
  const invited = yield* invite(url, by, email, role)
  assert.strictEqual(invited.status, 201, invited.text)
  const accepted = yield* accept(url, tokenIn(invited.body.inviteUrl), password)
  assert.strictEqual(accepted.status, 200, accepted.text)
  return { headers: cookieOf(accepted), id: accepted.body.userId as string }
})

/**
 * Begins a request that has read the account's password hash and waits to verify a password with it, since others are
 * verified first.
 */
export const whileHashing = Effect.fnUntraced(function*<A>(
  { services, url }: { readonly services: Context.Context<Password.Passwords>; readonly url: string },
  request: Effect.Effect<A>
) {
  const passwords = Context.get(services, Password.Passwords)
  // strangers' sign-ins would not delay a person who has a session or an invitation
  for (let n = 0; n < 40; n++) {
    yield* Effect.forkChild(passwords.verify(Redacted.make(password), undefined), { startImmediately: true })
  }
  const waiting = yield* Effect.forkChild(request)
  yield* noticed(url)
  return waiting
})
