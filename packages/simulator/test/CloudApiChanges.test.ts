import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { bodyOf, call, path, plain, template, text, to } from "./CloudApiCalls.ts"
import { changesOf, later, statusesOf, subscribed } from "./CloudApiPosts.ts"

/** What was told since this was last asked, whatever posts it came in. */
const news = Effect.fnUntraced(function*() {
  const { api, receiver } = yield* subscribed()
  let seen = 0
  const next = Effect.gen(function*() {
    yield* api.courier.settled
    const changes = changesOf(yield* receiver.requests)
    const fresh = changes.slice(seen)
    seen = changes.length
    return fresh
  })
  return { api, receiver, next }
})

it.effect("customers can write messages of every kind, each with its object", () =>
  Effect.gen(function*() {
    const { api, next } = yield* news()
    const { json } = yield* call(api, "/_sim")
    const kinds: ReadonlyArray<string> = json.kinds
    assert.includeMembers([...kinds], [
      "text",
      "button",
      "button_reply",
      "list_reply",
      "flow_reply",
      "reaction",
      "unreaction",
      "image",
      "audio",
      "video",
      "document",
      "sticker",
      "location",
      "contacts",
      "order",
      "group",
      "call",
      "unsupported"
    ])
    for (const kind of kinds) {
      const id = yield* api.receive({ from: to, kind, context: { from: "15550783881", id: "wamid.quoted" } })
      const [change, ...others] = yield* next
      assert.strictEqual(others.length, 0)
      const isCall = kind === "call"
      assert.strictEqual(change!.field, isCall ? "calls" : "messages")
      const [message] = isCall ? change!.value.calls : change!.value.messages
      assert.deepInclude(message, { id, from: "16505551234", timestamp: "0" }, kind)
      if (isCall) {
        assert.deepInclude(message, { to: "15550783881", event: "connect", direction: "USER_INITIATED" })
        continue
      }
      assert.strictEqual(message.context.id, "wamid.quoted")
      if (message.type !== "unsupported" && message.type !== "request_welcome") {
        assert.property(message, message.type, kind)
      }
      if (message.type !== "system") assert.strictEqual(change!.value.contacts[0].wa_id, "16505551234")
    }
    assert.strictEqual(
      yield* Effect.flip(api.receive({ from: to, kind: "smell" })),
      `\`kind\` is one of ${kinds.join(", ")}`
    )
    assert.include(yield* Effect.flip(api.receive({})), "userId")
    assert.include(yield* Effect.flip(api.receive({ from: to, number: "1" })), "number")
  }))

it.effect("neither a message in a group nor a call opens a window", () =>
  Effect.gen(function*() {
    const { api, receiver } = yield* news()
    for (const kind of ["group", "call"]) yield* api.receive({ from: to, kind })
    yield* call(api, path(api), plain)
    yield* later(api, "2 seconds")
    const told = statusesOf(yield* receiver.requests)
    assert.deepStrictEqual(told.map(({ errors, status }) => [status, errors?.[0].code]), [["failed", 131047]])
  }))

it.effect("a customer can have a business-scoped id alone, or both names", () =>
  Effect.gen(function*() {
    const { api, next, receiver } = yield* news()
    const userId = "US.13491208655302741918"
    yield* api.receive({ userId, parentUserId: "US.ENT.118157992128", username: "ana" })
    const [change] = yield* next
    assert.deepStrictEqual(change!.value.contacts, [{
      profile: { name: "Sim Customer", username: "ana" },
      user_id: userId,
      parent_user_id: "US.ENT.118157992128"
    }])
    assert.strictEqual(change!.value.messages[0].from_user_id, userId)
    assert.notProperty(change!.value.messages[0], "from")

    // their message opened the window
    yield* call(api, path(api), { ...plain, to: undefined, recipient: userId })
    yield* later(api, "2 seconds")
    const told = statusesOf(yield* receiver.requests)
    assert.deepStrictEqual(told.map(({ status }) => status), ["sent", "delivered", "read"])
    for (const status of told) {
      assert.strictEqual(status.recipient_user_id, userId)
      assert.notProperty(status, "recipient_id")
    }

    yield* next
    yield* api.configure({ userIds: true })
    yield* api.receive({ from: to })
    yield* api.receive({ from: to })
    const both = (yield* next).flatMap(({ value }) => value.messages)
    assert.match(both[0].from_user_id, /^US\.\d+$/)
    assert.strictEqual(both[0].from_user_id, both[1].from_user_id)
    assert.strictEqual(both[0].from, "16505551234")
  }))

it.effect("a customer's window is open for both names once both are known", () =>
  Effect.gen(function*() {
    const { api, receiver } = yield* news()
    const userId = "US.13491208655302741918"
    yield* api.receive({ userId })
    yield* api.receive({ from: to, userId, at: 0 })
    yield* call(api, path(api), plain)
    yield* call(api, path(api), { ...plain, to: undefined, recipient: userId })
    yield* later(api, "2 seconds")
    assert.deepStrictEqual(
      statusesOf(yield* receiver.requests).map(({ status }) => status).toSorted(),
      ["delivered", "delivered", "read", "read", "sent", "sent"]
    )
  }))

