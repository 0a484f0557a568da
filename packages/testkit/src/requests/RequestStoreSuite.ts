/**
 * Conformance of `RequestStore`: how requests to the API are recorded, listed, counted and deleted.
 */
import { assert } from "@effect/vitest"
import { type ApiRequest, Id, RequestStore, type Time } from "@wac/core"
import { Effect } from "effect"
import * as Fixture from "../Fixture.ts"
import * as Forgetting from "../Forgetting.ts"

const { day, hour, minute, world } = Fixture

/** The id of the `n`th request at a time. */
const idAt = (at: Time.Instant, n = 0) =>
  (Id.lowestAt("req", at).slice(0, -6) + String(n).padStart(6, "0")) as Id.RequestId

/** A request with a workspace's own key, by default accepted. */
const request = (
  own: Fixture.World,
  at: Time.Instant,
  fields: Partial<ApiRequest.ApiRequest> = {}
): ApiRequest.ApiRequest => ({
  id: idAt(at),
  workspaceId: own.workspace.id,
  caller: { apiKeyId: own.key.id, userId: null },
  method: "POST",
  route: "/v1/messages",
  status: 200,
  code: null,
  reason: null,
  at,
  durationMs: 12.5,
  fields: null,
  subject: null,
  ...fields
})

const optedOut = { status: 403, code: "forbidden", reason: "opted_out" } as const
const notFound = { status: 404, code: "not_found", reason: null } as const

