import { assert, it } from "@effect/vitest"
import { CloudApi } from "@wac/simulator"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { bodyOf, call, path, plain, template, text, to } from "./CloudApiCalls.ts"

it.effect("a text and a template are accepted with the customer's WhatsApp id", () =>
  Effect.gen(function*() {
    const api = yield* CloudApi.make()
    const sent = yield* call(api, path(api), { ...plain, biz_opaque_callback_data: "msg_1" })
    assert.strictEqual(sent.http, 200)
    assert.deepStrictEqual(sent.json.contacts, [{ input: to, wa_id: "16505551234" }])
    assert.strictEqual(sent.json.messaging_product, "whatsapp")
    assert.match(sent.json.messages[0].id, /^wamid\.[A-Za-z0-9+/]+=*$/)
    assert.isUndefined(sent.json.messages[0].message_status)
    assert.isString(sent.headers.get("x-business-use-case-usage"))
    assert.strictEqual(sent.headers.get("facebook-api-version"), "v25.0")
    assert.isString(sent.headers.get("x-fb-trace-id"))

    const templated = yield* call(api, path(api), template("order_update", [bodyOf(text("Ana"), text("42"))]))
    assert.strictEqual(templated.http, 200)
    assert.strictEqual(templated.json.messages[0].message_status, "accepted")
    assert.notStrictEqual(templated.json.messages[0].id, sent.json.messages[0].id)

    for (
      const [input, wa_id] of [
        ["+5531987654321", "553187654321"],
        ["+5511987654321", "5511987654321"],
        ["+525512345678", "5215512345678"],
        ["+541112345678", "5491112345678"],
        ["+1 (650) 555-1234", "16505551234"]
      ]
    ) {
      const { json } = yield* call(api, path(api), { ...plain, to: input })
      assert.deepStrictEqual(json.contacts, [{ input, wa_id }])
    }
    const user = yield* call(api, path(api), { ...plain, to: undefined, recipient: "US.13491208655302741918" })
    assert.deepStrictEqual(user.json.contacts, [{
      input: "US.13491208655302741918",
      user_id: "US.13491208655302741918"
    }])
    assert.strictEqual(yield* api.processed("msg_1"), 1)
  }))

