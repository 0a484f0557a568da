/**
 * Conformance of `RequestValuesStore`: the switch that keeps the values of requests, and when they are deleted.
 */
import { assert } from "@effect/vitest"
import { ApiKeyStore, Id, RequestValuesStore, SealedSecretStore, type Time } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as Forgetting from "../Forgetting.ts"

const { day, hour, world } = Fixture

/** The id of the `n`th request of a world at a time. */
const idAt = ({ workspace }: Fixture.World, at: Time.Instant, n = 0) =>
  (Id.lowestAt("req", at).slice(0, -16) + workspace.id.slice(-12) + String(n).padStart(4, "0")) as Id.RequestId

const values = (
  own: Fixture.World,
  at: Time.Instant,
  fields: Partial<RequestValuesStore.SealedValues> & { readonly n?: number } = {}
): RequestValuesStore.SealedValues => {
  const { n = 0, ...given } = fields
  return { workspaceId: own.workspace.id, requestId: idAt(own, at, n), epoch: 0, sealed: Fixture.sealed(1), ...given }
}

/** The switch as it comes with a key. */
const ofKey = ({ key }: Fixture.World) =>
  Effect.map(
    ApiKeyStore.ApiKeyStore.use((store) => store.findByTokenHash(key.tokenHash)),
    (found) => Option.getOrThrow(found).valuesSwitch
  )

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("the switch is off at first, ends a day after it was turned on, and is on for its own workspace only", () =>
    Effect.gen(function*() {
      const store = yield* RequestValuesStore.RequestValuesStore
      const [own, other] = [yield* world(), yield* world()]
      assert.isNull(yield* store.until(own.workspace.id, own.start))
      assert.isNull(yield* ofKey(own))
      assert.strictEqual(yield* store.switchOn(own.workspace.id, own.start), own.start + day)
      assert.strictEqual(yield* store.until(own.workspace.id, own.start + day - 1), own.start + day)
      assert.isNull(yield* store.until(own.workspace.id, own.start + day))
      assert.deepStrictEqual(yield* ofKey(own), { until: own.start + day, epoch: 0 })
      assert.isNull(yield* store.until(other.workspace.id, own.start))
      assert.isNull(yield* ofKey(other))
      // turned on again, it lasts a day from then on
      assert.strictEqual(yield* store.switchOn(own.workspace.id, own.start + hour), own.start + hour + day)
      assert.strictEqual(yield* store.until(own.workspace.id, own.start + day), own.start + hour + day)
    }))

  it.effect("values are kept while the switch is on, once, and found in their own workspace only", () =>
    Effect.gen(function*() {
      const store = yield* RequestValuesStore.RequestValuesStore
      const [own, other] = [yield* world(), yield* world()]
      const one = values(own, own.start, { sealed: Fixture.sealed(7) })
      const theirs = values(other, own.start)
      yield* store.keep([one], own.start)
      assert.deepStrictEqual(yield* store.find(own.workspace.id, one.requestId), Option.none())
      yield* store.switchOn(own.workspace.id, own.start)
      yield* store.keep([], own.start)
      yield* store.keep([one, theirs], own.start + 1)
      yield* store.keep([{ ...one, sealed: Fixture.sealed(8) }], own.start + 2)
      assert.deepStrictEqual(yield* store.find(own.workspace.id, one.requestId), Option.some(one.sealed))
      assert.deepStrictEqual(yield* store.find(other.workspace.id, one.requestId), Option.none())
      assert.deepStrictEqual(yield* store.find(other.workspace.id, theirs.requestId), Option.none())
      assert.deepStrictEqual(yield* store.find(own.workspace.id, idAt(own, own.start, 9)), Option.none())
      // once it has ended by itself, what was kept stays
      const late = values(own, own.start + day)
      yield* store.keep([late], own.start + day)
      assert.deepStrictEqual(yield* store.find(own.workspace.id, late.requestId), Option.none())
      assert.deepStrictEqual(yield* store.find(own.workspace.id, one.requestId), Option.some(one.sealed))
    }))

  it.effect("switched off, nothing is found any more, nor kept of a request that came before", () =>
    Effect.gen(function*() {
      const store = yield* RequestValuesStore.RequestValuesStore
      const [own, other] = [yield* world(), yield* world()]
      yield* store.switchOff(own.workspace.id)
      yield* store.switchOn(own.workspace.id, own.start)
      yield* store.switchOn(other.workspace.id, own.start)
      const before = (yield* ofKey(own))!
      const all = Array.from({ length: 1200 }, (_, n) => values(own, own.start, { n, epoch: before.epoch }))
      const theirs = values(other, own.start)
      yield* store.keep([...all, theirs], own.start)
      yield* store.switchOff(own.workspace.id)
      assert.isNull(yield* store.until(own.workspace.id, own.start))
      assert.isNull(yield* ofKey(own))
      assert.deepStrictEqual(yield* store.find(own.workspace.id, all[0]!.requestId), Option.none())
      assert.strictEqual(yield* Forgetting.all(store.removeOutdated(own.workspace.id)), all.length)
      // a process that has not heard of it, before and after the switch is on again
      const late = values(own, own.start + 1, { epoch: before.epoch })
      yield* store.keep([late], own.start + 1)
      yield* store.switchOn(own.workspace.id, own.start + 2)
      yield* store.keep([late], own.start + 3)
      assert.deepStrictEqual(yield* store.find(own.workspace.id, late.requestId), Option.none())
      const { epoch } = (yield* ofKey(own))!
      const next = values(own, own.start + 4, { epoch })
      yield* store.keep([next], own.start + 4)
      assert.deepStrictEqual(yield* store.find(own.workspace.id, next.requestId), Option.some(next.sealed))
      assert.strictEqual(yield* Forgetting.all(store.removeOutdated(own.workspace.id)), 0)
      assert.deepStrictEqual(yield* store.find(other.workspace.id, theirs.requestId), Option.some(theirs.sealed))
    }))

  it.effect("a new epoch takes what was kept before, and leaves the switch on", () =>
    Effect.gen(function*() {
      const store = yield* RequestValuesStore.RequestValuesStore
      const own = yield* world()
      yield* store.outdate(own.workspace.id)
      assert.isNull(yield* ofKey(own))
      yield* store.switchOn(own.workspace.id, own.start)
      const { epoch } = (yield* ofKey(own))!
      const one = values(own, own.start, { epoch })
      yield* store.keep([one], own.start)
      yield* store.outdate(own.workspace.id)
      assert.strictEqual(yield* store.until(own.workspace.id, own.start), own.start + day)
      assert.deepStrictEqual(yield* ofKey(own), { until: own.start + day, epoch: epoch + 1 })
      yield* store.keep([values(own, own.start, { epoch, n: 1 })], own.start)
      assert.deepStrictEqual(yield* store.find(own.workspace.id, one.requestId), Option.none())
      assert.deepStrictEqual(yield* store.find(own.workspace.id, idAt(own, own.start, 1)), Option.none())
      assert.strictEqual(yield* Forgetting.all(store.removeOutdated(own.workspace.id)), 1)
    }))

  it.effect("whatever runs at the same time, nothing is left of before a switch-off once it is removed", () =>
    Effect.gen(function*() {
      const store = yield* RequestValuesStore.RequestValuesStore
      const own = yield* world()
      yield* store.switchOn(own.workspace.id, own.start)
      const { epoch } = (yield* ofKey(own))!
      const all = Array.from({ length: 40 }, (_, n) => values(own, own.start, { n, epoch }))
      yield* Effect.all([
        Effect.forEach(all, (one) => store.keep([one], own.start), { concurrency: 8, discard: true }),
        store.switchOff(own.workspace.id)
      ], { concurrency: "unbounded" })
      yield* Forgetting.all(store.removeOutdated(own.workspace.id))
      yield* store.switchOn(own.workspace.id, own.start)
      for (const { requestId } of all) {
        assert.deepStrictEqual(yield* store.find(own.workspace.id, requestId), Option.none())
      }
      assert.strictEqual(yield* Forgetting.all(store.removeOutdated(own.workspace.id)), 0)
    }))

  it.effect("values of requests before a time are deleted with outdated ones, and later ones stay", () =>
    Effect.gen(function*() {
      const store = yield* RequestValuesStore.RequestValuesStore
      const [own, other] = [yield* world(), yield* world()]
      yield* store.switchOn(own.workspace.id, own.start)
      yield* store.switchOn(other.workspace.id, own.start)
      const young = values(own, own.start)
      const outdated = values(other, own.start)
      yield* store.keep([
        ...Array.from({ length: 1500 }, (_, n) => values(own, own.start - day, { n })),
        young,
        outdated
      ], own.start)
      yield* store.outdate(other.workspace.id)
      assert.isAtLeast(yield* Forgetting.all(store.forget(own.start)), 1501)
      assert.deepStrictEqual(yield* store.find(own.workspace.id, young.requestId), Option.some(young.sealed))
      assert.deepStrictEqual(
        yield* store.find(own.workspace.id, idAt(own, own.start - day)),
        Option.none()
      )
      assert.strictEqual(yield* Forgetting.all(store.removeOutdated(other.workspace.id)), 0)
    }))

  it.effect("values are sealed again under another master key, and nothing else of them changes", () =>
    Effect.gen(function*() {
      const store = yield* RequestValuesStore.RequestValuesStore
      const secrets = yield* SealedSecretStore.SealedSecretStore
      const own = yield* world()
      yield* store.switchOn(own.workspace.id, own.start)
      const [keyId, nextId] = [`key-${yield* Fixture.word}`, `key-${yield* Fixture.word}`]
      const all = [1, 2, 3].map((n) => values(own, own.start, { n, sealed: { ...Fixture.sealed(n), keyId } }))
      yield* store.keep(all, own.start)
      const rows = all.map(({ requestId, sealed }) => ({ row: requestId, sealed }))
      assert.deepStrictEqual(yield* secrets.under(keyId, { after: null, limit: 10 }), rows)
      assert.deepStrictEqual(yield* secrets.under(keyId, { after: rows[0]!.row, limit: 1 }), [rows[1]!])
      const after = { ...Fixture.sealed(9), keyId: nextId }
      const [{ row, sealed: before }] = rows as [typeof rows[0]]
      assert.strictEqual(yield* secrets.rewrap([{ row, before, after }]), 1)
      assert.deepStrictEqual(yield* store.find(own.workspace.id, row), Option.some(after))
      assert.deepStrictEqual(yield* secrets.under(keyId, { after: null, limit: 10 }), rows.slice(1))
      assert.strictEqual(yield* secrets.rewrap([{ row, before, after }]), 0)
    }))
}
