/**
 * Messages and contacts of a workspace, as the dashboard shows them.
 */
import { assert, describe, it } from "@effect/vitest"
import { type Contact, Inbound } from "@wac/core"
import { SandboxProvider } from "@wac/sandbox"
import { Context, Effect } from "effect"
import * as checks from "../checks.ts"
import { call, hello, ready, send } from "../harness.ts"

type Server = Pick<checks.Ready, "session" | "url">

const get = ({ session, url }: Server, path: string) => call(`${url}/internal/${path}`, { headers: session })

const idsOf = (data: ReadonlyArray<{ readonly id: string }>) => data.map(({ id }) => id)

describe.concurrent("messages", () => {
  it.live("messages are listed newest first, by page and filter, and each is shown with its times", () =>
    Effect.gen(function*() {
      const server = yield* ready({ environment: checks.unlimited })
      assert.deepStrictEqual((yield* get(server, "messages")).body, { data: [], hasMore: false, nextCursor: null })
      // stays sent
      const first = yield* send(server, { ...hello("+15005550003"), client_reference: "order-1042" })
      const ids = [first.body.message_id]
      for (const to of ["+15005550003", "+15551234567"]) ids.unshift((yield* send(server, hello(to))).body.message_id)
      yield* send(server, hello("+15005550001"))
      yield* checks.untilStatus(server, ids[0], "read")

      const all = yield* get(server, "messages")
      assert.strictEqual(all.status, 200, all.text)
      const [failed, ...others] = all.body.data
      assert.deepStrictEqual(idsOf(others), ids)
      const listed = {
        id: ids[2],
        status: "sent",
        providerMessageId: first.body.provider_message_id,
        apiKeyId: first.body.api_key_id,
        to: "+15005550003",
        from: SandboxProvider.firstNumber.phoneNumber,
        type: "template",
        createdAt: others[2].createdAt,
        sendAt: null
      }
      assert.match(listed.createdAt, checks.timeShape)
      assert.deepStrictEqual(others[2], listed)

      const one = yield* get(server, "messages?limit=3")
      assert.isTrue(one.body.hasMore)
      const rest = yield* get(server, `messages?limit=3&cursor=${one.body.nextCursor}`)
      assert.deepStrictEqual([...one.body.data, ...rest.body.data], all.body.data)
      assert.deepStrictEqual([rest.body.hasMore, rest.body.nextCursor], [false, null])

      const found = (query: string) => Effect.map(get(server, `messages?${query}`), ({ body }) => idsOf(body.data))
      assert.deepStrictEqual(yield* found("status=failed"), [failed.id])
      assert.deepStrictEqual(yield* found("status=sent"), ids.slice(1))
      assert.deepStrictEqual(yield* found("to=%2B15551234567"), [ids[0]])
      assert.deepStrictEqual(yield* found("status=read&to=%2B15005550003"), [])
      for (
        const [query, param] of [["status=lost", "status"], ["to=15551234567", "to"], ["limit=0", "limit"]] as const
      ) {
        checks.assertInvalid(yield* get(server, `messages?${query}`), "invalid_field", param)
      }
      checks.assertInvalid(yield* get(server, "messages?form=x"), "unknown_field", "form")

      const { body: shown } = yield* get(server, `messages/${ids[2]}`)
      assert.match(shown.sentAt, checks.timeShape)
      assert.deepStrictEqual(shown, {
        ...listed,
        sentAt: shown.sentAt,
        deliveredAt: null,
        readAt: null,
        playedAt: null,
        failedAt: null,
        error: null,
        clientReference: "order-1042",
        content: { name: "hello_world", language: "en_US" },
        context: null,
        pricing: null,
        campaignId: null
      })
      const { body: why } = yield* get(server, `messages/${failed.id}`)
      assert.include(why.error, { code: "invalid_body", reason: "undeliverable" })
      assert.match(why.failedAt, checks.timeShape)
      assert.isNull(why.clientReference)
      checks.assertError(yield* get(server, `messages/msg_${checks.nobody}`), 404, { code: "not_found" })
    }).pipe(Effect.scoped))
})

