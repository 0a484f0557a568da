/**
 * Conformance of `PasskeyStore`: passkeys as a second factor, and their challenges.
 */
import { assert } from "@effect/vitest"
import { FactorStore, type Id, type Passkey, PasskeyStore } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as People from "./PeopleFixture.ts"

const { minute, world } = Fixture

const secret = { ...Fixture.sealed(1), keyId: "key" }

const recoveryCodes = ["one", "two", "three"]

const most = 20

/** A person, without a second factor. */
const person = Effect.gen(function*() {
  const own = yield* world()
  const { userId } = yield* People.joined(own)
  return { userId, start: own.start }
})

type Person = Effect.Success<typeof person>

/** A passkey, not stored. */
const passkeyOf = ({ start, userId }: Person, fields: Partial<Passkey.Passkey> = {}) =>
  Effect.gen(function*() {
    const made: Omit<Passkey.Passkey, "lastUsedAt"> = {
      id: yield* Fixture.id("psk"),
      userId,
      name: "laptop",
      credentialId: yield* Fixture.word,
      publicKey: new Uint8Array([1, 2, 3]),
      counter: 0,
      transports: ["internal", "hybrid"],
      createdAt: start,
      ...fields
    }
    return made
  })

const added = (passkey: Omit<Passkey.Passkey, "lastUsedAt">, codes = recoveryCodes) =>
  PasskeyStore.PasskeyStore.use((store) => store.add({ passkey, recoveryCodes: codes, most }))

/** A person with a passkey. */
const holder = Effect.gen(function*() {
  const made = yield* person
  const passkey = yield* passkeyOf(made)
  assert.deepStrictEqual(yield* added(passkey), Option.some({ isFirst: true }))
  return { ...made, passkey }
})

const factorOf = (userId: Id.UserId) => FactorStore.FactorStore.use((store) => store.find(userId))

/** Sets up an authenticator app. Returns whether it was the first part of the second factor. */
const withApp = ({ start, userId }: Person) =>
  FactorStore.FactorStore.use((store) =>
    Effect.gen(function*() {
      assert.isTrue(yield* store.start({ userId, secret, createdAt: start }))
      return Option.getOrThrow(yield* store.confirm({ userId, secret, step: 10, recoveryCodes: ["app"], now: start }))
    })
  )