it.effect("a customer who moves to another number keeps window and preference", () =>
  Effect.gen(function*() {
    const { api, next, receiver } = yield* news()
    const moved = "+16505559876"
    const codes = Effect.gen(function*() {
      yield* TestClock.adjust("10 seconds")
      yield* api.courier.settled
      return statusesOf(yield* receiver.requests)
        .filter(({ status }) => status === "failed")
        .map(({ errors, recipient_id }) => `${recipient_id} ${errors[0].code}`)
    })
    yield* api.receive({ from: to })
    yield* api.prefer(to, "stop")
    yield* next
    yield* api.move(to, moved)
    const [change] = yield* next
    assert.deepInclude(change!.value.messages[0], {
      from: "16505551234",
      type: "system",
      system: {
        body: "User changed from 16505551234 to 16505559876",
        type: "user_changed_number",
        wa_id: "16505559876"
      }
    })
    assert.notProperty(change!.value, "contacts")
    yield* call(api, path(api), { ...plain, to: moved })
    yield* call(api, path(api), plain)
    yield* call(api, path(api), { ...template("promo", [bodyOf(text("1%"))]), to: moved })
    assert.sameMembers([...yield* codes], ["16505551234 131047", "16505559876 131050"])

    yield* next
    yield* api.move("US.13491208655302741918", "US.2")
    const changes = yield* next
    const [renamed] = changes.find(({ field }) => field === "messages")!.value.messages
    assert.strictEqual(renamed.from_user_id, "US.13491208655302741918")
    assert.deepInclude(renamed.system, { type: "user_changed_user_id", user_id: "US.2" })
    assert.notProperty(renamed.system, "previous_user_id")
    const updated = changes.find(({ field }) => field === "user_id_update")
    assert.lengthOf(changes, 2)
    const [update] = updated!.value.user_id_update
    assert.deepStrictEqual(update.user_id, { previous: "US.13491208655302741918", current: "US.2" })
    assert.notProperty(update, "wa_id")

    yield* api.configure({ userIds: true })
    yield* api.move(moved, "+16505559877")
    const both = (yield* next).find(({ field }) => field === "user_id_update")!.value.user_id_update[0]
    assert.strictEqual(both.wa_id, "16505559877")
    assert.notStrictEqual(both.user_id.previous, both.user_id.current)
  }))

it.effect("preferences are posted with their time as a number", () =>
  Effect.gen(function*() {
    const { api, next } = yield* news()
    yield* TestClock.adjust("5 seconds")
    yield* api.prefer("+5531987654321", "stop")
    const [change] = yield* next
    assert.strictEqual(change!.field, "user_preferences")
    assert.deepStrictEqual(change!.value.user_preferences, [{
      wa_id: "553187654321",
      detail: "User requested to stop marketing messages",
      category: "marketing_messages",
      value: "stop",
      timestamp: 5
    }])
  }))

it.effect("each change of a template is posted as its own webhook", () =>
  Effect.gen(function*() {
    const { api, next } = yield* news()
    const order = template("order_update", [bodyOf(text("Ana"), text("42"))])
    const before = (yield* api.templates).find(({ name }) => name === "order_update")!

    yield* api.changeTemplate({ name: "order_update", language: "en_US", status: "PAUSED" })
    const [paused] = yield* next
    assert.strictEqual(paused!.field, "message_template_status_update")
    assert.deepInclude(paused!.value, {
      event: "PAUSED",
      message_template_id: Number(before.id),
      message_template_name: "order_update",
      message_template_language: "en_US",
      message_template_category: "UTILITY",
      reason: "NONE"
    })
    assert.strictEqual(paused!.value.other_info.title, "FIRST_PAUSE")
    assert.strictEqual((yield* call(api, path(api), order)).json.error.code, 132015)

    yield* api.changeTemplate({ name: "order_update", status: "APPROVED" })
    assert.strictEqual((yield* next)[0]!.value.other_info.title, "UNPAUSE")
    assert.strictEqual((yield* call(api, path(api), order)).http, 200)

    yield* api.changeTemplate({ name: "order_update", quality: "RED", category: "MARKETING" })
    const [quality, category] = yield* next
    assert.strictEqual(quality!.field, "message_template_quality_update")
    assert.deepInclude(quality!.value, { previous_quality_score: "UNKNOWN", new_quality_score: "RED" })
    assert.strictEqual(category!.field, "template_category_update")
    assert.deepInclude(category!.value, { previous_category: "UTILITY", new_category: "MARKETING" })

    yield* api.changeTemplate({
      name: "brand_new",
      language: "es_MX",
      status: "REJECTED",
      rejectedReason: "SCAM",
      components: [{ type: "BODY", text: "¡Hola {{1}}!" }]
    })
    const [rejected] = yield* next
    assert.deepInclude(rejected!.value, { event: "REJECTED", reason: "SCAM", message_template_language: "es_MX" })
    assert.property(rejected!.value, "rejection_info")
    const listed = yield* call(api, `/v25.0/${api.identity.account}/message_templates?name=brand_new`)
    assert.strictEqual(listed.json.data.length, 1)
    yield* api.changeTemplate({ name: "brand_new", status: "APPROVED", tell: false })
    assert.deepStrictEqual(yield* next, [])
  }))