describe.concurrent("messages for keys", () => {
  it.live("the list for keys shows messages newest first, equal to single reads, by page and filter", () =>
    Effect.gen(function*() {
      const server = yield* ready({ environment: checks.unlimited })
      const get = (path: string) =>
        call(`${server.url}/v1/${path}`, { headers: { authorization: `Bearer ${server.key.apiKey}` } })
      assert.deepStrictEqual((yield* get("messages")).body, { data: [], has_more: false, next_cursor: null })
      const sent: Array<string> = []
      for (const reference of ["order-1", "order-2", "order-1"]) {
        sent.unshift(
          (yield* send(server, { ...hello("+15005550003"), client_reference: reference })).body.message_id
        )
      }
      yield* send(server, hello("+15005550001"))
      const { body: all } = yield* get("messages")
      const [failed] = all.data
      const ids = (data: ReadonlyArray<{ readonly message_id: string }>) => data.map(({ message_id }) => message_id)
      assert.deepStrictEqual(ids(all.data), [failed.message_id, ...sent])
      for (const message of all.data) {
        assert.deepStrictEqual(message, (yield* get(`messages/${message.message_id}`)).body)
      }
      assert.deepStrictEqual([failed.pricing, failed.played_at], [null, null])
      const one = (yield* get("messages?limit=3")).body
      const rest = (yield* get(`messages?limit=3&cursor=${one.next_cursor}`)).body
      assert.deepStrictEqual([...one.data, ...rest.data], all.data)
      assert.deepStrictEqual([one.has_more, rest.has_more, rest.next_cursor], [true, false, null])

      const found = (query: string) => Effect.map(get(`messages?${query}`), ({ body }) => ids(body.data))
      assert.deepStrictEqual(yield* found("client_reference=order-1"), [sent[0], sent[2]])
      assert.deepStrictEqual(yield* found("client_reference=order"), [])
      const first = (yield* get("messages?client_reference=order-1&limit=1")).body
      assert.deepStrictEqual(yield* found(`client_reference=order-1&cursor=${first.next_cursor}`), [sent[2]])
      assert.deepStrictEqual(yield* found("status=failed"), [failed.message_id])
      assert.deepStrictEqual(yield* found("to=%2B15005550003"), sent)
      const since = all.data[1].created_at
      const isSince = all.data.filter((message: { created_at: string }) => message.created_at >= since)
      assert.deepStrictEqual(yield* found(`since=${since}`), ids(isSince))
      assert.deepStrictEqual([...(yield* found(`since=${since}`)), ...(yield* found(`until=${since}`))], ids(all.data))
      assert.deepStrictEqual(yield* found("until=2020-01-01"), [])
      const wrong = [
        ["status=lost", "status"],
        ["to=1", "to"],
        ["since=soon", "since"],
        ["until=soon", "until"],
        ["client_reference=", "client_reference"],
        ["limit=101", "limit"],
        ["cursor=x", "cursor"]
      ] as const
      for (const [query, param] of wrong) {
        checks.assertInvalid(yield* get(`messages?${query}`), "invalid_field", param)
      }
      checks.assertInvalid(yield* get("messages?reference=x"), "unknown_field", "reference")
    }).pipe(Effect.scoped))
})

describe.concurrent("contacts", () => {
  it.live("contacts are listed by page and shown one by one, with their service windows", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      assert.deepStrictEqual((yield* get(server, "contacts")).body, { data: [], hasMore: false, nextCursor: null })
      const [number] = (yield* get(server, "phone-numbers")).body.data
      const hour = 3_600_000
      const now = checks.now()
      const write = (customer: Contact.Customer, at: number, text = "Hi") =>
        Context.get(server.services, Inbound.Inbound).receive([{
          _tag: "Message",
          message: {
            providerNumberId: number.providerNumberId,
            providerMessageId: crypto.randomUUID(),
            customer,
            at,
            type: "text",
            content: { body: text },
            context: null,
            preference: text === "STOP" ? "opt_out" : undefined
          }
        }])
      const strange = "US.a/b c:%2B?é"
      yield* write({ phone: "+15551234567", userId: "US.1" }, now - hour)
      yield* write({ phone: "+15551234568", userId: "US.2" }, now - 25 * hour, "STOP")
      yield* write({ phone: null, userId: strange }, now - 2 * hour)
      const iso = (at: number) => new Date(at).toISOString()
      const contact = (key: string, at: number, fields: object) => ({
        id: `${number.id}:${key}`,
        phoneNumberId: number.id,
        phone: key,
        lastInboundAt: iso(at),
        windowOpenUntil: iso(at + 24 * hour),
        optedOut: false,
        preferenceAt: null,
        ...fields
      })
      const expected = [
        contact("+15551234567", now - hour, { userId: "US.1" }),
        contact("+15551234568", now - 25 * hour, {
          userId: "US.2",
          windowOpenUntil: null,
          optedOut: true,
          preferenceAt: iso(now - 25 * hour)
        }),
        contact(strange, now - 2 * hour, { phone: null, userId: strange })
      ]
      const all = yield* get(server, "contacts")
      assert.deepStrictEqual(all.body, { data: expected, hasMore: false, nextCursor: null })
      let cursor = ""
      for (const [i, one] of expected.entries()) {
        const { body } = yield* get(server, `contacts?limit=1&phoneNumberId=${number.id}${cursor}`)
        assert.deepStrictEqual([body.data, body.hasMore], [[one], i < 2])
        cursor = `&cursor=${body.nextCursor}`
        assert.deepStrictEqual((yield* get(server, `contacts/${encodeURIComponent(one.id)}`)).body, one)
      }
      // nor need the usual ones be escaped
      assert.deepStrictEqual((yield* get(server, `contacts/${number.id}:+15551234567`)).body, expected[0])

      const nobody = yield* get(server, `contacts?phoneNumberId=pn_${checks.nobody}`)
      assert.deepStrictEqual(nobody.body.data, [])
      checks.assertInvalid(yield* get(server, "contacts?limit=101"), "invalid_field", "limit")
      checks.assertInvalid(yield* get(server, "contacts?phoneNumberId=x"), "invalid_field", "phoneNumberId")
      checks.assertInvalid(yield* get(server, "contacts?cursor=x"), "invalid_field", "cursor")
      checks.assertInvalid(yield* get(server, "contacts?phone=x"), "unknown_field", "phone")
      for (const id of [number.id, `${number.id}:`, `${number.id}:+15551234569`, "+15551234567", "%00", "%E0"]) {
        checks.assertError(yield* get(server, `contacts/${id}`), 404, { code: "not_found" })
      }
    }))
})
