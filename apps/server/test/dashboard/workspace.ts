/**
 * A workspace in which something of everything has happened, for what is looked at in the dashboard.
 */
import { assert } from "@effect/vitest"
import { Time } from "@wac/core"
import { RecordingReceiver } from "@wac/testkit"
import { Clock, Effect } from "effect"
import * as checks from "../checks.ts"
import { call, createKey, ownPage, receiver as makeReceiver, send, setWebhook, signIn, start } from "../harness.ts"
import { moving, still } from "../movable.ts"

const started = (environment: { readonly [name: string]: string } = {}) =>
  start({ environment: { ...checks.unlimited, WAC_WORKSPACE_NAME: "Lima Flowers", ...environment } })

/** A server in memory with these settings, its owner signed in, and nothing done yet. */
export const emptyWith = Effect.fnUntraced(function*(environment: { readonly [name: string]: string }) {
  const server = yield* moving(started(environment))
  return { ...server, session: yield* signIn(server.url) }
})

/** The same server with no other setting. */
export const empty = emptyWith({})

/** The same server, whose time stands still: what is good for seconds is still good, however slow the machine is. */
export const emptyAndStill = Effect.gen(function*() {
  const server = yield* still(started())
  return { ...server, session: yield* signIn(server.url) }
})

/** A server whose receiver answers nothing but 503, so that its webhook fails; a person may pause it. */
export const failing = Effect.gen(function*() {
  const server = yield* empty
  const { session, url } = server
  const receiver = yield* makeReceiver
  yield* receiver.answerWith(RecordingReceiver.reply(503, { body: "<i>down</i>" }))
  yield* setWebhook({ session, url }, { url: receiver.url })
  const key = yield* createKey(url, session)
  // nothing more is reported of messages to this number: each has one event, and five failures in a row are enough
  for (let i = 0; i < 6; i++) yield* send({ key, url }, template("+15005550003", "order_update", "Ana", `${i}`))
  yield* checks.until(
    Effect.map(call(`${url}/internal/webhook`, { headers: session }), ({ body }) => body),
    ({ failingSince }) => failingSince !== null
  )
  return { ...server, receiver }
})

/** A server whose database is a restored copy, with a message that is due and held. */
export const restored = Effect.gen(function*() {
  const server = yield* empty
  yield* checks.holdQueues(server).pipe(Effect.provideService(Clock.Clock, server.clock))
  const { session, url } = server
  const key = yield* createKey(url, session)
  const queued = yield* send({ key, url }, {
    ...template("+15551234505", "hello_world"),
    send_at: Time.iso(server.clock.currentTimeMillisUnsafe())
  })
  assert.strictEqual(queued.status, 202, queued.text)
  return { ...server, queued: queued.body.message_id as string }
})

/** The same server, with a member of the workspace, or somebody of another role, signed in. */
export const asMember = Effect.fnUntraced(function*(
  { session, url }: { readonly session: { readonly cookie: string }; readonly url: string },
  email = "member@example.com",
  role = "member"
) {
  const password = "a password of my own"
  const invited = yield* call(`${url}/internal/members`, {
    headers: { ...ownPage, ...session },
    body: { email, role }
  })
  assert.strictEqual(invited.status, 201, invited.text)
  const token = new URLSearchParams(new URL(invited.body.inviteUrl).hash.slice(1)).get("token")!
  const joined = yield* call(`${url}/internal/invitations/accept`, { headers: ownPage, body: { token, password } })
  assert.strictEqual(joined.status, 200, joined.text)
  return { cookie: joined.headers.getSetCookie()[0]!.split(";")[0]! }
})

const template = (to: string, name: string, ...bodyParams: ReadonlyArray<string>) => ({
  to,
  type: "template",
  template: { name, language: "en_US", ...(bodyParams.length === 0 ? {} : { bodyParams }) }
})

/** Creates a campaign whose rows are checked. Gives its id. */
export const ready = Effect.fnUntraced(function*(
  { session, url }: { readonly session: { readonly cookie: string }; readonly url: string }
) {
  const at = `${url}/internal/campaigns`
  const headers = { ...ownPage, ...session }
  const created = yield* call(at, {
    headers,
    body: {
      name: "Spring offer",
      template: { name: "promo", language: "en_US", bodyParams: ["{{discount}} for <b>{{name}}</b>"] }
    }
  })
  assert.strictEqual(created.status, 201, created.text)
  const { id } = created.body
  const file = "to,name,discount\n+15551230001,Ana,10 %\n+15551230001,Ana,20 %\n12,Ben,5 %\n+15551230003,Cleo,15 %\n"
  const answer = yield* Effect.promise(() =>
    fetch(`${at}/${id}/recipients`, { method: "PUT", headers: { ...headers, "content-type": "text/csv" }, body: file })
  )
  assert.strictEqual(answer.status, 200)
  yield* call(`${at}/${id}/check`, { method: "POST", headers })
  yield* checks.until(
    Effect.map(call(`${at}/${id}`, { headers: session }), ({ body }) => body),
    ({ status }) => status === "ready"
  )
  return id as string
})