it.effect("refusals have the documented code, status and shape, in order", () =>
  Effect.gen(function*() {
    const api = yield* CloudApi.make()
    const own = api.identity.numbers[0].display
    const long = "x".repeat(4097)
    const order = (...parameters: ReadonlyArray<unknown>) => template("order_update", [bodyOf(...parameters)])
    const named = (...parameters: ReadonlyArray<unknown>) => template("appointment_reminder", [bodyOf(...parameters)])
    const cases: ReadonlyArray<readonly [code: number, http: number, body: unknown, details?: RegExp]> = [
      [100, 400, "{not json"],
      [100, 400, "[]"],
      [100, 400, { ...plain, messaging_product: undefined }],
      [100, 400, { ...plain, messaging_product: "sms" }],
      [100, 400, { ...plain, to: undefined }],
      [100, 400, { ...plain, to: 16505551234 }],
      [131009, 400, { ...plain, to: "+0123" }, /not a valid phone number/],
      [131051, 400, { ...plain, type: "hologram" }],
      [131008, 400, { ...plain, text: undefined }, /'text' is mandatory/],
      [131008, 400, { ...plain, text: { body: "" } }, /body/],
      [100, 400, { ...plain, text: { body: long } }, /4096/],
      [131021, 400, { ...plain, to: own }],
      [131009, 400, { ...plain, to: "+15005550001" }],
      [131056, 400, { ...plain, to: "+15005550009" }],
      [131008, 400, template(""), /name/],
      [131008, 400, { ...template("promo"), template: { name: "promo" } }, /language/],
      [132001, 404, template("no_such_template"), /no_such_template.*en_US/],
      [132001, 404, { ...template("promo"), template: { name: "promo", language: { code: "en" } } }],
      [132001, 404, template("pending_review", [bodyOf(text("a"))])],
      [132001, 404, template("rejected_offer")],
      [132015, 400, template("paused_offer")],
      [132016, 400, template("disabled_offer")],
      [132000, 400, order(text("a")), /body: number of localizable_params \(1\).*\(2\)/],
      [132000, 400, template("hello_world", [bodyOf(text("a"))]), /\(1\).*\(0\)/],
      [131008, 400, order(text("a"), text("")), /missing text value/],
      [132018, 400, order(text("a"), text("two\nlines")), /new-line/],
      [132018, 400, order(text("a"), text("a\ttab")), /tab/],
      [132018, 400, order(text("a"), text("five     spaces")), /4 consecutive spaces/],
      [
        132018,
        400,
        template("track_parcel", [
          bodyOf(text("a")),
          { type: "button", sub_type: "url", index: "0", parameters: [text("a\nb")] }
        ]),
        /new-line/
      ],
      [
        132018,
        400,
        template("login_code", [
          bodyOf(text("1".repeat(16))),
          { type: "button", sub_type: "url", index: "0", parameters: [text("1".repeat(16))] }
        ]),
        /Parameter at index 0 exceeds the parameter length limit 15/
      ],
      [132012, 400, order(text("a"), { type: "image", image: { id: "1" } }), /expected TEXT, received IMAGE/],
      [132005, 400, order(text("a"), text("x".repeat(1024)))],
      [
        132005,
        400,
        template("named_header", [
          { type: "header", parameters: [text("x".repeat(60), "order_id")] },
          bodyOf(text("a", "first_name"))
        ]),
        /header/
      ],
      [100, 400, named(text("a"), text("b"), text("c")), /Parameter name/],
      [132012, 400, named(text("a", "first_name"), text("b", "day"), text("c", "minute")), /minute/],
      [132012, 400, template("picture_offer", [bodyOf(text("a"))]), /expected IMAGE, received UNKNOWN/],
      [131008, 400, template("track_parcel", [bodyOf(text("a"))]), /Button at index 0 of type URL/],
      [131009, 400, template("book_visit", [bodyOf(text("a"))]), /Button at index 0 of type FLOW/],
      [131008, 400, template("see_catalog", [bodyOf(text("a"))]), /Button at index 0 of type CATALOG/],
      [131062, 400, {
        ...template("login_code", [
          bodyOf(text("1")),
          { type: "button", sub_type: "url", index: "0", parameters: [text("1")] }
        ]),
        to: undefined,
        recipient: "US.13491208655302741918"
      }]
    ]
    for (const [code, http, body, details] of cases) {
      const reply = yield* call(api, path(api), body)
      const about = JSON.stringify([body, reply.json])
      assert.strictEqual(reply.http, http, about)
      assert.strictEqual(reply.json.error.code, code, about)
      assert.strictEqual(reply.json.error.type, "OAuthException")
      assert.match(reply.json.error.message, new RegExp(`^\\(#${code}\\) .`))
      assert.match(reply.json.error.fbtrace_id, /^A[\w-]+$/)
      if (details !== undefined) {
        assert.strictEqual(reply.json.error.error_data.messaging_product, "whatsapp")
        assert.match(reply.json.error.error_data.details, details)
      }
    }
    assert.isTrue((yield* api.calls).every(({ processed }) => !processed))

    for (const token of ["wrong", ""]) {
      const { http, json } = yield* call(api, path(api), plain, token)
      assert.strictEqual(http, 401)
      assert.strictEqual(json.error.code, 190)
      assert.notProperty(json.error, "error_data")
    }
    const elsewhere = yield* call(api, "/v25.0/999/messages", plain)
    assert.strictEqual(elsewhere.http, 400)
    assert.deepInclude(elsewhere.json.error, { code: 100, error_subcode: 33, type: "GraphMethodException" })

    yield* api.configure({ allowed: ["+15550001111"] })
    assert.strictEqual((yield* call(api, path(api), plain)).json.error.code, 131030)
    assert.strictEqual((yield* call(api, path(api), { ...plain, to: "+15550001111" })).http, 200)
    yield* api.changeNumber(api.identity.numbers[0].id, { refuses: 133010 })
    const unregistered = yield* call(api, path(api), { ...plain, to: "+15550001111" })
    assert.strictEqual(unregistered.http, 400)
    assert.strictEqual(unregistered.json.error.code, 133010)
  }))