const challengeOf = ({ start, userId }: Person, purpose: PasskeyStore.Purpose = "add") =>
  Effect.map(People.tokenHash, (tokenHash): PasskeyStore.PasskeyChallenge => ({
    userId,
    purpose,
    tokenHash,
    createdAt: start,
    expiresAt: start + 5 * minute
  }))

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a first passkey switches the second factor on with its recovery codes, and a further one adds none", () =>
    Effect.gen(function*() {
      const store = yield* PasskeyStore.PasskeyStore
      const made = yield* person
      assert.deepStrictEqual(yield* store.list(made.userId), [])
      const first = yield* passkeyOf(made)
      const second = yield* passkeyOf(made, { name: "phone", transports: [], createdAt: made.start + minute })
      assert.deepStrictEqual(yield* added(first), Option.some({ isFirst: true }))
      assert.deepStrictEqual(
        yield* factorOf(made.userId),
        Option.some({
          userId: made.userId,
          createdAt: made.start,
          confirmedAt: made.start,
          app: null,
          recoveryCodesLeft: 3
        })
      )
      assert.deepStrictEqual(yield* added(second, ["four"]), Option.some({ isFirst: false }))
      assert.strictEqual(Option.getOrThrow(yield* factorOf(made.userId)).recoveryCodesLeft, 3)
      assert.deepStrictEqual(yield* store.list(made.userId), [
        { ...first, lastUsedAt: null },
        { ...second, lastUsedAt: null }
      ])
    }))

  it.effect("of passkeys that are added at once, one is the first, and the recovery codes are of one call", () =>
    Effect.gen(function*() {
      const made = yield* person
      const passkeys = yield* Effect.replicateEffect(passkeyOf(made), People.crowd)
      const answers = yield* Effect.forEach(passkeys, (passkey, i) => added(passkey, [`${i} a`, `${i} b`]), {
        concurrency: "unbounded"
      })
      assert.lengthOf(answers.filter((answer) => Option.getOrThrow(answer).isFirst), 1)
      assert.strictEqual(Option.getOrThrow(yield* factorOf(made.userId)).recoveryCodesLeft, 2)
    }))

  it.effect("a credential is added once, and nobody has more passkeys than are allowed", () =>
    Effect.gen(function*() {
      const store = yield* PasskeyStore.PasskeyStore
      const { passkey, ...made } = yield* holder
      const other = yield* person
      const { credentialId } = passkey
      assert.deepStrictEqual(yield* added(yield* passkeyOf(made, { credentialId })), Option.none())
      assert.deepStrictEqual(yield* added(yield* passkeyOf(other, { credentialId })), Option.none())
      const ofOther = Option.getOrUndefined(yield* factorOf(other.userId))
      assert.isNull(ofOther?.confirmedAt ?? null)
      const further = yield* Effect.replicateEffect(passkeyOf(made), People.crowd)
      const answers = yield* Effect.forEach(
        further,
        (passkey) => store.add({ passkey, recoveryCodes, most: 3 }),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(answers.filter(Option.isSome), 2)
      assert.lengthOf(yield* store.list(made.userId), 3)
    }))

  it.effect("an authenticator app and a passkey are one second factor, whichever comes first", () =>
    Effect.gen(function*() {
      const factors = yield* FactorStore.FactorStore
      const { userId, ...made } = yield* holder
      assert.isFalse(yield* factors.useStep(userId, 20))
      assert.deepStrictEqual(yield* withApp({ userId, ...made }), { isFirst: false })
      assert.deepStrictEqual(
        yield* factorOf(userId),
        Option.some({
          userId,
          createdAt: made.start,
          confirmedAt: made.start,
          app: { secret, isOn: true },
          recoveryCodesLeft: 3
        })
      )
      assert.isFalse(yield* factors.useStep(userId, 10))
      assert.isTrue(yield* factors.useStep(userId, 11))
      const other = yield* person
      assert.deepStrictEqual(yield* withApp(other), { isFirst: true })
      assert.deepStrictEqual(yield* added(yield* passkeyOf(other)), Option.some({ isFirst: false }))
      assert.strictEqual(Option.getOrThrow(yield* factorOf(other.userId)).recoveryCodesLeft, 1)
      assert.isFalse(yield* factors.start({ userId: other.userId, secret, createdAt: other.start }))
    }))

  it.effect("a use stores its time and a counter that has risen, only of its own person's passkey", () =>
    Effect.gen(function*() {
      const store = yield* PasskeyStore.PasskeyStore
      const { passkey: { id }, start, userId } = yield* holder
      const other = yield* person
      const now = start + minute
      assert.isTrue(yield* store.use({ userId, id, counter: 0, now }))
      assert.isTrue(yield* store.use({ userId, id, counter: 0, now }))
      assert.strictEqual(yield* People.successes(store.use({ userId, id, counter: 3, now })), 1)
      for (const counter of [0, 2, 3]) assert.isFalse(yield* store.use({ userId, id, counter, now: now + 1 }))
      assert.isFalse(yield* store.use({ userId: other.userId, id, counter: 4, now }))
      const [used] = yield* store.list(userId)
      assert.deepInclude(used, { counter: 3, lastUsedAt: now })
    }))

  it.effect("with the last passkey and without an app, the second factor is off with its codes and challenges", () =>
    Effect.gen(function*() {
      const store = yield* PasskeyStore.PasskeyStore
      const factors = yield* FactorStore.FactorStore
      const { passkey, ...made } = yield* holder
      const { userId } = made
      const second = yield* passkeyOf(made, { name: "phone" })
      yield* added(second)
      const signIn: FactorStore.Challenge = {
        tokenHash: yield* People.tokenHash,
        userId,
        passwordHash: People.passwordHash,
        triesLeft: 5,
        createdAt: made.start,
        expiresAt: made.start + 5 * minute
      }
      assert.isTrue(yield* factors.challenge(signIn))
      const other = yield* person
      assert.deepStrictEqual(yield* store.remove(other.userId, passkey.id), Option.none())
      assert.deepStrictEqual(yield* store.remove(userId, passkey.id), Option.some({ name: "laptop", isLast: false }))
      assert.deepStrictEqual(yield* store.remove(userId, passkey.id), Option.none())
      assert.isFalse(yield* store.use({ userId, id: passkey.id, counter: 0, now: made.start }))
      assert.isTrue(Option.isSome(yield* factors.findChallenge(signIn.tokenHash, made.start)))
      assert.deepStrictEqual(yield* store.remove(userId, second.id), Option.some({ name: "phone", isLast: true }))
      assert.deepStrictEqual(yield* factorOf(userId), Option.none())
      assert.isFalse(yield* factors.redeem(signIn.tokenHash))
      assert.isFalse(yield* factors.useRecoveryCode(userId, "one"))
      assert.deepStrictEqual(yield* added(passkey, ["new"]), Option.some({ isFirst: true }))
      assert.strictEqual(Option.getOrThrow(yield* factorOf(userId)).recoveryCodesLeft, 1)
    }))

  it.effect("without its passkeys an app stays on, and removing the second factor removes its passkeys", () =>
    Effect.gen(function*() {
      const store = yield* PasskeyStore.PasskeyStore
      const factors = yield* FactorStore.FactorStore
      const { passkey, ...made } = yield* holder
      yield* withApp(made)
      assert.deepStrictEqual(
        yield* store.remove(made.userId, passkey.id),
        Option.some({ name: "laptop", isLast: false })
      )
      assert.isTrue(Option.getOrThrow(yield* factorOf(made.userId)).app?.isOn)
      yield* added(passkey)
      assert.isTrue(yield* factors.remove(made.userId))
      assert.deepStrictEqual(yield* store.list(made.userId), [])
      assert.isFalse(yield* store.use({ userId: made.userId, id: passkey.id, counter: 0, now: made.start }))
    }))

  it.effect("of passkeys that are removed at once, exactly one is the last", () =>
    Effect.gen(function*() {
      const store = yield* PasskeyStore.PasskeyStore
      const made = yield* person
      const passkeys = yield* Effect.replicateEffect(passkeyOf(made), People.crowd)
      for (const passkey of passkeys) yield* added(passkey)
      const answers = yield* Effect.forEach(passkeys, ({ id }) => store.remove(made.userId, id), {
        concurrency: "unbounded"
      })
      assert.lengthOf(answers.filter((answer) => Option.getOrThrow(answer).isLast), 1)
      assert.deepStrictEqual(yield* factorOf(made.userId), Option.none())
    }))

  it.effect("a challenge ends once, for its own person and purpose, until it expires or another takes its place", () =>
    Effect.gen(function*() {
      const store = yield* PasskeyStore.PasskeyStore
      const made = yield* person
      const other = yield* person
      const challenge = yield* challengeOf(made)
      const now = made.start
      yield* store.challenge(challenge)
      assert.isFalse(yield* store.redeem({ ...challenge, purpose: "confirm", now }))
      assert.isFalse(yield* store.redeem({ ...challenge, userId: other.userId, now }))
      assert.isFalse(yield* store.redeem({ ...challenge, now: challenge.expiresAt }))
      const confirming = yield* challengeOf(made, "confirm")
      yield* store.challenge(confirming)
      assert.strictEqual(yield* People.successes(store.redeem({ ...challenge, now })), 1)
      assert.isTrue(yield* store.redeem({ ...confirming, now: challenge.expiresAt - 1 }))
      yield* store.challenge(challenge)
      const next = yield* challengeOf(made)
      yield* store.challenge(next)
      assert.isFalse(yield* store.redeem({ ...challenge, now }))
      assert.isTrue(yield* store.redeem({ ...next, now }))
    }))
}