/** Gives the id of one thing of each kind. */
export const filled = Effect.gen(function*() {
  const server = yield* empty
  const { pass, session, url } = server
  const receiver = yield* makeReceiver
  yield* setWebhook({ session, url }, { url: receiver.url })
  const key = yield* createKey(url, session, { name: "Order service" })
  yield* createKey(url, session, { name: "Newsletter", requireSignature: true })
  const get = (path: string) => Effect.map(call(`${url}/internal${path}`, { headers: session }), ({ body }) => body)
  const sent = Effect.fnUntraced(function*(body: object) {
    const answer = yield* send({ key, url }, body)
    assert.strictEqual(answer.status, 200, answer.text)
    return answer.body.message_id as string
  })
  /** Suspends until a list of the dashboard is as it should be. */
  const reached = (path: string, holds: (body: ReturnType<typeof JSON.parse>) => boolean) =>
    checks.until(get(path), holds)

  // a receiver that refuses one event for a day while it accepts the others
  yield* receiver.answerWith(({ body }) =>
    new TextDecoder().decode(body).includes("order-refused")
      ? RecordingReceiver.reply(422, { body: "{\"error\":\"<b>unknown</b> order\"}" })
      : RecordingReceiver.ok
  )
  yield* sent({ ...template("+15005550003", "order_update", "Ana", "1001"), client_reference: "order-refused" })
  yield* reached("/webhook/deliveries", ({ data }) => data[0]?.attemptCount >= 1)
  for (let hour = 0; hour < 26; hour += 2) {
    yield* pass("2 hours")
    yield* sent(template(`+49151234560${10 + hour}`, "order_update", "Jonas", `${1002 + hour}`))
    // no attempt is under way when time passes, or it would time out
    yield* reached("/messages?limit=1", ({ data }) => data[0].status === "read")
    yield* reached(
      "/webhook/deliveries?status=pending",
      ({ data }) =>
        data.every(({ nextAttemptAt }: { readonly nextAttemptAt: string | null }) =>
          nextAttemptAt !== null && Date.parse(nextAttemptAt) > server.clock.currentTimeMillisUnsafe()
        )
    )
  }
  yield* reached("/webhook/deliveries?status=exhausted", ({ data }) => data.length === 1)
  yield* sent({ ...template("+15551234567", "order_update", "Ana", "1042"), client_reference: "order-1042" })
  const failed = yield* sent(template("+15005550002", "order_update", "Mia", "1043"))
  yield* sent(template("+15005550008", "hello_world"))
  yield* sent(template("+15005550009", "promo", "20 %"))
  yield* send({ key, url }, template("+15005550001", "hello_world"))
  yield* send({ key, url }, { to: "+15551234567", type: "text", text: { body: "The window is closed." } })
  yield* reached("/messages?status=failed", ({ data }) => data.length === 2)
  yield* reached("/contacts", ({ data }) =>
    data.some(({ optedOut }: { readonly optedOut: boolean }) => optedOut) &&
    data.some(({ windowOpenUntil }: { readonly windowOpenUntil: string | null }) => windowOpenUntil !== null))
  yield* sent({ to: "+15005550008", type: "text", text: { body: "Thank you, <b>Ana</b>! Your order is on its way." } })
  yield* reached("/messages?to=%2B15551234567", ({ data }) => data[0].status === "read")
  yield* reached("/webhook/deliveries?status=pending", ({ data }) => data.length === 0)
  const queued = yield* send({ key, url }, {
    ...template("+15551234599", "hello_world"),
    send_at: Time.iso(server.clock.currentTimeMillisUnsafe() + 3 * 24 * 60 * 60 * 1000)
  })
  assert.strictEqual(queued.status, 202, queued.text)
  const campaign = yield* ready(server)
  const [messages, contacts, deliveries, events, templates] = yield* Effect.all([
    get("/messages?to=%2B15551234567"),
    get("/contacts"),
    get("/webhook/deliveries?status=exhausted"),
    get("/events?type=message.received"),
    get("/templates?status=rejected")
  ])
  return {
    ...server,
    // the first one is hours old
    session: yield* signIn(url),
    receiver,
    key,
    message: messages.data[0].id as string,
    failed,
    queued: queued.body.message_id as string,
    campaign,
    contact: contacts.data[0].id as string,
    delivery: deliveries.data[0].id as string,
    event: events.data[0].id as string,
    template: templates.data[0].id as string
  }
})