it.effect("parameters are accepted by name, and in headers and buttons", () =>
  Effect.gen(function*() {
    const api = yield* CloudApi.make()
    const image = { type: "header", parameters: [{ type: "image", image: { link: "https://pic.example/a.png" } }] }
    const button = { type: "button", sub_type: "url", index: "0", parameters: [text("abc")] }
    const amount = { type: "currency", currency: { fallback_value: "$10", code: "USD", amount_1000: 10_000 } }
    for (
      const body of [
        template("appointment_reminder", [bodyOf(text("9:00", "hour"), text("Ana", "first_name"), text("May", "day"))]),
        template("named_header", [
          { type: "header", parameters: [text("42", "order_id")] },
          bodyOf(text("Ana", "first_name"))
        ]),
        template("book_visit", [bodyOf(text("Ana    B.")), { type: "button", sub_type: "flow", index: "0" }]),
        template("see_catalog", [bodyOf(text("Ana")), { type: "button", sub_type: "catalog", index: "0" }]),
        template("login_code", [
          bodyOf(text("1".repeat(15))),
          { type: "button", sub_type: "url", index: "0", parameters: [text("1".repeat(15))] }
        ]),
        template("picture_offer", [image, bodyOf(text("Ana"))]),
        template("track_parcel", [bodyOf(text("7")), button]),
        template("confirm_visit", [bodyOf(text("May 1"))]),
        template("promo", [bodyOf(amount)])
      ]
    ) {
      assert.strictEqual((yield* call(api, path(api), body)).http, 200, JSON.stringify(body))
    }
  }))

it.effect("cards and the end of an offer are accepted only as the template has them", () =>
  Effect.gen(function*() {
    const api = yield* CloudApi.make()
    const card = { components: [{ type: "BODY", text: "{{1}}" }] }
    yield* api.changeTemplate({
      name: "cards",
      components: [{ type: "BODY", text: "New:" }, { type: "CAROUSEL", cards: [card, card] }]
    })
    yield* api.changeTemplate({
      name: "offer",
      components: [
        { type: "BODY", text: "Hurry." },
        { type: "LIMITED_TIME_OFFER", limited_time_offer: { text: "Ends soon", has_expiration: true } }
      ]
    })
    const filled = (card_index: number, ...values: ReadonlyArray<string>) => ({
      card_index,
      components: [bodyOf(...values.map((value) => text(value)))]
    })
    const cards = (...cards: ReadonlyArray<unknown>) => template("cards", [{ type: "carousel", cards }])
    const ends = (expiration_time_ms: unknown) => ({
      type: "limited_time_offer",
      parameters: [{ type: "limited_time_offer", limited_time_offer: { expiration_time_ms } }]
    })
    const cases: ReadonlyArray<readonly [code: number | undefined, body: unknown]> = [
      [undefined, cards(filled(0, "a"), filled(1, "b"))],
      [132012, template("cards")],
      [132012, cards(filled(0, "a"))],
      [131008, cards(filled(0, "a"), filled(2, "b"))],
      [132000, cards(filled(0, "a"), filled(1))],
      [undefined, template("offer", [ends(1_800_000_000_000)])],
      [131008, template("offer")],
      [131008, template("offer", [ends("soon")])],
      [132012, template("promo", [bodyOf(text("a")), ends(1_800_000_000_000)])]
    ]
    for (const [code, body] of cases) {
      const { json } = yield* call(api, path(api), body)
      assert.strictEqual(json.error?.code, code, JSON.stringify([body, json]))
    }
  }))

