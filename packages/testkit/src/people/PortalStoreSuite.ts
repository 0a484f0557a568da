/**
 * Conformance of `PortalStore`: links of hosts, and the sessions that they open.
 */
import { assert } from "@effect/vitest"
import { type Portal, type PortalStep, PortalStore } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as Forgetting from "../Forgetting.ts"
import * as People from "./PeopleFixture.ts"

const { hour, world } = Fixture

/** A command to open a link. */
const opening = ({ createdAt, tokenHash }: Portal.Portal, now = createdAt) =>
  Effect.map(People.tokenHash, (sessionHash): PortalStep.Open => ({
    now,
    tokenHash,
    sessionHash,
    expiresAt: now + 2 * hour
  }))

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a link becomes a session once, and the session has its own duration", () =>
    Effect.gen(function*() {
      const store = yield* PortalStore.PortalStore
      const own = yield* world()
      const made = yield* People.portalLink(own)
      assert.deepStrictEqual(yield* store.create(made), made)
      const command = yield* opening(made, own.start + hour - 1)
      const { expiresAt, now: createdAt, sessionHash } = command
      const session = { ...made, tokenHash: sessionHash, createdAt, expiresAt }
      assert.deepStrictEqual(yield* store.open(command), Option.some(session))
      assert.deepStrictEqual(yield* store.open(yield* opening(made)), Option.none())
      assert.deepStrictEqual(yield* store.find(sessionHash, expiresAt - 1), Option.some(session))
      assert.deepStrictEqual(yield* store.find(sessionHash, expiresAt), Option.none())
    }))

  it.effect("a link is not a session, a session is not a link, and an unknown token is neither", () =>
    Effect.gen(function*() {
      const store = yield* PortalStore.PortalStore
      const made = yield* People.portalLink(yield* world())
      yield* store.create(made)
      assert.deepStrictEqual(yield* store.find(made.tokenHash, made.createdAt), Option.none())
      yield* store.end(made.tokenHash)
      const command = yield* opening(made)
      assert.isTrue(Option.isSome(yield* store.open(command)))
      const again = { ...yield* opening(made), tokenHash: command.sessionHash }
      assert.deepStrictEqual(yield* store.open(again), Option.none())
      assert.deepStrictEqual(yield* store.open({ ...again, tokenHash: "f".repeat(64) }), Option.none())
      assert.deepStrictEqual(yield* store.find("f".repeat(64), made.createdAt), Option.none())
    }))

  it.effect("an expired link opens nothing", () =>
    Effect.gen(function*() {
      const store = yield* PortalStore.PortalStore
      const made = yield* People.portalLink(yield* world())
      yield* store.create(made)
      assert.deepStrictEqual(yield* store.open(yield* opening(made, made.expiresAt)), Option.none())
    }))

  it.effect("of racing requests to open a link, exactly one succeeds", () =>
    Effect.gen(function*() {
      const store = yield* PortalStore.PortalStore
      const made = yield* People.portalLink(yield* world())
      yield* store.create(made)
      const commands = yield* Effect.replicateEffect(opening(made), 10)
      const answers = yield* Effect.forEach(commands, store.open, { concurrency: "unbounded" })
      assert.strictEqual(answers.filter(Option.isSome).length, 1)
    }))

  it.effect("only ended links and sessions are deleted", () =>
    Effect.gen(function*() {
      const store = yield* PortalStore.PortalStore
      const made = yield* People.portalLink(yield* world())
      yield* store.create(made)
      yield* Forgetting.all(store.forget(made.expiresAt - 1))
      const command = yield* opening(made, made.expiresAt - 1)
      assert.isTrue(Option.isSome(yield* store.open(command)))
      assert.isAtLeast(yield* Forgetting.all(store.forget(command.expiresAt)), 1)
      assert.deepStrictEqual(yield* store.find(command.sessionHash, command.expiresAt), Option.none())
    }))

  it.effect("ending a session leaves the others", () =>
    Effect.gen(function*() {
      const store = yield* PortalStore.PortalStore
      const own = yield* world()
      const open = Effect.gen(function*() {
        const made = yield* People.portalLink(own)
        yield* store.create(made)
        const command = yield* opening(made)
        yield* store.open(command)
        return command.sessionHash
      })
      const [one, two] = [yield* open, yield* open]
      yield* store.end(one)
      yield* store.end(one)
      assert.deepStrictEqual(yield* store.find(one, own.start), Option.none())
      assert.isTrue(Option.isSome(yield* store.find(two, own.start)))
    }))
}
