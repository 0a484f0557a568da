/**
 * Conformance of `FactorStore`: the second factor by an authenticator app, recovery codes and challenges.
 */
import { assert } from "@effect/vitest"
import { FactorStore, type Id, SealedSecretStore } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as People from "./PeopleFixture.ts"

const { minute, world } = Fixture

const secret = { ...Fixture.sealed(1), keyId: "key" }

const recoveryCodes = ["one", "two", "three"]

/** A person, without a factor. */
const person = Effect.gen(function*() {
  const own = yield* world()
  const { userId } = yield* People.joined(own)
  return { userId, start: own.start }
})

const started = (userId: Id.UserId, at: number, sealed = secret) =>
  FactorStore.FactorStore.use((store) => store.start({ userId, secret: sealed, createdAt: at }))

const confirmed = (userId: Id.UserId, now: number, sealed = secret) =>
  FactorStore.FactorStore.use((store) =>
    Effect.map(store.confirm({ userId, secret: sealed, step: 10, recoveryCodes, now }), Option.isSome)
  )

/** A person whose factor is on, with step 10 as the last one that was used. */
const enrolled = Effect.gen(function*() {
  const made = yield* person
  assert.isTrue(yield* started(made.userId, made.start))
  assert.isTrue(yield* confirmed(made.userId, made.start + minute))
  return made
})

