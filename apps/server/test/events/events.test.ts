/**
 * The two listings of events, and that all who learn of an event learn the same.
 */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { assertError, assertInvalid, nobody, type Ready } from "../checks.ts"
import { type Answer, call, hello, ready, receiver, send, setWebhook } from "../harness.ts"

const listed = Effect.fnUntraced(function*({ key, url }: Ready, query = "") {
  return yield* call(`${url}/v1/events${query}`, { headers: { authorization: `Bearer ${key.apiKey}` } })
})

const seen = Effect.fnUntraced(function*({ session, url }: Ready, path = "") {
  return yield* call(`${url}/internal/events${path}`, { headers: session })
})

/** A server with one message's life told to a receiver. */
const told = Effect.gen(function*() {
  const server = yield* ready()
  const customer = yield* receiver
  yield* setWebhook(server, { url: customer.url })
  yield* send(server, hello())
  const received = yield* customer.take(3)
  return { server, received }
})

describe.concurrent("events", () => {
  it.live("an event has the same id and body at the receiver, in the API and in the dashboard", () =>
    Effect.gen(function*() {
      const { received, server } = yield* told
      const events = received.map(({ event }) => event)
      const { next_cursor, ...page } = (yield* listed(server)).body
      assert.isString(next_cursor)
      assert.deepStrictEqual(page, { data: events, has_more: false })
      const newest = { ...page, data: events.toReversed(), next_cursor: null }
      assert.deepStrictEqual((yield* seen(server)).body, newest)
      assert.deepStrictEqual((yield* listed(server, "?order=newest")).body, newest)
      for (const event of events) assert.deepStrictEqual((yield* seen(server, `/${event.id}`)).body, event)
      // and byte for byte, in combined form
      const text = (yield* listed(server)).text
      for (const { body } of received) assert.include(text, new TextDecoder().decode(body))
    }))

  it.live("events are listed oldest first for programs and newest first for people, page by page", () =>
    Effect.gen(function*() {
      const { received, server } = yield* told
      const ids = received.map(({ event }) => event.id)
      const walk = Effect.fnUntraced(function*(page: (query: string) => Effect.Effect<Answer>) {
        const found: Array<string> = []
        let query = "?limit=2"
        for (let i = 0; i < 2; i++) {
          const { body } = yield* page(query)
          found.push(...(body["data"] as ReadonlyArray<{ id: string }>).map(({ id }) => id))
          assert.strictEqual(body["has_more"], i === 0)
          query = `?limit=2&cursor=${body["next_cursor"]}`
        }
        return found
      })
      assert.deepStrictEqual(yield* walk((query) => listed(server, query)), ids)
      assert.deepStrictEqual(yield* walk((query) => seen(server, query)), ids.toReversed())
    }))

  it.live("a client that follows the last page's cursor gets each event once, starting from an empty list", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      let query = ""
      const follow = Effect.gen(function*() {
        const { body } = yield* listed(server, query)
        query = `?cursor=${body["next_cursor"]}`
        assert.isFalse(body["has_more"])
        return (body["data"] as ReadonlyArray<{ type: string; data: { to: string } }>).map(({ data, type }) =>
          `${type} ${data.to}`
        )
      })
      assert.deepStrictEqual(yield* follow, [])
      assert.deepStrictEqual(yield* follow, [])
      yield* send(server, hello("+15005550003"))
      assert.deepStrictEqual(yield* follow, ["message.sent +15005550003"])
      assert.deepStrictEqual(yield* follow, [])
      yield* send(server, hello("+15005550001"))
      yield* send(server, hello("+15005550003"))
      assert.deepStrictEqual(yield* follow, ["message.failed +15005550001", "message.sent +15005550003"])
      assert.deepStrictEqual(yield* follow, [])
    }).pipe(Effect.scoped))

  it.live("the cursor of an empty page continues from the page's time, not from the oldest event", () =>
    Effect.gen(function*() {
      const { received, server } = yield* told
      // by the server's clock, which may differ from this process's
      const newest = DateTime.makeUnsafe(received.at(-1)!.event.created_at)
      const since = DateTime.formatIso(DateTime.add(newest, { milliseconds: 1 }))
      const empty = (yield* listed(server, `?since=${since}`)).body
      assert.deepStrictEqual([empty.data, empty.has_more], [[], false])
      assert.deepStrictEqual((yield* listed(server, `?cursor=${empty.next_cursor}`)).body, empty)
      yield* send(server, hello("+15005550003"))
      const { body } = yield* listed(server, `?cursor=${empty.next_cursor}`)
      assert.deepStrictEqual(body.data.map(({ type }: { readonly type: string }) => type), ["message.sent"])
    }).pipe(Effect.scoped))

  it.live("events can be filtered by type and by time", () =>
    Effect.gen(function*() {
      const { received, server } = yield* told
      const typesOf = ({ body }: Answer) => body.data.map(({ type }: { readonly type: string }) => type)
      const [, second, third] = received.map(({ event }) => event)
      assert.deepStrictEqual(typesOf(yield* listed(server, "?type=message.read")), ["message.read"])
      assert.deepStrictEqual(typesOf(yield* seen(server, "?type=message.failed")), [])
      assert.deepStrictEqual(typesOf(yield* listed(server, `?since=${second.created_at}`)), [second.type, third.type])
      assert.deepStrictEqual(typesOf(yield* seen(server, `?since=${third.created_at}`)), [third.type])
      assert.deepStrictEqual(typesOf(yield* listed(server, "?since=2999-01-01T00:00:00.000Z")), [])
    }))

  it.live("an invalid filter of events is refused by its name", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      for (const list of [listed, seen]) {
        assertInvalid(yield* list(server, "?type=message.lost"), "invalid_field", "type")
        for (const since of ["yesterday", "5", "2026", "Nov 21 2026", "2026-02-30T00:00:00Z", "2026-01-01T25:00:00Z"]) {
          assertInvalid(yield* list(server, `?since=${since}`), "invalid_field", "since")
        }
        assertInvalid(yield* list(server, "?limit=0"), "invalid_field", "limit")
        assertInvalid(yield* list(server, "?cursor=evt_1"), "invalid_field", "cursor")
      }
      assertInvalid(yield* listed(server, "?until=2026-01-01T00:00:00.000Z"), "unknown_field", "until")
      assertInvalid(yield* seen(server, "?until=yesterday"), "invalid_field", "until")
      assertError(yield* seen(server, `/evt_${nobody}`), 404, { code: "not_found" })
    }))
})