it.effect("a number's throughput, a pair's rate and a portfolio's customers are limited", () =>
  Effect.gen(function*() {
    const api = yield* CloudApi.make({ settings: { window: false } })
    const codes = (count: number, recipient: (i: number) => string, number = 0) =>
      Effect.forEach(
        Array.from({ length: count }, (_, i) => recipient(i)),
        (to) => Effect.map(call(api, path(api, number), { ...plain, to }), ({ json }) => json.error?.code ?? 0),
        { concurrency: 8 }
      )
    const many = yield* codes(82, (i) => `+1650555${String(1000 + i)}`)
    assert.strictEqual(many.filter((code) => code === 130429).length, 2)
    assert.strictEqual(many.filter((code) => code === 0).length, 80)
    assert.deepStrictEqual(yield* codes(1, () => to, 1), [0])
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(yield* codes(1, () => "+16505559999"), [0])
    yield* TestClock.adjust("10 minutes")

    const pair = yield* codes(46, () => "+16505558888")
    assert.strictEqual(pair.filter((code) => code === 131056).length, 1)
    yield* TestClock.adjust("5999 millis")
    assert.deepStrictEqual(yield* codes(1, () => "+16505558888"), [131056])
    yield* TestClock.adjust("1 millis")
    assert.deepStrictEqual(yield* codes(2, () => "+16505558888"), [0, 131056])

    yield* TestClock.adjust("25 hours")
    yield* api.changeNumber(api.identity.numbers[0].id, { whatsapp_business_manager_messaging_limit: "TIER_2" })
    yield* codes(3, (i) => `+1650555700${i}`)
    yield* codes(1, () => "+16505557000")
    yield* TestClock.adjust("10 seconds")
    const failed = api.courier.told().filter(({ value }) => JSON.stringify(value).includes("131049"))
    assert.strictEqual(failed.length, 1)
  }))

it.effect("templates are listed by pages of 25 with cursors, whole or by field, and numbers with their health", () =>
  Effect.gen(function*() {
    const api = yield* CloudApi.make()
    const list = `/v25.0/${api.identity.account}/message_templates`
    const first = yield* call(api, list)
    assert.strictEqual(first.json.data.length, 25)
    const next = new URL(first.json.paging.next)
    assert.strictEqual(next.origin, api.url)
    const second = yield* call(api, `${next.pathname}${next.search}`)
    assert.isUndefined(second.json.paging.next)
    const all = yield* api.templates
    assert.deepStrictEqual([...first.json.data, ...second.json.data], all)
    const some = yield* call(api, `${list}?fields=name,status&limit=2&status=APPROVED`)
    assert.deepStrictEqual(Object.keys(some.json.data[0]).sort(), ["id", "name", "status"])
    assert.include(some.json.paging.next, "limit=2")
    assert.deepStrictEqual((yield* call(api, `${list}?name=nothing`)).json, { data: [] })

    const id = api.identity.numbers[0].id
    const shown = yield* call(api, `/v25.0/${id}?fields=quality_rating,throughput,health_status,status`)
    assert.deepInclude(shown.json, { id, quality_rating: "GREEN", throughput: { level: "STANDARD" } })
    const limit = yield* call(api, `/v25.0/${id}?fields=whatsapp_business_manager_messaging_limit`)
    assert.deepStrictEqual(limit.json, { whatsapp_business_manager_messaging_limit: "TIER_UNLIMITED", id })
    assert.strictEqual((yield* call(api, `/v25.0/${id}?fields=refuses`)).json.error.code, 100)
    assert.strictEqual((yield* call(api, `/v25.0/${api.identity.account}/phone_numbers`)).json.data.length, 2)
  }))

it.effect("uploads of the documented types are accepted, each up to the size of its type", () =>
  Effect.gen(function*() {
    const api = yield* CloudApi.make()
    const upload = (type: string, bytes: number) =>
      Effect.promise(async () => {
        const form = new FormData()
        form.set("messaging_product", "whatsapp")
        form.set("type", type)
        form.set("file", new Blob([new Uint8Array(bytes)], { type }))
        const response = await fetch(`${api.url}/v25.0/${api.identity.numbers[0].id}/media`, {
          method: "POST",
          headers: { authorization: `Bearer ${api.identity.accessToken}` },
          body: form
        })
        const { error, id } = await response.json() as { error?: { code: number; message: string }; id?: string }
        return error ?? id
      })
    const image = 5 * 1024 * 1024
    for (const [type, bytes] of [["image/png", image], ["application/pdf", image + 1], ["text/plain", 1]] as const) {
      assert.isString(yield* upload(type, bytes), type)
    }
    assert.deepInclude(yield* upload("image/png", image + 1), { code: 131053 })
    for (const type of ["image/gif", "video/webm", "image/heic", "application/zip"]) {
      const refused = yield* upload(type, 1)
      assert.ok(typeof refused === "object" && refused.code === 100, type)
      assert.match(refused.message, /one of the following types: audio\/aac, .*video\/3gpp\. Received file of type/)
    }
  }))
