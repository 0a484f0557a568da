/**
 * A day with WhatsApp: what a newcomer does first, and what customers do, from the API to the receiver of webhooks.
 */
import { assert, layer } from "@effect/vitest"
import { Contact, ContactStore, PhoneNumberStore } from "@wac/core"
import { CloudApi } from "@wac/simulator"
import { Clock, Context, Duration, Effect, Option } from "effect"
import * as checks from "../checks.ts"
import { call, send } from "../harness.ts"
import { accepted, generous, template, text, World } from "./whatsapp.ts"

const ourNumber = "+15550783881"

const outsideWindow = { code: "forbidden", reason: "outside_service_window", param: "type" }
const optedOut = { code: "forbidden", reason: "opted_out", param: "to" }

const typesOf = (events: ReadonlyArray<{ readonly type: string }>) => events.map(({ type }) => type)

/** The customer writes; gives the event, once the receiver has been told. */
const writes = Effect.fnUntraced(function*(inbound: CloudApi.Inbound) {
  const world = yield* World
  const id = yield* Effect.orDie(world.api.receive(inbound))
  const [event] = yield* checks.until(
    Effect.map(world.told, (events) => events.filter(({ data }) => data.provider_message_id === id)),
    ({ length }) => length > 0
  )
  return { id, event }
})

/** What becomes of a text to this number: 200, or the reason against it. */
const textIs = (to: string, expected: 200 | { readonly code: string; readonly reason: string }) =>
  Effect.gen(function*() {
    const world = yield* World
    const answer = yield* send(world, text(to))
    if (expected === 200) assert.strictEqual(answer.status, 200, answer.text)
    else checks.assertError(answer, 403, expected)
  })

/** The contact of our number with a customer who is named so. */
const contactOf = Effect.fnUntraced(function*(name: string) {
  const { api, services } = yield* World
  const numbers = Context.get(services, PhoneNumberStore.PhoneNumberStore)
  const [number] = yield* Effect.orDie(numbers.named({ providerNumberId: api.identity.numbers[0].id }))
  const contacts = Context.get(services, ContactStore.ContactStore)
  return Option.getOrThrow(yield* Effect.orDie(contacts.get(number!.workspaceId, number!.id, name)))
})

const marketing = (to: string) => template(to, "promo", ["20 %"])

/** Sends until it is answered so, since what customers do takes a moment; each with a key of its own. */
const untilAnswered = (body: unknown, awaited: 200 | 403) =>
  Effect.flatMap(
    World,
    (world) => checks.until(Effect.suspend(() => send(world, body)), ({ status }) => status === awaited)
  )

/** Neither text nor marketing goes to who wants none, and nothing of it reaches upstream; what they need does. */
const assertOptedOut = Effect.fnUntraced(function*(to: string) {
  const world = yield* World
  yield* untilAnswered(marketing(to), 403)
  const before = (yield* world.callsTo(to)).length
  checks.assertError(yield* send(world, marketing(to)), 403, optedOut)
  checks.assertError(yield* send(world, text(to)), 403, optedOut)
  assert.lengthOf(yield* world.callsTo(to), before)
  yield* accepted(world, template(to))
})

const assertOptedIn = Effect.fnUntraced(function*(to: string) {
  yield* untilAnswered(marketing(to), 200)
  yield* textIs(to, 200)
})

