/**
 * Conversations: what was sent to a customer and what the customer wrote, over HTTP and with the simulated Cloud API.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import { call, send } from "../harness.ts"
import { accepted, anyone, silent, template, text, World } from "../whatsapp/whatsapp.ts"

layer(World.layer({ api: { settings: silent }, environment: checks.unlimited }), { excludeTestServices: true })(
  "conversations",
  (it) => {
    const get = (path: string) =>
      World.use(({ key, url }) => call(`${url}${path}`, { headers: { authorization: `Bearer ${key.apiKey}` } }))

    const listed = (query: string) =>
      Effect.map(get(`/v1/messages?${query}`), ({ body, status, text }) => {
        assert.strictEqual(status, 200, text)
        return body.data as ReadonlyArray<{ readonly [field: string]: unknown }>
      })

    const named = (name: string) => `contact=${encodeURIComponent(name)}`

    it.effect("a conversation has both directions by any name of the customer, with the contents", () =>
      Effect.gen(function*() {
        const world = yield* World
        const to = anyone()
        const template_ = template(to, "order_update", ["Ana", "1042"])
        const first = yield* accepted(world, { ...template_, client_reference: "order-1042" })
        yield* world.api.receive({ from: to, userId: "US.77", text: "Thank you" })
        yield* world.quiet
        const answered = { ...text(to, "Bye"), text: { body: "Bye", preview_url: true } }
        const second = yield* accepted(world, answered)
        yield* accepted(world, template(anyone()))

        for (const name of [to, "US.77"]) {
          const [bye, thanks, order, ...others] = yield* listed(named(name))
          assert.isEmpty(others)
          assert.deepInclude(bye, { direction: "outbound", message_id: second, text: answered.text, type: "text" })
          assert.deepInclude(order, {
            direction: "outbound",
            message_id: first,
            client_reference: "order-1042",
            template: template_.template
          })
          const { message_id, provider_message_id, received_at, ...rest } = thanks!
          assert.deepStrictEqual(rest, {
            direction: "inbound",
            status: "received",
            tenant_id: order!["tenant_id"],
            from: to,
            from_user_id: "US.77",
            to: order!["from"],
            type: "text",
            text: { body: "Thank you" },
            context: null
          })
          assert.match(`${message_id}`, /^msg_/)
          assert.match(`${provider_message_id}`, /^wamid/)
          assert.match(`${received_at}`, checks.timeShape)
          assert.deepStrictEqual((yield* get(`/v1/messages/${message_id as string}`)).body, thanks)
        }
        const inbound = yield* listed(`${named(to)}&direction=inbound`)
        assert.deepStrictEqual(inbound.map(({ direction }) => direction), ["inbound"])
        const outbound = yield* listed(`${named(to)}&direction=outbound`)
        assert.deepStrictEqual(outbound.map(({ message_id }) => message_id), [second, first])
        const page = yield* get(`/v1/messages?${named(to)}&limit=2`)
        assert.isTrue(page.body.has_more)
        const rest = yield* listed(`${named(to)}&limit=2&cursor=${page.body.next_cursor}`)
        assert.deepStrictEqual(rest.map(({ message_id }) => message_id), [first])
      }))

    it.effect("without contact and direction the list is of outbound messages, without their contents", () =>
      Effect.gen(function*() {
        const world = yield* World
        const to = anyone()
        const id = yield* accepted(world, template(to))
        yield* world.api.receive({ from: to, text: "Hello" })
        yield* world.quiet
        for (const query of ["limit=1", "limit=1&direction=outbound"]) {
          const [newest] = yield* listed(query)
          assert.deepInclude(newest, { direction: "outbound", message_id: id })
          assert.notProperty(newest, "template")
        }
        const [heard] = yield* listed("direction=inbound&limit=1")
        assert.deepInclude(heard, { direction: "inbound", from: to, text: { body: "Hello" } })
      }))

    it.effect("other filters cannot be combined with a conversation, and a contact must be a name", () =>
      Effect.gen(function*() {
        const to = anyone()
        for (
          const [query, param] of [
            [`${named(to)}&status=sent`, "status"],
            [`${named(to)}&to=${encodeURIComponent(to)}`, "to"],
            [`direction=inbound&since=2026-01-01T00:00:00Z`, "since"],
            ["direction=inbound&client_reference=a", "client_reference"],
            [`${named(to)}&direction=sideways`, "direction"],
            ["contact=1555", "contact"]
          ] as const
        ) checks.assertInvalid(yield* get(`/v1/messages?${query}`), "invalid_field", param)
        assert.deepStrictEqual(yield* listed(named(to)), [])
      }))

    it.effect("what a customer says in a group, and a call, is received as unsupported, and opens no window", () =>
      Effect.gen(function*() {
        const world = yield* World
        const from = anyone()
        yield* world.api.receive({ from, kind: "group", text: "STOP" })
        yield* world.api.receive({ from, kind: "call", id: "wacid.1" })
        yield* world.quiet
        const events = yield* world.toldOf(from, 2)
        assert.deepStrictEqual(events.map(({ data, type }) => [type, data.type]), [
          ["message.received", "unsupported"],
          ["message.received", "unsupported"]
        ])
        const conversation = yield* listed(named(from))
        assert.sameDeepMembers(
          conversation.map(({ unsupported }) => (unsupported as { readonly type: string }).type),
          ["text", "call"]
        )
        const refused = yield* send(world, text(from))
        assert.deepInclude(refused.body.error, { code: "forbidden", reason: "outside_service_window" })
      }))

    it.effect("the dashboard lists the conversation of a contact", () =>
      Effect.gen(function*() {
        const world = yield* World
        const to = anyone()
        const id = yield* accepted(world, template(to, "order_update", ["Ana", "7"]))
        yield* world.api.receive({ from: to, text: "Hello" })
        yield* world.quiet
        const number = yield* world.number
        const { body } = yield* call(
          `${world.url}/internal/contacts/${encodeURIComponent(`${number.id}:${to}`)}/messages`,
          { headers: world.session }
        )
        const [heard, sent] = body.data
        assert.deepInclude(heard, {
          direction: "inbound",
          status: "received",
          type: "text",
          content: { body: "Hello" }
        })
        assert.deepInclude(sent, { id, direction: "outbound", type: "template", context: null })
        assert.deepStrictEqual(sent.content.bodyParams, ["Ana", "7"])
      }))
  }
)
