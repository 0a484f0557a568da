import { assert, it } from "@effect/vitest"
import { CloudApi } from "@wac/simulator"
import { RecordingReceiver } from "@wac/testkit"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { createHmac } from "node:crypto"
import { call, path, plain, template, to } from "./CloudApiCalls.ts"
import { changesOf, later, statusesOf, subscribed, willing } from "./CloudApiPosts.ts"

it.effect("a subscription needs a handshake with the right token and the bare challenge", () =>
  Effect.gen(function*() {
    const receiver = yield* RecordingReceiver.make
    const api = yield* CloudApi.make()
    const subscribe = api.courier.subscribe(`${receiver.url}hook?a=b`, "token")
    yield* receiver.answerWith(RecordingReceiver.reply(403))
    assert.deepInclude(yield* subscribe, { subscribed: false, status: 403 })
    yield* receiver.answerWith(RecordingReceiver.reply(200, { body: "\"1\"" }))
    assert.deepInclude(yield* subscribe, { subscribed: false, status: 200 })
    yield* receiver.answerWith(willing)
    assert.deepInclude(yield* subscribe, { subscribed: true, status: 200 })
    const [asked] = yield* receiver.requests
    const query = new URL(asked!.target, "http://receiver").searchParams
    assert.strictEqual(asked!.method, "GET")
    assert.deepStrictEqual([...query.keys()], ["a", "hub.mode", "hub.challenge", "hub.verify_token"])
    assert.strictEqual(query.get("hub.mode"), "subscribe")
    assert.strictEqual(query.get("hub.verify_token"), "token")
    assert.notProperty(asked!.headers, "x-hub-signature-256")
    yield* api.receive({ from: to })
    yield* api.courier.settled
    assert.strictEqual((yield* receiver.requests).at(-1)!.target, "/hook?a=b")
  }))

it.effect("sent, delivered and read are posted in time, with the reference, the price and the customer", () =>
  Effect.gen(function*() {
    const { api, receiver } = yield* subscribed()
    const { json } = yield* call(api, path(api), template("hello_world", [], { biz_opaque_callback_data: "msg_1" }))
    yield* later(api, "250 millis")
    assert.deepStrictEqual(statusesOf(yield* receiver.requests).map(({ status }) => status), ["sent", "delivered"])
    yield* later(api, "2 seconds")
    const told = statusesOf(yield* receiver.requests)
    assert.deepStrictEqual(told.map(({ status }) => status), ["sent", "delivered", "read"])
    for (const status of told) {
      assert.deepInclude(status, {
        id: json.messages[0].id,
        recipient_id: "16505551234",
        biz_opaque_callback_data: "msg_1"
      })
      assert.match(status.timestamp, /^\d+$/)
      assert.notProperty(status, "conversation")
    }
    assert.deepInclude(told[0].pricing, { pricing_model: "PMP", category: "utility", billable: true })
    assert.notProperty(told[2], "pricing")
    const { value } = changesOf(yield* receiver.requests)[0]!
    assert.deepStrictEqual(value.metadata, { display_phone_number: "15550783881", phone_number_id: "106540352242922" })
    assert.deepStrictEqual(value.contacts, [{ profile: { name: "Sim Customer" }, wa_id: "16505551234" }])
  }))

it.effect("a price may come without whether the message is billable", () =>
  Effect.gen(function*() {
    const { api, receiver } = yield* subscribed({ settings: { omitBillable: 1 } })
    yield* call(api, path(api), template("hello_world"))
    yield* later(api, "250 millis")
    const [told] = statusesOf(yield* receiver.requests)
    assert.deepStrictEqual(told.pricing, { pricing_model: "PMP", type: "regular", category: "utility" })
  }))

it.effect("the raw bytes, ASCII only, are signed with the secret of the app", () =>
  Effect.gen(function*() {
    const { api, receiver } = yield* subscribed({ identity: { appSecret: "s3cret" } })
    yield* api.receive({ from: to, text: "Grüße 👋 <a@b.example> 100% a/b" })
    yield* api.courier.settled
    const [request] = yield* receiver.requests
    const raw = Buffer.from(request!.body)
    assert.strictEqual(
      request!.headers["x-hub-signature-256"],
      `sha256=${createHmac("sha256", "s3cret").update(raw).digest("hex")}`
    )
    assert.match(raw.toString("latin1"), /^[\x20-\x7e]+$/)
    assert.include(
      raw.toString(),
      "Gr\\u00fc\\u00dfe \\ud83d\\udc4b \\u003Ca\\u0040b.example> 100\\u0025 a\\/b"
    )
    assert.strictEqual(changesOf([request!])[0]!.value.messages[0].text.body, "Grüße 👋 <a@b.example> 100% a/b")
  }))