/** A challenge of five minutes, not stored. */
const challengeOf = ({ start, userId }: Effect.Success<typeof person>) =>
  Effect.map(People.tokenHash, (tokenHash): FactorStore.Challenge => ({
    tokenHash,
    userId,
    passwordHash: People.passwordHash,
    triesLeft: 5,
    createdAt: start,
    expiresAt: start + 5 * minute
  }))

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a factor is on once its secret is confirmed, with all of its recovery codes", () =>
    Effect.gen(function*() {
      const store = yield* FactorStore.FactorStore
      const { start, userId } = yield* person
      assert.deepStrictEqual(yield* store.find(userId), Option.none())
      assert.isTrue(yield* started(userId, start))
      const pending = {
        userId,
        createdAt: start,
        confirmedAt: null,
        app: { secret, isOn: false },
        recoveryCodesLeft: 0
      }
      assert.deepStrictEqual(yield* store.find(userId), Option.some(pending))
      assert.isTrue(yield* confirmed(userId, start + minute))
      assert.deepStrictEqual(
        yield* store.find(userId),
        Option.some({
          ...pending,
          confirmedAt: start + minute,
          app: { secret, isOn: true },
          recoveryCodesLeft: 3
        })
      )
    }))

  it.effect("a secret is replaced until it is confirmed, and only the stored one can be confirmed, once", () =>
    Effect.gen(function*() {
      const store = yield* FactorStore.FactorStore
      const { start, userId } = yield* person
      assert.isFalse(yield* confirmed(userId, start))
      const other = { ...Fixture.sealed(2), keyId: "key" }
      assert.isTrue(yield* started(userId, start))
      assert.isTrue(yield* started(userId, start + 1, other))
      assert.isFalse(yield* confirmed(userId, start))
      assert.strictEqual(yield* People.successes(confirmed(userId, start, other)), 1)
      assert.isFalse(yield* started(userId, start + 2))
      assert.deepStrictEqual(Option.getOrThrow(yield* store.find(userId)).app?.secret, other)
    }))

  it.effect("each step of a factor is used once, and none before one that was used", () =>
    Effect.gen(function*() {
      const store = yield* FactorStore.FactorStore
      const { userId } = yield* enrolled
      for (const step of [9, 10]) assert.isFalse(yield* store.useStep(userId, step))
      assert.isTrue(yield* store.useStep(userId, 11))
      assert.isTrue(yield* store.useStep(userId, 13))
      for (const step of [11, 12, 13]) assert.isFalse(yield* store.useStep(userId, step))
      const pending = yield* person
      yield* started(pending.userId, pending.start)
      assert.isFalse(yield* store.useStep(pending.userId, 20))
    }))

  it.effect("of concurrent uses of one step, one succeeds", () =>
    Effect.gen(function*() {
      const store = yield* FactorStore.FactorStore
      const { userId } = yield* enrolled
      for (const step of [11, 12, 13]) assert.strictEqual(yield* People.successes(store.useStep(userId, step)), 1)
    }))

  it.effect("a recovery code is used once by its own person, whatever is done concurrently", () =>
    Effect.gen(function*() {
      const store = yield* FactorStore.FactorStore
      const { userId } = yield* enrolled
      const other = yield* enrolled
      assert.isFalse(yield* store.useRecoveryCode(userId, "four"))
      assert.strictEqual(yield* People.successes(store.useRecoveryCode(userId, "one")), 1)
      assert.strictEqual(Option.getOrThrow(yield* store.find(userId)).recoveryCodesLeft, 2)
      assert.strictEqual(Option.getOrThrow(yield* store.find(other.userId)).recoveryCodesLeft, 3)
    }))

  it.effect("new recovery codes take the place of all of before, and only of a factor that is on", () =>
    Effect.gen(function*() {
      const store = yield* FactorStore.FactorStore
      const pending = yield* person
      assert.isFalse(yield* store.replaceRecoveryCodes(pending.userId, ["five"]))
      yield* started(pending.userId, pending.start)
      assert.isFalse(yield* store.replaceRecoveryCodes(pending.userId, ["five"]))
      assert.isFalse(yield* store.useRecoveryCode(pending.userId, "five"))
      const { userId } = yield* enrolled
      const other = yield* enrolled
      assert.isTrue(yield* store.replaceRecoveryCodes(userId, ["five", "six"]))
      assert.isFalse(yield* store.useRecoveryCode(userId, "one"))
      assert.isTrue(yield* store.useRecoveryCode(userId, "six"))
      assert.strictEqual(Option.getOrThrow(yield* store.find(userId)).recoveryCodesLeft, 1)
      assert.strictEqual(Option.getOrThrow(yield* store.find(other.userId)).recoveryCodesLeft, 3)
    }))

  it.effect("of recovery codes that are made at once, those of one call are left", () =>
    Effect.gen(function*() {
      const store = yield* FactorStore.FactorStore
      const { userId } = yield* enrolled
      const sets = Array.from({ length: People.crowd }, (_, i) => [`${i} a`, `${i} b`])
      const replaced = Effect.forEach(sets, (set) => store.replaceRecoveryCodes(userId, set), {
        concurrency: People.crowd
      })
      assert.deepStrictEqual(yield* replaced, sets.map(() => true))
      const left: Array<string> = []
      for (const code of sets.flat()) if (yield* store.useRecoveryCode(userId, code)) left.push(code)
      assert.deepInclude(sets, left)
    }))

  it.effect("a challenge is stored only for a person whose factor is on", () =>
    Effect.gen(function*() {
      const store = yield* FactorStore.FactorStore
      const pending = yield* person
      const ofPending = yield* challengeOf(pending)
      assert.isFalse(yield* store.challenge(ofPending))
      yield* started(pending.userId, pending.start)
      assert.isFalse(yield* store.challenge(ofPending))
      assert.deepStrictEqual(yield* store.findChallenge(ofPending.tokenHash, pending.start), Option.none())
      const made = yield* enrolled
      const challenge = yield* challengeOf(made)
      assert.isTrue(yield* store.challenge(challenge))
      assert.deepStrictEqual(yield* store.findChallenge(challenge.tokenHash, made.start), Option.some(challenge))
    }))

  it.effect("a challenge has its tries, also for concurrent codes, until it expires", () =>
    Effect.gen(function*() {
      const store = yield* FactorStore.FactorStore
      const made = yield* enrolled
      const challenge = yield* challengeOf(made)
      yield* store.challenge(challenge)
      assert.deepStrictEqual(
        yield* store.attempt(challenge.tokenHash, made.start),
        Option.some({ ...challenge, triesLeft: 4 })
      )
      assert.strictEqual(
        yield* People.successes(Effect.map(store.attempt(challenge.tokenHash, made.start), Option.isSome)),
        4
      )
      assert.deepStrictEqual(
        yield* store.findChallenge(challenge.tokenHash, made.start),
        Option.some({ ...challenge, triesLeft: 0 })
      )
      const late = yield* challengeOf(made)
      yield* store.challenge(late)
      assert.isTrue(Option.isSome(yield* store.attempt(late.tokenHash, late.expiresAt - 1)))
      assert.isTrue(Option.isNone(yield* store.attempt(late.tokenHash, late.expiresAt)))
      assert.isTrue(Option.isNone(yield* store.findChallenge(late.tokenHash, late.expiresAt)))
    }))

  it.effect("a challenge ends once, whatever is done concurrently", () =>
    Effect.gen(function*() {
      const store = yield* FactorStore.FactorStore
      const made = yield* enrolled
      const challenge = yield* challengeOf(made)
      yield* store.challenge(challenge)
      assert.strictEqual(yield* People.successes(store.redeem(challenge.tokenHash)), 1)
      assert.isTrue(Option.isNone(yield* store.attempt(challenge.tokenHash, made.start)))
    }))

  it.effect("removing a factor ends its recovery codes and its challenges, and lets another begin", () =>
    Effect.gen(function*() {
      const store = yield* FactorStore.FactorStore
      const made = yield* enrolled
      const other = yield* enrolled
      const [own, others] = [yield* challengeOf(made), yield* challengeOf(other)]
      yield* store.challenge(own)
      yield* store.challenge(others)
      assert.strictEqual(yield* People.successes(store.remove(made.userId)), 1)
      assert.deepStrictEqual(yield* store.find(made.userId), Option.none())
      assert.isFalse(yield* store.useStep(made.userId, 20))
      assert.isFalse(yield* store.useRecoveryCode(made.userId, "one"))
      assert.isFalse(yield* store.redeem(own.tokenHash))
      assert.isTrue(yield* store.redeem(others.tokenHash))
      assert.isTrue(yield* started(made.userId, made.start))
      assert.isFalse(yield* store.remove(made.userId))
      assert.deepStrictEqual(yield* store.find(made.userId), Option.none())
    }))

  it.effect("expired challenges are deleted", () =>
    Effect.gen(function*() {
      const store = yield* FactorStore.FactorStore
      const made = yield* enrolled
      const challenge = yield* challengeOf(made)
      yield* store.challenge(challenge)
      yield* store.forget(challenge.expiresAt - 1)
      assert.isTrue(Option.isSome(yield* store.findChallenge(challenge.tokenHash, made.start)))
      assert.isAtLeast((yield* store.forget(challenge.expiresAt)).removed, 1)
      assert.isTrue(Option.isNone(yield* store.findChallenge(challenge.tokenHash, made.start)))
    }))

  it.effect("the secret of a factor follows a change of the master key", () =>
    Effect.gen(function*() {
      const store = yield* FactorStore.FactorStore
      const secrets = yield* SealedSecretStore.SealedSecretStore
      const [keyId, next] = [yield* Fixture.word, yield* Fixture.word]
      const { start, userId } = yield* person
      const before = { ...secret, keyId }
      yield* started(userId, start, before)
      yield* confirmed(userId, start, before)
      assert.deepStrictEqual(yield* secrets.under(keyId, { after: null, limit: 10 }), [{ row: userId, sealed: before }])
      const after = { ...Fixture.sealed(3), keyId: next }
      assert.strictEqual(yield* secrets.rewrap([{ row: userId, before, after }]), 1)
      assert.strictEqual(yield* secrets.rewrap([{ row: userId, before, after }]), 0)
      assert.deepStrictEqual(Option.getOrThrow(yield* store.find(userId)).app?.secret, after)
      assert.isFalse(yield* store.useStep(userId, 10))
      assert.isTrue(yield* store.useStep(userId, 11))
    }))
}
