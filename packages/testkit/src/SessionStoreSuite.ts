/**
 * Conformance of `SessionStore`.
 */
import { assert } from "@effect/vitest"
import { SessionStore } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "./Fixture.ts"
import { type Founded, founder } from "./WorkspaceStoreSuite.ts"

const { day, hour } = Fixture

const start = 1_767_614_400_000

/** A session of the one member there is, made at `start`: idle for 12 hours, 7 days in all. */
const created = Effect.gen(function*() {
  const { owner } = yield* founder
  const store = yield* SessionStore.SessionStore
  const session: SessionStore.StoredSession = {
    tokenHash: (yield* Fixture.word).replaceAll("-", "").repeat(2),
    userId: owner.userId,
    createdAt: start,
    idleUntil: start + 12 * hour,
    absoluteUntil: start + 7 * day
  }
  yield* store.create(session)
  return session
})

/** Registers the tests. They need a member, whom only {@link Founded} makes. */
export const tests = (it: Fixture.FoundedIt<Founded>): void => {
  it.effect("a session is found by its token's hash, and no other", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const one = yield* created
      const two = yield* created
      assert.deepStrictEqual(yield* store.use(one.tokenHash, start, one.idleUntil), Option.some(one))
      assert.deepStrictEqual(yield* store.use(two.tokenHash, start, two.idleUntil), Option.some(two))
      assert.deepStrictEqual(yield* store.use("f".repeat(64), start, start + hour), Option.none())
    }))

  it.effect("use moves the idle end on, never back", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const session = yield* created
      const { tokenHash } = session
      const moved = { ...session, idleUntil: start + 13 * hour }
      assert.deepStrictEqual(yield* store.use(tokenHash, start + hour, start + 13 * hour), Option.some(moved))
      assert.deepStrictEqual(yield* store.use(tokenHash, start + 2 * hour, start + 5 * hour), Option.some(moved))
      const late = start + 13 * hour - 1
      assert.deepStrictEqual(yield* store.use(tokenHash, late, start + hour), Option.some(moved))
    }))

  it.effect("a session ends at its idle end, and using it then does not revive it", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const one = yield* created
      const end = one.idleUntil
      assert.isTrue(Option.isSome(yield* store.use(one.tokenHash, end - 1, end)))
      assert.deepStrictEqual(yield* store.use(one.tokenHash, end, end + 12 * hour), Option.none())
      assert.deepStrictEqual(yield* store.use(one.tokenHash, end + 1, end + 13 * hour), Option.none())
    }))

  it.effect("the idle end never moves beyond the absolute end", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const session = yield* created
      const { absoluteUntil, tokenHash } = session
      for (let at = start; at < absoluteUntil; at += 12 * hour - 1) {
        const used = yield* store.use(tokenHash, at, at + 12 * hour)
        const idleUntil = Math.min(at + 12 * hour, absoluteUntil)
        assert.deepStrictEqual(used, Option.some({ ...session, idleUntil }))
      }
      assert.isTrue(Option.isSome(yield* store.use(tokenHash, absoluteUntil - 1, absoluteUntil + hour)))
      assert.deepStrictEqual(yield* store.use(tokenHash, absoluteUntil, absoluteUntil + hour), Option.none())
    }))

  it.effect("remove ends one session at once, and passes unknown ones over", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const one = yield* created
      const two = yield* created
      yield* store.remove(one.tokenHash)
      yield* store.remove(one.tokenHash)
      yield* store.remove("e".repeat(64))
      assert.deepStrictEqual(yield* store.use(one.tokenHash, start, one.idleUntil), Option.none())
      assert.deepStrictEqual(yield* store.use(two.tokenHash, start, two.idleUntil), Option.some(two))
    }))

  it.effect("racing uses leave the furthest idle end", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const session = yield* created
      yield* Effect.forEach(
        Array.from({ length: 20 }, (_, i) => (i * 7) % 20),
        (n) => store.use(session.tokenHash, start + hour, start + 13 * hour + n),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        yield* store.use(session.tokenHash, start + hour, start),
        Option.some({ ...session, idleUntil: start + 13 * hour + 19 })
      )
    }))
}