it.effect("a post is repeated, less and less often, with the same bytes, until its response is 200", () =>
  Effect.gen(function*() {
    const { api, receiver } = yield* subscribed()
    yield* receiver.script([RecordingReceiver.reply(500), RecordingReceiver.reply(201), RecordingReceiver.reset])
    yield* api.receive({ from: to })
    yield* api.courier.settled
    for (const [count, wait] of [[2, "1 second"], [3, "5 seconds"], [4, "30 seconds"], [4, "7 days"]] as const) {
      yield* TestClock.adjust(wait)
      yield* api.courier.settled
      assert.strictEqual((yield* receiver.requests).length, count)
    }
    const bodies = (yield* receiver.requests).map(({ body }) => Buffer.from(body).toString())
    assert.strictEqual(new Set(bodies).size, 1)
    assert.deepStrictEqual(
      api.courier.attempts().map(({ attempt, post }) => [post, attempt]),
      [[1, 1], [1, 2], [1, 3], [1, 4]]
    )
  }))

it.effect("a post is given up after 7 days", () =>
  Effect.gen(function*() {
    const { api, receiver } = yield* subscribed({ settings: { retryAfter: [48 * 3600 * 1000] } })
    yield* receiver.answerWith(RecordingReceiver.reply(503))
    yield* api.receive({ from: to })
    yield* api.courier.settled
    for (let day = 0; day < 12; day++) {
      yield* TestClock.adjust("1 day")
      yield* api.courier.settled
    }
    assert.strictEqual((yield* receiver.requests).length, 4)
  }))

it.effect("a message that the window, an opt-out or the recipient forbids fails after it was accepted", () =>
  Effect.gen(function*() {
    const { api, receiver } = yield* subscribed()
    const promo = (to: string) => ({
      ...template("promo", [{ type: "body", parameters: [{ type: "text", text: "9%" }] }]),
      to
    })
    yield* api.prefer("+16505550009", "stop")
    yield* api.receive({ from: "+16505550010" })
    yield* api.courier.settled
    const before = (yield* receiver.requests).length
    for (
      const body of [
        plain,
        promo("+16505550009"),
        { ...plain, to: "+16505550010" },
        ...["0002", "0003", "0004", "0014", "0015"].map((end) => ({ ...plain, to: `+1500555${end}` })),
        template("hello_world", [], { to: "+15005550013" })
      ]
    ) {
      const reply = yield* call(api, path(api), body)
      assert.strictEqual(reply.http, 200)
      if (body.to === "+15005550013") {
        assert.strictEqual(reply.json.messages[0].message_status, "held_for_quality_assessment")
      }
    }
    yield* later(api, "10 seconds")
    const failed = changesOf((yield* receiver.requests).slice(before)).filter(({ value }) =>
      value.statuses?.some(({ status }: { readonly status: string }) => status === "failed") === true
    )
    const statuses = failed.flatMap(({ value }) => value.statuses).filter(({ status }) => status === "failed")
    assert.deepStrictEqual(
      Object.fromEntries(statuses.map(({ errors, recipient_id }) => [recipient_id, errors[0].code])),
      {
        "16505551234": 131047,
        "16505550009": 131050,
        "15005550002": 131026,
        "15005550003": 131047,
        "15005550004": 131050,
        "15005550014": 131049,
        "15005550015": 130472,
        "15005550013": 132015
      }
    )
    for (const { errors } of statuses) {
      assert.sameMembers(Object.keys(errors[0]), ["code", "title", "message", "error_data", "href"])
    }
    assert.strictEqual(
      statusesOf(yield* receiver.requests).filter(({ recipient_id }) => recipient_id === "16505550010").length,
      3
    )
  }))

it.effect("a held template's message is reported once it is released, and a message may fail after it was sent", () =>
  Effect.gen(function*() {
    const { api, receiver } = yield* subscribed({ settings: { heldFor: 60_000 } })
    const [held, failing] = ["+16505550021", "+16505550022"]
    yield* api.behave(held, { held: "released" })
    yield* api.behave(failing, { fail: { code: 131026, afterSent: true } })
    for (const to of [held, failing]) yield* call(api, path(api), template("hello_world", [], { to }))
    const words = Effect.map(
      receiver.requests,
      (requests) => statusesOf(requests).map(({ recipient_id, status }) => `${recipient_id} ${status}`)
    )
    yield* later(api, "10 seconds")
    assert.deepStrictEqual(yield* words, ["16505550022 sent", "16505550022 failed"])
    for (let i = 0; i < 6; i++) yield* later(api, "10 seconds")
    assert.deepStrictEqual((yield* words).slice(2), ["sent", "delivered", "read"].map((word) => `16505550021 ${word}`))
  }))

it.effect("a post carries many updates in each of its shapes, and loses none", () =>
  Effect.gen(function*() {
    for (const batchShape of ["value", "changes", "entries"] as const) {
      const { api, receiver } = yield* subscribed({
        settings: { batchMost: 1000, batchLinger: 1000, batchShape, pairLimit: false }
      })
      for (let i = 0; i < 20; i++) yield* api.receive({ from: `+1650555${1000 + i}` })
      yield* call(api, path(api), { ...plain, to: "+16505551000" })
      yield* later(api, "10 seconds")
      const [first] = yield* receiver.requests
      const post = JSON.parse(Buffer.from(first!.body).toString())
      const messages = changesOf([first!]).flatMap(({ value }) => value.messages ?? [])
      assert.strictEqual(messages.length, 20)
      assert.strictEqual(new Set(messages.map(({ id }) => id)).size, 20)
      assert.strictEqual(post.entry.length, batchShape === "entries" ? 23 : 1)
      assert.strictEqual(post.entry[0].changes.length, batchShape === "changes" ? 23 : 1)
      if (batchShape === "value") {
        assert.strictEqual(post.entry[0].changes[0].value.contacts.length, 20)
        assert.strictEqual(post.entry[0].changes[0].value.statuses.length, 3)
      }
    }
  }))

