/**
 * Conformance of `AuditStore`: how entries are recorded, listed and deleted.
 */
import { assert } from "@effect/vitest"
import { type AuditEntry, AuditStore, Id } from "@wac/core"
import { Effect } from "effect"
import * as Fixture from "../Fixture.ts"
import * as Forgetting from "../Forgetting.ts"

const { day, world } = Fixture

const firstPage = { limit: 100, after: null }

const ada = { userId: Id.UserId.make("usr_01ARZ3NDEKTSV4RRFFQ69G5FAV"), email: "“ada”@example.com" }

/** An entry of a person's change. */
export const entry = Effect.fnUntraced(function*(own: Fixture.World, fields: Partial<AuditEntry.AuditEntry> = {}) {
  const made: AuditEntry.AuditEntry = {
    id: yield* Fixture.id("aud"),
    workspaceId: own.workspace.id,
    action: "member.invite",
    target: yield* Fixture.id("inv"),
    by: ada,
    at: own.start,
    address: "203.0.113.7",
    requestId: yield* Fixture.id("req"),
    detail: { role: "admin", email: "ben@example.com" },
    ...fields
  }
  return made
})

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("entries are listed newest first, as recorded, and for their own workspace only", () =>
    Effect.gen(function*() {
      const store = yield* AuditStore.AuditStore
      const [own, other] = [yield* world(), yield* world()]
      const one = yield* entry(own)
      const byOperator = yield* entry(own, { by: null, target: null, address: null, requestId: null, detail: null })
      yield* store.record([one, yield* entry(other)])
      const byProgram = yield* entry(own, { by: { apiKeyId: yield* Fixture.id("key"), name: "orders" } })
      yield* store.record([byOperator, byProgram])
      yield* store.record([])
      // repeated
      yield* store.record([one])
      assert.deepStrictEqual(yield* store.list(own.workspace.id, {}, firstPage), {
        items: [byProgram, byOperator, one],
        next: null
      })
      const first = yield* store.list(own.workspace.id, {}, { limit: 1, after: null })
      assert.deepStrictEqual(first, { items: [byProgram], next: byProgram.id })
      const rest = yield* store.list(own.workspace.id, {}, { limit: 1, after: first.next })
      assert.deepStrictEqual(rest, { items: [byOperator], next: byOperator.id })
    }))

  it.effect("a list can be limited to one person's changes, or to changes of one target", () =>
    Effect.gen(function*() {
      const store = yield* AuditStore.AuditStore
      const own = yield* world()
      const one = yield* entry(own)
      const sameTarget = yield* entry(own, {
        target: one.target,
        by: { userId: yield* Fixture.id("usr"), email: "ben@example.com" }
      })
      const samePerson = yield* entry(own)
      yield* store.record([one, sameTarget, samePerson])
      const list = (filter: AuditStore.AuditFilter) =>
        Effect.map(store.list(own.workspace.id, filter, firstPage), ({ items }) => items)
      assert.deepStrictEqual(yield* list({ userId: ada.userId }), [samePerson, one])
      assert.deepStrictEqual(yield* list({ target: one.target! }), [sameTarget, one])
      assert.deepStrictEqual(yield* list({ target: one.target!, userId: ada.userId }), [one])
      assert.deepStrictEqual(yield* list({ userId: "nobody" }), [])
    }))

  it.effect("entries recorded before a time are deleted, and later ones stay", () =>
    Effect.gen(function*() {
      const store = yield* AuditStore.AuditStore
      const own = yield* world()
      const old = yield* entry(own, { id: Fixture.idAt("aud", own.start - day) })
      const recent = yield* entry(own, { id: Fixture.idAt("aud", own.start) })
      yield* store.record([old, recent])
      yield* Forgetting.all(store.forget(own.start))
      assert.deepStrictEqual((yield* store.list(own.workspace.id, {}, firstPage)).items, [recent])
    }))
}
