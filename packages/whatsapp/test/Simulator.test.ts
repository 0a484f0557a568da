/** What the simulated Cloud API posts, read by the adapter: two readings of the same documents, held against each other. */
import { assert, it } from "@effect/vitest"
import type { InboundItem } from "@wac/core"
import { CloudApi } from "@wac/simulator"
import { RecordingReceiver } from "@wac/testkit"
import { Clock, Effect, Layer, Redacted } from "effect"
import { Mac, SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import * as WhatsAppWebhook from "../src/WhatsAppWebhook.ts"

const news = Effect.fnUntraced(function*(settings?: CloudApi.Options["settings"]) {
  const webhook = yield* WhatsAppWebhook.make({
    appSecret: Redacted.make(CloudApi.identity.appSecret),
    verifyToken: Redacted.make(CloudApi.identity.verifyToken)
  }).pipe(Effect.provide(Mac.layerWebCrypto.pipe(Layer.provide(SecureRandom.layerWebCrypto))))
  const receiver = yield* RecordingReceiver.make
  yield* receiver.answerWith((request) =>
    RecordingReceiver.reply(200, {
      body: webhook.handshake(Object.fromEntries(new URL(request.target, receiver.url).searchParams)) ?? ""
    })
  )
  const api = yield* CloudApi.make({ settings: settings ?? {} })
  assert.isTrue((yield* api.courier.subscribe(receiver.url, api.identity.verifyToken)).subscribed)
  let seen = 1
  const next = Effect.gen(function*() {
    yield* api.courier.settled
    const fresh = (yield* receiver.requests).slice(seen)
    seen += fresh.length
    const items: Array<InboundItem.InboundItem> = []
    for (const { body, headers } of fresh) {
      assert.isTrue(yield* webhook.verify(body, (name) => headers[name]))
      items.push(...yield* webhook.read(body, yield* Clock.currentTimeMillis))
    }
    return items
  })
  return { api, next }
})

const customer = "+16505551234"

it.effect("the simulator's handshake and signature are valid, and messages of every kind are read", () =>
  Effect.gen(function*() {
    const { api, next } = yield* news()
    const passedOver = ["identity", "request_welcome"]
    for (const kind of CloudApi.kinds) {
      const id = yield* api.receive({ from: customer, kind })
      const [item, ...others] = yield* next
      assert.strictEqual(others.length, 0)
      if (passedOver.includes(kind)) {
        assert.strictEqual(item?._tag, "Skipped", kind)
      } else {
        assert.ok(item?._tag === "Message", kind)
        assert.deepInclude(item.message, { providerMessageId: id, customer: { phone: customer, userId: null } }, kind)
      }
    }
    yield* api.receive({ userId: "US.13491208655302741918", text: "Grüße 👋" })
    const [unnumbered] = yield* next
    assert.ok(unnumbered?._tag === "Message")
    assert.deepInclude(unnumbered.message, {
      customer: { phone: null, userId: "US.13491208655302741918" },
      content: { body: "Grüße 👋" }
    })
    yield* api.move(customer, "+16505559876")
    assert.deepInclude((yield* next)[0], {
      _tag: "CustomerMoved",
      from: { phone: customer, userId: null },
      to: { phone: "+16505559876", userId: null }
    })
    yield* api.move("US.13491208655302741918", "US.2")
    // the system message does not name the user id before
    assert.deepInclude((yield* next).find(({ _tag }) => _tag === "CustomerMoved"), {
      _tag: "CustomerMoved",
      from: { phone: null, userId: "US.13491208655302741918" },
      to: { phone: null, userId: "US.2" }
    })
    yield* api.prefer(customer, "stop")
    assert.deepInclude((yield* next)[0], { _tag: "Preference", preference: "opt_out" })
  }))

it.effect("a batch is read in each of the shapes that posts have", () =>
  Effect.gen(function*() {
    for (const batchShape of ["value", "changes", "entries"] as const) {
      const { api, next } = yield* news({
        batchShape,
        batchMost: 1000,
        batchLinger: 1000,
        numericTimestamps: 0.5,
        omitContacts: 0.5,
        userIds: true
      })
      const at = 5_000_000_000
      yield* TestClock.setTime(at)
      const ids = yield* Effect.forEach(CloudApi.kinds, (kind) => api.receive({ from: customer, kind, at }))
      yield* TestClock.adjust("1 second")
      const items = yield* next
      assert.lengthOf(items, CloudApi.kinds.length)
      const messages = items.flatMap((item) => item._tag === "Message" ? [item.message] : [])
      assert.isAbove(messages.length, 15)
      assert.includeMembers(ids, messages.map(({ providerMessageId }) => providerMessageId))
      for (const message of messages) {
        assert.deepInclude(message, { at, providerNumberId: api.identity.numbers[0].id })
        assert.strictEqual(message.customer.phone, customer)
        assert.isString(message.customer.userId)
      }
    }
  }))

it.effect("the simulator's changes of templates and numbers are read", () =>
  Effect.gen(function*() {
    const { api, next } = yield* news()
    const changes = (items: ReadonlyArray<InboundItem.InboundItem>) =>
      items.flatMap((item) => item._tag === "Template" || item._tag === "Number" ? [item.change] : [])
    yield* api.changeTemplate({ name: "promo", status: "PAUSED" })
    assert.deepInclude(changes(yield* next)[0], { status: "paused" })
    yield* api.changeTemplate({ name: "promo", quality: "RED", category: "UTILITY" })
    const told = Object.assign({}, ...changes(yield* next))
    assert.deepInclude(told, { quality: "red", category: "utility" })

    const { id } = api.identity.numbers[0]
    yield* api.changeNumber(id, { whatsapp_business_manager_messaging_limit: "TIER_2K" })
    for (const change of changes(yield* next)) assert.deepInclude(change, { messagingLimit: 2000 })
    yield* api.changeNumber(id, { status: "FLAGGED" })
    assert.deepInclude(changes(yield* next)[0], { quality: "red" })
    yield* api.changeNumber(id, { throughput: { level: "HIGH" } })
    yield* TestClock.adjust("1 minute")
    assert.deepInclude(changes(yield* next)[0], { tier: "high" })
    yield* api.complain({ code: 131048 })
    const [blocked] = changes(yield* next)
    assert.ok(blocked !== undefined && "block" in blocked)
    assert.strictEqual(blocked.block?.reason, "quality")
  }))

it.effect("the reports of each of the simulator's numbers are read, by our reference", () =>
  Effect.gen(function*() {
    const { api, next } = yield* news()
    const reference = "msg_01KA0000000000000000000000"
    const lives = [
      ["+15005550002", "failed undeliverable"],
      ["+15005550003", "failed outside_service_window"],
      ["+15005550004", "failed opted_out"],
      ["+15005550005", "sent"],
      ["+15005550006", "sent delivered read"],
      ["+15005550013", "failed template_not_approved"],
      ["+15005550014", "failed provider_policy"],
      ["+15005550015", "failed provider_policy"]
    ] as const
    for (const [to, life] of lives) {
      const answer = yield* Effect.promise(() =>
        fetch(`${api.url}/v25.0/${api.identity.numbers[0].id}/messages`, {
          method: "POST",
          headers: { authorization: `Bearer ${api.identity.accessToken}` },
          body: JSON.stringify({
            messaging_product: "whatsapp",
            to,
            type: "template",
            template: { name: "hello_world", language: { code: "en_US" } },
            biz_opaque_callback_data: reference
          })
        })
      )
      assert.strictEqual(answer.status, 200)
      yield* TestClock.adjust("10 seconds")
      const words = (yield* next).flatMap((item) => {
        if (item._tag !== "Status") return []
        assert.strictEqual(item.reference, reference)
        const { error, status } = item.report
        return error === null ? [status] : [status, error.reason]
      })
      assert.strictEqual(words.join(" "), life, to)
    }
  }))