const all = { limit: 100, after: null }

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("requests are listed newest first, as recorded, and for their own workspace only", () =>
    Effect.gen(function*() {
      const store = yield* RequestStore.RequestStore
      const own = yield* world()
      const other = yield* world()
      const requests = [
        request(own, own.start),
        request(own, own.start + 1, {
          ...optedOut,
          fields: [{ path: "to", type: "text", length: 12 }, { path: "type", type: "null", length: null }],
          subject: "msg_01K8ZQ50V4W6X8Y0Z1A3B5C7DE"
        }),
        request(own, own.start + 2, { ...notFound, method: "GET", route: "/v1/messages/:id", durationMs: 0 })
      ]
      yield* store.record([...requests, request(other, own.start + 3)])
      const { items, next } = yield* store.list(own.workspace.id, {}, all)
      assert.deepStrictEqual(items, requests.toReversed())
      assert.isNull(next)
      const first = yield* store.list(own.workspace.id, {}, { limit: 2, after: null })
      assert.deepStrictEqual(first, { items: requests.slice(1).reverse(), next: requests[1]!.id })
      const rest = yield* store.list(own.workspace.id, {}, { limit: 2, after: first.next })
      assert.deepStrictEqual(rest, { items: [requests[0]!], next: null })
    }))

  it.effect("a list can be limited to refused requests, to one reason, or to one request", () =>
    Effect.gen(function*() {
      const store = yield* RequestStore.RequestStore
      const own = yield* world()
      const [accepted, first, second, missing] = [
        request(own, own.start),
        request(own, own.start + 1, optedOut),
        request(own, own.start + 2, optedOut),
        request(own, own.start + 3, notFound)
      ]
      yield* store.record([accepted, first, second, missing])
      const list = (filter: RequestStore.RequestFilter, after: string | null = null) =>
        Effect.map(store.list(own.workspace.id, filter, { limit: 100, after }), ({ items }) => items)
      assert.deepStrictEqual(yield* list({ refused: true }), [missing, second, first])
      assert.deepStrictEqual(yield* list({ refused: false }), [missing, second, first, accepted])
      assert.deepStrictEqual(yield* list({ word: "opted_out" }), [second, first])
      assert.deepStrictEqual(yield* list({ word: "opted_out", refused: true }, second.id), [first])
      // an error without a reason is found by its code
      assert.deepStrictEqual(yield* list({ word: "not_found" }), [missing])
      assert.deepStrictEqual(yield* list({ word: "forbidden" }), [])
      assert.deepStrictEqual(yield* list({ id: first.id }), [first])
      assert.deepStrictEqual(yield* list({ id: first.id, refused: true, word: "opted_out" }), [first])
      assert.deepStrictEqual(yield* list({ id: accepted.id, refused: true }), [])
      assert.deepStrictEqual(yield* list({ id: first.id }, first.id), [])
      assert.deepStrictEqual(yield* list({ id: idAt(own.start + 9) }), [])
      const other = yield* world()
      assert.deepStrictEqual((yield* store.list(other.workspace.id, { id: first.id }, all)).items, [])
    }))

  it.effect("a list can be limited to a key, a route, a status and a range of time, all at once", () =>
    Effect.gen(function*() {
      const store = yield* RequestStore.RequestStore
      const own = yield* world()
      const key = yield* Fixture.issuedKey(own.workspace.id, own.start)
      const [first, second, third, last] = [
        request(own, own.start),
        request(own, own.start + minute, { ...optedOut, caller: { apiKeyId: key.id, userId: null } }),
        request(own, own.start + hour, { ...notFound, method: "GET", route: "/v1/messages/:id" }),
        request(own, own.start + day, { caller: { apiKeyId: key.id, userId: null } })
      ]
      yield* store.record([first, second, third, last])
      const list = (filter: RequestStore.RequestFilter, after: string | null = null, limit = 100) =>
        Effect.map(store.list(own.workspace.id, filter, { limit, after }), ({ items }) => items)
      assert.deepStrictEqual(yield* list({ apiKeyId: key.id }), [last, second])
      assert.deepStrictEqual(yield* list({ apiKeyId: key.id }, null, 1), [last])
      assert.deepStrictEqual(yield* list({ apiKeyId: key.id }, last.id), [second])
      assert.deepStrictEqual(yield* list({ route: "/v1/messages/:id" }), [third])
      assert.deepStrictEqual(yield* list({ status: 200 }), [last, first])
      assert.deepStrictEqual(yield* list({ since: second.at, until: last.at }), [third, second])
      assert.deepStrictEqual(yield* list({ since: second.at + 1, until: last.at }), [third])
      assert.deepStrictEqual(yield* list({ until: last.at }, third.id), [second, first])
      assert.deepStrictEqual(
        yield* list({ apiKeyId: key.id, status: 403, word: "opted_out", until: third.at }),
        [second]
      )
      assert.deepStrictEqual(yield* list({ apiKeyId: key.id, status: 403, since: third.at }), [])
      assert.deepStrictEqual(yield* list({ id: second.id, apiKeyId: own.key.id }), [])
    }))

  it.effect("requests of people are listed with the person, and are not counted", () =>
    Effect.gen(function*() {
      const store = yield* RequestStore.RequestStore
      const own = yield* world()
      const caller = { apiKeyId: null, userId: "usr_01K8ZQ50V4W6X8Y0Z1A3B5C7DE" as Id.UserId }
      const theirs = request(own, own.start + 1, { ...optedOut, caller })
      yield* store.record([request(own, own.start), theirs])
      assert.deepStrictEqual((yield* store.list(own.workspace.id, { refused: true }, all)).items, [theirs])
      assert.deepStrictEqual((yield* store.tallies(own.workspace.id, own.start)).map(({ code }) => code), [null])
    }))

  it.effect("requests are summed by key and outcome, from the start of an hour", () =>
    Effect.gen(function*() {
      const store = yield* RequestStore.RequestStore
      const own = yield* world()
      const other = yield* Fixture.issuedKey(own.workspace.id, own.start)
      yield* store.record([
        request(own, own.start - 1, { id: idAt(own.start - 1, 9) }),
        ...[0, 1, 2].map((n) => request(own, own.start + n, { id: idAt(own.start, n) })),
        request(own, own.start + hour, { ...optedOut, id: idAt(own.start, 3) }),
        request(own, own.start + minute, { ...optedOut, id: idAt(own.start, 4) }),
        request(own, own.start + minute, {
          ...optedOut,
          id: idAt(own.start, 5),
          caller: { apiKeyId: other.id, userId: null }
        }),
        request(own, own.start + 2 * minute, { ...notFound, id: idAt(own.start, 6) })
      ])
      const tallies = yield* store.tallies(own.workspace.id, own.start + minute)
      const words = tallies.map(({ apiKeyId, code, count, lastAt, reason }) => [
        apiKeyId === own.key.id ? "own" : "other",
        code,
        reason,
        count,
        lastAt - own.start
      ])
      assert.sameDeepMembers(words, [
        ["own", null, null, 3, 2],
        ["own", "forbidden", "opted_out", 2, hour],
        ["other", "forbidden", "opted_out", 1, minute],
        ["own", "not_found", null, 1, 2 * minute]
      ])
      assert.deepStrictEqual(yield* store.tallies(own.workspace.id, own.start + 2 * hour), [])
      assert.deepStrictEqual(yield* store.tallies((yield* world()).workspace.id, 0), [])
    }))

  it.effect("a request that is recorded again, alone or with others, is stored and counted once", () =>
    Effect.gen(function*() {
      const store = yield* RequestStore.RequestStore
      const own = yield* world()
      const one = request(own, own.start)
      const two = request(own, own.start + 1)
      yield* store.record([])
      yield* store.record([one])
      yield* store.record([one, two, two])
      assert.deepStrictEqual((yield* store.list(own.workspace.id, {}, all)).items, [two, one])
      assert.deepStrictEqual((yield* store.tallies(own.workspace.id, own.start)).map(({ count }) => count), [2])
    }))

  it.effect("concurrent recordings lose nothing of each other", () =>
    Effect.gen(function*() {
      const store = yield* RequestStore.RequestStore
      const [own, other] = [yield* world(), yield* world()]
      yield* Effect.forEach(
        Array.from({ length: 10 }, (_, i) => i),
        (i) => {
          const both = [own, other].flatMap((each, n) => [
            request(each, own.start, { id: idAt(own.start, 10 * i + n) }),
            request(each, own.start, { ...optedOut, id: idAt(own.start, 10 * i + n + 5) })
          ])
          return store.record(i % 2 === 0 ? both : both.toReversed())
        },
        { concurrency: "unbounded", discard: true }
      )
      for (const { workspace } of [own, other]) {
        const tallies = yield* store.tallies(workspace.id, own.start)
        assert.deepStrictEqual(tallies.map(({ count }) => count), [10, 10])
      }
    }))

  it.effect("requests recorded before a time are deleted, and later ones stay", () =>
    Effect.gen(function*() {
      const store = yield* RequestStore.RequestStore
      const own = yield* world()
      const [old, young] = [own.start - day, own.start]
      yield* store.record([
        ...Array.from({ length: 1500 }, (_, n) => request(own, old, { id: idAt(old, n) })),
        request(own, young)
      ])
      assert.isAtLeast(yield* Forgetting.all(store.forget(young)), 1500)
      assert.deepStrictEqual((yield* store.list(own.workspace.id, {}, all)).items.map(({ at }) => at), [young])
      assert.deepStrictEqual((yield* store.tallies(own.workspace.id, 0)).map(({ count }) => count), [1])
    }))
}