layer(
  World.layer({ environment: checks.unlimited, api: { settings: generous } }),
  checks.live
)("on the simulated Cloud API", (it) => {
  it.effect("the templates of all pages are listed, with the parts that can be filled", () =>
    Effect.gen(function*() {
      const { api, key, url } = yield* World
      const list = yield* call(`${url}/v1/templates?limit=100`, { headers: { authorization: `Bearer ${key.apiKey}` } })
      assert.strictEqual(list.status, 200, list.text)
      const upstream = yield* api.templates
      assert.isAbove(upstream.length, 25)
      const nameOf = (template: { readonly name: string; readonly language: string; readonly status: string }) =>
        `${template.name} ${template.language} ${template.status.toLowerCase()}`
      assert.sameMembers(list.body.data.map(nameOf), upstream.map(nameOf))
      const named = list.body.data.find(({ name }: { readonly name: string }) => name === "appointment_reminder")
      assert.deepInclude(named, {
        category: "utility",
        parameter_format: "named",
        variables: ["first_name", "day", "hour"]
      })
    }))

  it.effect("a template is sent once, and the receiver gets its events in order and signed", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = "+16505550001"
      const answer = yield* send(world, {
        ...template(to, "order_update", ["Ana", "№ 1042 – ✓"]),
        client_reference: "order-1042"
      })
      assert.strictEqual(answer.status, 200, answer.text)
      const { message_id, provider_message_id } = answer.body
      assert.match(provider_message_id, /^wamid\./)
      const events = yield* world.toldOf(to, 3)
      assert.deepStrictEqual(typesOf(events), ["message.sent", "message.delivered", "message.read"])
      for (const [i, { data }] of events.entries()) {
        assert.deepInclude(data, {
          message_id,
          provider_message_id,
          to,
          sequence: i + 1,
          client_reference: "order-1042"
        })
      }
      const [sent, ...more] = yield* world.callsTo(to)
      assert.deepStrictEqual(more, [])
      assert.deepInclude(JSON.parse(sent!.body), { to, biz_opaque_callback_data: message_id })
      assert.strictEqual(yield* world.api.processed(message_id), 1)
      const stored = yield* checks.stored(world, message_id)
      assert.deepInclude(stored.body, { status: "read", from: ourNumber, provider_message_id })
      for (const field of ["sent_at", "delivered_at", "read_at"]) assert.match(stored.body[field], checks.timeShape)
    }))

  it.effect("templates of every form are sent in the provider's format, and invalid ones are refused first", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = "+16505550002"
      yield* accepted(world, template(to))
      yield* accepted(world, template(to, "hello_world", undefined, "de"))
      yield* accepted(world, template(to, "order_update", ["Ana", "1042"], "pt_BR"))
      yield* accepted(world, template(to, "appointment_reminder", ["Ana", "Tuesday", "10:00"]))
      yield* accepted(world, template(to, "confirm_visit", ["Friday"]))
      yield* accepted(world, template(to, "login_code", ["4711"]))
      const { length } = yield* world.callsTo(to)
      const refusals: ReadonlyArray<
        readonly [body: unknown, status: number, error: Parameters<typeof checks.assertError>[2]]
      > = [
        [template(to, "nothing"), 403, {
          code: "forbidden",
          reason: "template_not_found",
          param: "template.name"
        }],
        [template(to, "order_update", ["Ana", "1042"], "de"), 403, {
          code: "forbidden",
          reason: "template_not_found",
          param: "template.name"
        }],
        ...["pending_review", "rejected_offer", "paused_offer", "disabled_offer"].map((name) =>
          [template(to, name, name === "pending_review" ? ["Ana"] : undefined), 403, {
            code: "forbidden",
            reason: "template_not_approved",
            param: "template.name"
          }] as const
        ),
        [template(to, "order_update", ["Ana"]), 400, {
          code: "invalid_body",
          reason: "template_params_mismatch",
          param: "template.bodyParams"
        }],
        [template(to, "order_update"), 400, {
          code: "invalid_body",
          reason: "template_params_mismatch",
          param: "template.bodyParams"
        }],
        // upstream's rules for values
        ...[
          [template(to, "order_update", ["a\nb", "1"]), "template.bodyParams[0]"],
          [template(to, "order_update", ["Ana", "five     spaces"]), "template.bodyParams[1]"],
          [template(to, "order_update", ["Ana", "x".repeat(1025)]), "template.bodyParams[1]"],
          [template(to, "login_code", ["1".repeat(16)]), "template.bodyParams[0]"]
        ].map(([body, param]) =>
          [body, 400, { code: "invalid_body", reason: "template_params_mismatch", param: param as string }] as const
        )
      ]
      for (const [body, status, error] of refusals) checks.assertError(yield* send(world, body), status, error)
      assert.lengthOf(yield* world.callsTo(to), length)
    }))

  it.effect("a template with the button of a form or a catalogue is sent without a value for it", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = "+16505550013"
      for (const [i, [name, subType]] of [["book_visit", "flow"], ["see_catalog", "catalog"]].entries()) {
        yield* accepted(world, template(to, name, ["Ana"]))
        const sent = JSON.parse((yield* world.callsTo(to))[i]!.body)
        assert.deepStrictEqual(sent.template.components, [
          { type: "body", parameters: [{ type: "text", text: "Ana" }] },
          { type: "button", sub_type: subType, index: "0" }
        ])
      }
    }))

  it.effect("an authentication template to a user id is refused before upstream is asked, and the key stays free", () =>
    Effect.gen(function*() {
      const world = yield* World
      const userId = "US.13491208655302740001"
      const headers = { "idempotency-key": "login-1" }
      const refused = yield* send(world, template(userId, "login_code", ["4711"]), headers)
      checks.assertError(refused, 403, { code: "forbidden", reason: "phone_number_required", param: "to" })
      assert.deepStrictEqual(yield* world.callsTo(userId), [])
      yield* accepted(world, template(userId), headers)
    }))

  it.effect("text is refused until the customer writes, and again 24 hours later", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = "+16505550003"
      yield* textIs(to, outsideWindow)
      assert.deepStrictEqual(yield* world.callsTo(to), [])

      const said = "Olá! <42> 100 % 📦 a@b.example – ça va?\n日本語"
      const at = yield* Clock.currentTimeMillis
      const { event, id } = yield* writes({ from: to, text: said })
      // as Meta writes it
      const posted = world.api.courier.attempts().find(({ body }) => body.includes(id))!
      assert.match(posted.body, /^[\x20-\x7e]+$/)
      assert.include(posted.body, "\\u65e5")
      assert.strictEqual(event.type, "message.received")
      const { message_id, received_at, ...data } = event.data
      assert.match(message_id, checks.idShape("msg"))
      assert.strictEqual(Date.parse(received_at), Math.floor(at / 1000) * 1000)
      assert.deepStrictEqual(data, {
        provider_message_id: id,
        from: to,
        to: ourNumber,
        profile: { name: "Sim Customer" },
        type: "text",
        text: { body: said },
        late: false
      })

      yield* textIs(to, 200)
      assert.deepStrictEqual(typesOf(yield* world.toldOf(to, 4)), [
        "message.received",
        "message.sent",
        "message.delivered",
        "message.read"
      ])
      yield* world.pass(Duration.minutes(24 * 60 - 1))
      yield* textIs(to, 200)
      yield* world.pass("1 minute")
      yield* textIs(to, outsideWindow)
    }))

  it.effect("a late message opens the service window only as far as its own time allows", () =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const hour = 3_600_000
      const { event } = yield* writes({ from: "+16505550004", at: now - 25 * hour })
      assert.strictEqual(event.data.late, true)
      yield* textIs("+16505550004", outsideWindow)
      yield* writes({ from: "+16505550004", at: now - 23 * hour })
      yield* textIs("+16505550004", 200)
      // nor does an older one close it
      yield* writes({ from: "+16505550004", at: now - 30 * hour })
      yield* textIs("+16505550004", 200)
    }))

  it.effect("STOP and START work by keyword, button and preference, and code 131050 counts as STOP", () =>
    Effect.gen(function*() {
      const world = yield* World
      const from = "+16505550005"
      const button = (title: string) => ({ type: "button", button: { text: title, payload: `payload-${title}` } })
      const reply = (title: string) => ({
        type: "interactive",
        interactive: { type: "button_reply", button_reply: { id: "x", title } }
      })
      const wishes: ReadonlyArray<
        readonly [stop: Effect.Effect<unknown, never, World>, start: Effect.Effect<unknown, never, World>]
      > = [
        [writes({ from, text: " stop " }), writes({ from, text: "START" })],
        [writes({ from, content: button("Stop") }), writes({ from, content: button("Start") })],
        [writes({ from, content: reply("UNSUBSCRIBE") }), writes({ from, content: reply("unstop") })],
        [world.api.prefer(from, "stop"), world.api.prefer(from, "resume")]
      ]
      yield* writes({ from, text: "Please stop by tomorrow" })
      yield* assertOptedIn(from)
      for (const [stop, start] of wishes) {
        // upstream's times are whole seconds: the later wish has a later one
        yield* world.pass("1 second")
        yield* stop
        yield* assertOptedOut(from)
        yield* world.pass("1 second")
        yield* start
        yield* assertOptedIn(from)
      }

      // told by the provider of a message that was on its way
      const other = "+15005550004"
      yield* writes({ from: other })
      const id = yield* accepted(world, marketing(other))
      const failed = yield* checks.untilStatus(world, id, "failed")
      assert.deepInclude(failed.body.error, { code: "forbidden", reason: "opted_out" })
      yield* untilAnswered(marketing(other), 403)
      const before = (yield* world.callsTo(other)).length
      checks.assertError(yield* send(world, marketing(other)), 403, optedOut)
      checks.assertError(yield* send(world, text(other)), 403, optedOut)
      assert.lengthOf(yield* world.callsTo(other), before)
      yield* world.pass("1 second")
      yield* writes({ from: other, text: "start" })
      yield* world.api.behave(other, {})
      yield* assertOptedIn(other)
    }))

  it.effect("a customer without a number is answered by user id, and stays one contact when their number is known", () =>
    Effect.gen(function*() {
      const world = yield* World
      const userId = "US.13491208655302741918"
      const { event, id } = yield* writes({ userId, text: "Who am I?" })
      const { message_id: _, received_at: __, ...data } = event.data
      assert.deepStrictEqual(data, {
        provider_message_id: id,
        from: userId,
        from_user_id: userId,
        to: ourNumber,
        profile: { name: "Sim Customer" },
        type: "text",
        text: { body: "Who am I?" },
        late: false
      })
      const answer = yield* accepted(world, {
        ...text(event.data.from),
        context: { message_id: event.data.message_id }
      })
      const events = yield* checks.until(
        Effect.map(world.told, (all) => all.filter(({ data }) => data.message_id === answer)),
        ({ length }) => length === 3
      )
      assert.deepStrictEqual(events.map(({ data, type }) => [type, data.to]), [
        ["message.sent", userId],
        ["message.delivered", userId],
        ["message.read", userId]
      ])
      const [sent] = yield* world.callsTo(userId)
      const body = JSON.parse(sent!.body)
      assert.deepInclude(body, { recipient: userId, context: { message_id: id } })
      assert.notProperty(body, "to")
      assert.deepInclude((yield* checks.stored(world, answer)).body, { status: "read", to: userId })
      const before = yield* contactOf(userId)
      const from = "+16505550006"
      yield* textIs(from, outsideWindow)
      const named = yield* writes({ from, userId, text: "It is me" })
      assert.deepInclude(named.event.data, { from, from_user_id: userId })
      for (const to of [from, userId]) yield* textIs(to, 200)
      // what was written to one name can be quoted to the other
      yield* accepted(world, { ...text(from), context: { message_id: answer } })
      const after = yield* contactOf(from)
      assert.deepStrictEqual([Contact.idOf(after), after.customer], [Contact.idOf(before), { phone: from, userId }])
      assert.deepStrictEqual(yield* contactOf(userId), after)
      yield* Effect.orDie(world.api.receive({ userId, text: "STOP" }))
      for (const to of [from, userId]) yield* untilAnswered(text(to), 403)
      const list = yield* call(`${world.url}/v1/messages?to=${userId}`, {
        headers: { authorization: `Bearer ${world.key.apiKey}` }
      })
      // by whichever name it was sent
      const sentTo = new Set(list.body.data.map(({ to }: { readonly to: string }) => to))
      assert.sameMembers([...sentTo], [from, userId])
      assert.isAbove(list.body.data.length, 1)
    }))

  it.effect("a number in WhatsApp's own spelling has the same service window as the number in the send", () =>
    Effect.gen(function*() {
      const world = yield* World
      const variants: ReadonlyArray<readonly [written: string, ours: string]> = [
        ["+553188887777", "+5531988887777"],
        ["+5215512345678", "+525512345678"],
        ["+5491112345678", "+541112345678"]
      ]
      for (const [written, ours] of variants) {
        yield* textIs(ours, outsideWindow)
        const { event } = yield* writes({ from: written })
        assert.strictEqual(event.data.from, written)
        yield* textIs(ours, 200)
        const [sent] = yield* world.callsTo(ours)
        assert.strictEqual(sent!.processed, true)
        // what becomes of it is told under the number that was written to
        assert.deepStrictEqual(typesOf(yield* world.toldOf(ours, 3)), [
          "message.sent",
          "message.delivered",
          "message.read"
        ])
        yield* world.pass("1 second")
        yield* writes({ from: written, text: "STOP" })
        yield* assertOptedOut(ours)
      }
    }))

  it.effect("the number in an event is accepted as the recipient of the reply, and lists what was sent to the customer", () =>
    Effect.gen(function*() {
      const world = yield* World
      const headers = { authorization: `Bearer ${world.key.apiKey}` }
      for (
        const [ours, theirs] of [
          ["+525512345670", "+5215512345670"],
          ["+2290197123456", "+22997123456"],
          ["+2250708123456", "+22508123456"]
        ] as const
      ) {
        yield* accepted(world, template(ours))
        const { event } = yield* writes({ from: ours })
        assert.strictEqual(event?.data.from, theirs)
        for (const to of [theirs, ours]) yield* textIs(to, 200)
        const listed = (to: string) => call(`${world.url}/v1/messages?to=${encodeURIComponent(to)}`, { headers })
        const [byOurs, byTheirs] = [yield* listed(ours), yield* listed(theirs)]
        assert.lengthOf(byOurs.body.data, 3)
        assert.deepStrictEqual(
          byTheirs.body.data.map(({ message_id }: { readonly message_id: string }) => message_id),
          byOurs.body.data.map(({ message_id }: { readonly message_id: string }) => message_id)
        )
      }
      checks.assertError(yield* send(world, text("+22997123400")), 400, {
        code: "invalid_body",
        reason: "invalid_field",
        param: "to"
      })
      const zero = yield* send(world, template("+4407123456789"))
      checks.assertError(zero, 400, { code: "invalid_body", reason: "invalid_field", param: "to" })
      assert.include(zero.body.error.message, "+447123456789")
    }))

  it.effect("a customer who changes their number keeps their service window and opt-out", () =>
    Effect.gen(function*() {
      const world = yield* World
      const [before, after] = ["+16505550007", "+16505550008"]
      yield* writes({ from: before })
      yield* textIs(before, 200)
      yield* world.api.move(before, after)
      yield* untilAnswered(text(after), 200)
      yield* textIs(before, outsideWindow)
      yield* world.pass("1 second")
      yield* writes({ from: after, text: "STOP" })
      const last = "+16505550009"
      yield* world.pass("1 second")
      yield* world.api.move(after, last)
      yield* untilAnswered(marketing(last), 403)
      yield* assertOptedOut(last)
    }))

  /** What the event says of each kind; what is not here is no message. */
  const said: { readonly [kind: string]: readonly [type: string, field?: string, value?: unknown] } = {
    text: ["text"],
    button: ["button", "text", "Yes"],
    button_reply: ["interactive", "button_reply", { id: "choice_yes", title: "Yes" }],
    list_reply: ["interactive", "list_reply", { id: "slot_2", title: "At noon", description: "12:00" }],
    flow_reply: ["interactive", "nfm_reply", { name: "flow", body: "Sent", response: { flow_token: "t", day: "2" } }],
    reaction: ["reaction", "emoji", "👍"],
    unreaction: ["reaction", "emoji", null],
    image: ["image", "caption", "Schön, nicht?"],
    audio: ["audio", "voice", true],
    video: ["video", "mime_type", "video/mp4"],
    document: ["document", "filename", "Reçu café.pdf"],
    sticker: ["sticker", "animated", false],
    location: ["location", "name", "Brandenburger Tor"],
    contacts: ["contacts"],
    order: ["order", "catalog_id", "123456"],
    referral: ["text", "body", "I saw this"],
    edit: ["edit", "message", { type: "text", text: { body: "B" } }],
    revoke: ["revoke", "original_provider_message_id", "wamid.of-another"],
    unsupported: ["unsupported", "errors", [{
      code: 131_051,
      message: "Message type unknown: Message type is currently not supported."
    }]]
  }

  it.effect("customers' messages of every kind cause message.received, and other items are ignored", () =>
    Effect.gen(function*() {
      const world = yield* World
      const elsewhere = ["group", "call"]
      const passedOver = CloudApi.kinds.filter((kind) => said[kind] === undefined && !elsewhere.includes(kind))
      assert.sameMembers(passedOver, ["identity", "request_welcome"])
      const from = "+16505550010"
      for (const kind of passedOver) yield* Effect.orDie(world.api.receive({ from, kind }))
      yield* world.quiet
      for (const kind of elsewhere) {
        const { event } = yield* writes({ from, kind })
        assert.deepInclude(event.data, { type: "unsupported", from, to: ourNumber })
      }
      yield* textIs(from, outsideWindow)
      for (const [kind, [type, field, value]] of Object.entries(said)) {
        const { event } = yield* writes({ from, kind, context: { from: ourNumber.slice(1), id: "wamid.quoted" } })
        assert.deepInclude(event.data, { type, from, to: ourNumber, late: false })
        assert.isDefined(event.data[type], kind)
        if (field !== undefined) assert.deepStrictEqual(event.data[type][field], value, kind)
        assert.deepInclude(event.data.context, { message_id: "wamid.quoted", from: ourNumber })
      }
      const told = elsewhere.length + Object.keys(said).length
      assert.lengthOf(yield* world.toldOf(from, told), told)
      yield* textIs(from, 200)
    }))

  it.effect("a reply to a customer's message is sent within the window", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = "+15005550012"
      yield* accepted(world, template(to))
      yield* world.toldOf(to, 3)
      yield* world.pass("1 second")
      const events = yield* world.toldOf(to, 4)
      assert.deepStrictEqual(events.at(-1).data.text, { body: "Thank you, olá! 👋" })
      yield* textIs(to, 200)
    }))

  it.effect("repeated statuses and statuses out of order cause one event each", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = "+15005550007"
      yield* accepted(world, template(to))
      yield* world.toldOf(to, 3)
      yield* world.quiet
      yield* world.api.courier.redeliver()
      yield* world.quiet
      const events = yield* world.toldOf(to, 3)
      assert.deepStrictEqual(typesOf(events), ["message.sent", "message.delivered", "message.read"])
    }))

  it.effect("a message that WhatsApp reports as failed and then as played was read, and its events say so", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = "+15005550002"
      const { message_id, provider_message_id } = (yield* send(world, template(to))).body
      yield* checks.until(checks.stored(world, message_id), ({ body }) => body.status === "failed")
      for (const status of ["sent", "played", "failed", "delivered"]) {
        yield* Effect.orDie(world.api.tell({ message: provider_message_id, status }))
        yield* world.quiet
      }
      const events = (yield* world.toldOf(to, 4)).map(({ data, type }) => [type, data.sequence, data.corrects])
      assert.deepStrictEqual(events, [
        ["message.sent", 1, undefined],
        ["message.failed", 2, undefined],
        ["message.delivered", 3, "failed"],
        ["message.read", 4, "failed"]
      ])
      const { body } = yield* checks.stored(world, message_id)
      assert.deepInclude(body, { status: "read", failed_at: null, error: null })
      assert.match(body.played_at, checks.timeShape)
    }))
})