it.effect("repeats, disorders and leaves out as it is set, the same for the same seed", () =>
  Effect.gen(function*() {
    const tellings = (seed: number) =>
      Effect.scoped(Effect.gen(function*() {
        const { api, receiver } = yield* subscribed({
          seed,
          settings: { duplicates: 0.5, jitter: 3000, omitDelivered: 0.5, numericTimestamps: 0.5, omitContacts: 0.5 }
        })
        // the calls race; what they are dealt must not depend on it
        yield* Effect.forEach(
          Array.from({ length: 10 }, (_, i) => i),
          (i) =>
            call(
              api,
              path(api),
              template("hello_world", [], { to: `+1650555${1000 + i}`, biz_opaque_callback_data: `msg_${i}` })
            ),
          { concurrency: "unbounded" }
        )
        for (let i = 0; i < 50; i++) yield* Effect.andThen(TestClock.adjust("100 millis"), api.courier.settled)
        const statuses = statusesOf(yield* receiver.requests)
        return {
          ordered: statuses.map(({ status }) => status),
          named: statuses.map(({ biz_opaque_callback_data, id, status, timestamp }) =>
            [biz_opaque_callback_data, id, status, typeof timestamp].join(" ")
          ).sort()
        }
      }))
    const one = yield* tellings(7)
    assert.deepStrictEqual((yield* tellings(7)).named, one.named)
    assert.notDeepEqual((yield* tellings(8)).named, one.named)
    assert.isAbove(one.named.length, new Set(one.named).size)
    assert.isBelow(one.ordered.indexOf("read"), one.ordered.lastIndexOf("sent"))
    const count = (word: string) => new Set(one.named.filter((name) => name.includes(` ${word} `))).size
    assert.strictEqual(count("sent"), 10)
    assert.strictEqual(count("read"), 10)
    assert.isBelow(count("delivered"), 10)
    assert.isAbove(count("delivered"), 0)
    assert.strictEqual(new Set(one.named.map((name) => name.split(" ").at(-1))).size, 2)
  }))

it.effect("the first status may be posted before the send's response, and whole posts again days later", () =>
  Effect.gen(function*() {
    const { api, receiver } = yield* subscribed({
      settings: { statusBeforeResponse: true, repeatAfter: [3 * 24 * 3600 * 1000] }
    })
    yield* call(api, path(api), template("hello_world"))
    assert.deepStrictEqual(statusesOf(yield* receiver.requests).map(({ status }) => status), ["sent"])
    yield* later(api, "2 seconds")
    const soon = statusesOf(yield* receiver.requests)
    assert.strictEqual(soon.length, 3)
    yield* TestClock.adjust("3 days")
    yield* api.courier.settled
    const all = statusesOf(yield* receiver.requests)
    assert.sameDeepMembers([...all], [...soon, ...soon])
    yield* api.courier.redeliver()
    assert.strictEqual(statusesOf(yield* receiver.requests).length, 9)
  }))

it.effect("conversations can be posted as before version 24, and so can forged posts", () =>
  Effect.gen(function*() {
    const { api, receiver } = yield* subscribed({ settings: { conversation: true } })
    yield* call(api, path(api), template("hello_world"))
    yield* later(api, "2 seconds")
    const [sent, delivered] = statusesOf(yield* receiver.requests)
    assert.match(sent.conversation.id, /^[0-9a-f]{32}$/)
    assert.strictEqual(sent.conversation.expiration_timestamp, String(24 * 3600))
    assert.deepStrictEqual(delivered.conversation, { id: sent.conversation.id, origin: { type: "utility" } })

    const forged = Buffer.from("{\"object\":\"whatsapp_business_account\",\"entry\":[]}")
    for (const signature of [undefined, "sha256=00", api.courier.sign(forged)]) {
      yield* receiver.script([RecordingReceiver.reply(401)])
      const attempt = yield* api.courier.deliver(forged, signature)
      assert.strictEqual(attempt.outcome, 401)
      const last = (yield* receiver.requests).at(-1)!
      assert.deepStrictEqual(Buffer.from(last.body), forged)
      assert.strictEqual(last.headers["x-hub-signature-256"], signature)
    }
  }))

it.effect("posts race only if there are several lanes", () =>
  Effect.gen(function*() {
    const { api, receiver } = yield* subscribed({ settings: { batchMost: 1, lanes: 3 } })
    yield* receiver.answerWith(RecordingReceiver.hang)
    for (let i = 0; i < 5; i++) yield* api.receive({ from: to })
    yield* receiver.waitFor(3)
    assert.strictEqual(yield* receiver.connections, 3)
    assert.strictEqual((yield* receiver.requests).length, 3)
  }))