it.effect("limits, flags and upgrades of a number are posted", () =>
  Effect.gen(function*() {
    const { api, next } = yield* news()
    const { id } = api.identity.numbers[0]
    yield* api.configure({ upgradeFor: 60_000 })
    yield* api.changeNumber(id, { whatsapp_business_manager_messaging_limit: "TIER_250" })
    assert.strictEqual((yield* next)[0]!.value.event, "DOWNGRADE")
    yield* api.changeNumber(id, { whatsapp_business_manager_messaging_limit: "TIER_2K" })
    const [upgrade, capability] = yield* next
    assert.strictEqual(upgrade!.field, "phone_number_quality_update")
    assert.deepStrictEqual(upgrade!.value, {
      display_phone_number: "15550783881",
      event: "UPGRADE",
      current_limit: "TIER_2K"
    })
    assert.strictEqual(capability!.field, "business_capability_update")
    assert.strictEqual(capability!.value.max_daily_conversations_per_business, "TIER_2K")

    yield* api.changeNumber(id, { quality_rating: "RED", status: "FLAGGED" })
    assert.strictEqual((yield* next)[0]!.value.event, "FLAGGED")
    const shown = yield* call(api, `/v25.0/${id}?fields=quality_rating,status`)
    assert.deepInclude(shown.json, { quality_rating: "RED", status: "FLAGGED" })
    yield* api.changeNumber(id, { status: "CONNECTED" })
    assert.strictEqual((yield* next)[0]!.value.event, "UNFLAGGED")

    yield* api.changeNumber(id, { throughput: { level: "HIGH" } })
    assert.strictEqual((yield* call(api, path(api), plain)).json.error.code, 131057)
    assert.deepStrictEqual(yield* next, [])
    yield* api.changeNumber(id, { verified_name: "Other Shop" })
    assert.strictEqual((yield* next)[0]!.field, "phone_number_name_update")
    yield* TestClock.adjust("1 minute")
    assert.strictEqual((yield* next)[0]!.value.event, "THROUGHPUT_UPGRADE")
    assert.strictEqual((yield* call(api, `/v25.0/${id}?fields=verified_name`)).json.verified_name, "Other Shop")
    assert.strictEqual((yield* call(api, path(api), plain)).http, 200)

    yield* api.changeNumber(id, { refuses: 131031 })
    const locked = yield* call(api, path(api), plain)
    assert.strictEqual(locked.http, 403)
    assert.strictEqual(locked.json.error.code, 131031)
    assert.include(yield* Effect.flip(api.changeNumber("1", {})), "number")
  }))

it.effect("alerts, errors of no message, words of a message and any other change can be posted", () =>
  Effect.gen(function*() {
    const { api, next } = yield* news()
    yield* api.alert({ severity: "CRITICAL", number: api.identity.numbers[0].id })
    const [alert] = yield* next
    assert.strictEqual(alert!.field, "account_alerts")
    assert.deepInclude(alert!.value, { entity_type: "PHONE_NUMBER", entity_id: api.identity.numbers[0].id })
    assert.strictEqual(alert!.value.alert_info.alert_severity, "CRITICAL")

    yield* api.complain({ code: 130429 })
    const [complaint] = yield* next
    assert.notProperty(complaint!.value, "statuses")
    assert.strictEqual(complaint!.value.errors[0].code, 130429)

    const { json } = yield* call(api, path(api), { ...plain, to: "+15005550005", biz_opaque_callback_data: "msg_1" })
    yield* later(api, "2 seconds")
    yield* next
    for (const message of ["msg_1", json.messages[0].id]) {
      yield* api.tell({ message, status: "failed", code: 131026, at: 1000 })
      const [told] = yield* next
      assert.notProperty(told!.value, "contacts")
      assert.deepInclude(told!.value.statuses[0], {
        id: json.messages[0].id,
        status: "failed",
        timestamp: "1",
        biz_opaque_callback_data: "msg_1"
      })
    }
    assert.include(yield* Effect.flip(api.tell({ message: "msg_2", status: "read" })), "no such message")
    yield* api.announce("account_update", { event: "ACCOUNT_DELETED" })
    assert.deepStrictEqual(yield* next, [{ field: "account_update", value: { event: "ACCOUNT_DELETED" } }])
  }))
