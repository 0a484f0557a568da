/**
 * Alerts (contract §12): one for a matter, told by mail and by a signed post, and once more when it is over.
 */
import { assert, it } from "@effect/vitest"
import { AlertStore } from "@wac/core"
import { RecordingReceiver } from "@wac/testkit"
import { verify } from "@wac/verifier"
import { Context, Effect } from "effect"
import * as checks from "../checks.ts"
import { call, hello, ready, receiver, send, setWebhook } from "../harness.ts"
import { moving, still } from "../movable.ts"
import { mailbox } from "../people/mailbox.ts"

it.live("a paused webhook and its recovery are each reported once, by mail and by a post that is signed like an event", () =>
  Effect.gen(function*() {
    const mail = yield* mailbox
    const { pass, session, url } = yield* moving(
      ready({ environment: { ...checks.unlimited, SMTP_URL: mail.url } })
    )
    const [own, alerts] = [yield* receiver, yield* receiver]
    const { signingSecret } = yield* setWebhook({ session, url }, { url: own.url })
    const settings = { emails: ["ops@example.com"], url: alerts.url }
    const set = yield* call(`${url}/internal/alerts/settings`, { method: "PUT", headers: session, body: settings })
    assert.deepStrictEqual([set.status, set.body], [200, settings])
    assert.deepStrictEqual((yield* call(`${url}/internal/alerts/settings`, { headers: session })).body, settings)

    const list = (query = "") => call(`${url}/internal/alerts${query}`, { headers: session })
    yield* call(`${url}/internal/webhook/pause`, { method: "POST", headers: session })
    yield* pass("1 minute")
    const opened = yield* checks.until(list("?open=true"), ({ body }) => body.data.length === 1)
    const [alert] = opened.body.data
    assert.match(alert.id, checks.idShape("alr"))
    assert.deepInclude(alert, { kind: "webhook_paused", closedAt: null })
    const [posted] = yield* alerts.take(1)
    assert.deepInclude(posted!.event, { id: alert.id, object: "alert", type: "alert.opened" })
    assert.strictEqual(posted!.headers["webhook-id"], alert.id)
    assert.strictEqual(posted!.event.data.alert_id, alert.id)
    const signature = posted!.headers["x-service-signature"]!
    const verified = yield* Effect.promise(() =>
      verify(new TextDecoder().decode(posted!.body), signature, signingSecret)
    )
    assert.isTrue(verified.ok)
    const received = yield* mail.to("ops@example.com")
    assert.include(received.text, "The webhook is paused")

    yield* call(`${url}/internal/webhook/resume`, { headers: session, body: { force: true } })
    yield* pass("1 minute")
    const closed = yield* checks.until(list(), ({ body }) => body.data[0].closedAt !== null)
    assert.strictEqual(closed.body.data.length, 1)
    const [over] = yield* alerts.take(1)
    // a receiver that remembers ids takes both posts
    assert.deepInclude(over!.event, { id: `${alert.id}_closed`, type: "alert.closed" })
    assert.strictEqual(over!.headers["webhook-id"], `${alert.id}_closed`)
    assert.strictEqual(over!.event.data.alert_id, alert.id)
    yield* checks.until(Effect.sync(() => mail.received.length), (count) => count === 2)
    yield* pass("1 minute")
    assert.strictEqual((yield* list()).body.data.length, 1)
  }).pipe(Effect.scoped))

it.live("events that their receiver refused until they were exhausted have an alert until they are delivered again", () =>
  Effect.gen(function*() {
    const { key, pass, session, url } = yield* still(ready({ environment: checks.unlimited }))
    const customer = yield* receiver
    yield* setWebhook({ session, url }, { url: customer.url })
    const ask = (path: string, method = "GET", body?: unknown) =>
      call(`${url}/internal${path}`, { method, headers: { ...session, "idempotency-key": path }, body })
    const alerts = Effect.map(
      ask("/alerts"),
      ({ body }) => body.data.filter(({ kind }: { readonly kind: string }) => kind === "events_exhausted")
    )

    yield* customer.answerWith(RecordingReceiver.reply(500))
    assert.strictEqual((yield* send({ key, url }, hello("+15551234567"))).status, 200)
    yield* customer.take(1)
    // another event is taken meanwhile, so that the webhook is not paused
    yield* customer.answerWith(RecordingReceiver.reply(200))
    assert.strictEqual((yield* ask("/webhook/test", "POST")).body.outcome, "delivered")
    yield* customer.answerWith(RecordingReceiver.reply(500))
    const { body: { data: [exhausted] } } = yield* checks.until(
      Effect.andThen(pass("1 hour"), ask("/webhook/deliveries?status=exhausted")),
      ({ body }) => body.data.length > 0
    )
    const [opened] = yield* checks.until(Effect.andThen(pass("1 minute"), alerts), (found) => found.length === 1)
    assert.isNull(opened.closedAt)

    yield* customer.answerWith(RecordingReceiver.reply(200))
    yield* ask(`/webhook/deliveries/${exhausted.id}/retry`, "POST")
    yield* checks.until(Effect.andThen(pass("1 hour"), alerts), ([alert]) => alert.closedAt !== null)
  }).pipe(Effect.scoped))

it.live("alert settings refuse invalid e-mail addresses and URLs that are not public", () =>
  Effect.gen(function*() {
    const { session, url } = yield* ready()
    const set = (body: unknown) => call(`${url}/internal/alerts/settings`, { method: "PUT", headers: session, body })
    checks.assertInvalid(yield* set({ emails: ["nobody"], url: null }), "invalid_field", "emails[0]")
    checks.assertInvalid(yield* set({ emails: [], url: "ftp://example.com" }), "invalid_field", "url")
    checks.assertInvalid(yield* set({ emails: [], url: "http://10.0.0.1/" }), "invalid_field", "url")
    const emails = Array.from({ length: 21 }, (_, n) => `a${n}@example.com`)
    checks.assertInvalid(yield* set({ emails, url: null }), "invalid_field", "emails")
  }).pipe(Effect.scoped))

it.live("nothing is posted to a URL that has become private, and the mail is still sent", () =>
  Effect.gen(function*() {
    const mail = yield* mailbox
    const { pass, services, session, url } = yield* moving(ready({
      environment: { ...checks.unlimited, SMTP_URL: mail.url, WEBHOOK_ALLOW_CIDRS: "", LOG_LEVEL: "error" }
    }))
    const inside = yield* receiver
    yield* setWebhook({ session, url }, { url: "https://receiver.invalid/" })
    const { workspaceId } = (yield* call(`${url}/internal/session`, { headers: session })).body
    const refused = yield* call(`${url}/internal/alerts/settings`, {
      method: "PUT",
      headers: session,
      body: { emails: [], url: inside.url }
    })
    checks.assertInvalid(refused, "invalid_field", "url")
    // as if its name had another address then
    yield* Effect.orDie(
      Context.get(services, AlertStore.AlertStore).configure(workspaceId, {
        emails: ["ops@example.com"],
        url: inside.url
      })
    )
    yield* call(`${url}/internal/webhook/pause`, { method: "POST", headers: session })
    // the mail follows the last of the attempts to post
    yield* checks.until(
      Effect.andThen(pass("1 minute"), Effect.sync(() => mail.received.length)),
      (count) => count === 1
    )
    assert.deepStrictEqual(yield* inside.requests, [])
  }).pipe(Effect.scoped))
