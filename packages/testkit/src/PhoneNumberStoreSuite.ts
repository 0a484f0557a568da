/**
 * Conformance of `PhoneNumberStore`: numbers, settings and credentials. What upstream tells of them has a suite of its own.
 */
import { assert } from "@effect/vitest"
import { type PhoneNumber, PhoneNumberStore, SenderBlock } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "./Fixture.ts"
import * as MessageFixture from "./MessageFixture.ts"
import * as PhoneNumberFixture from "./PhoneNumberFixture.ts"

const { minute, world } = Fixture
const { detail, further, list, numberOf, observe, use } = PhoneNumberFixture

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("add keeps a number as it was given, behind the default one", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const added = yield* further(own, {
        tier: "high",
        messagingLimit: 250,
        available: false,
        learned: { tier: "coexistence", messagingLimit: 2000, quality: "yellow" }
      })
      assert.isTrue(yield* use((store) => store.add(added)))
      assert.deepStrictEqual(yield* list(own), [own.number, added])
    }))

  it.effect("add of a default number takes that from the one before", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { providerAccountId } = own.number
      const added = yield* further(own, { isDefault: true, providerAccountId })
      assert.isTrue(yield* use((store) => store.add(added)))
      assert.deepStrictEqual(yield* list(own), [added, { ...own.number, isDefault: false }])
      const { accepted } = yield* MessageFixture.claimed(own)
      assert.strictEqual(accepted.sender.id, added.id)
    }))

  it.effect("add refuses what is known, and changes nothing then", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world()
      const { phoneNumber, providerNumberId } = own.number
      const again = yield* further(own, { phoneNumber, isDefault: true })
      assert.isFalse(yield* use((store) => store.add(again)))
      for (const world of [own, other]) {
        const taken = yield* further(world, { providerNumberId, isDefault: true })
        assert.isFalse(yield* use((store) => store.add(taken)))
      }
      assert.isFalse(yield* use((store) => store.add(own.number)))
      assert.deepStrictEqual(yield* list(own), [own.number])
      assert.deepStrictEqual(yield* list(other), [other.number])
      // what has another name upstream is another number, even with the same digits
      const elsewhere = yield* further(other, { phoneNumber })
      assert.isTrue(yield* use((store) => store.add(elsewhere)))
    }))

  it.effect("of numbers that are added as the default at once, all are kept and one is it", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const added = yield* Effect.replicateEffect(further(own, { isDefault: true }), 12)
      const twice = [...added, ...added]
      const answers = yield* Effect.forEach(twice, (number) => use((store) => store.add(number)), {
        concurrency: "unbounded"
      })
      assert.strictEqual(answers.filter((isAdded) => isAdded).length, added.length)
      const listed = yield* list(own)
      assert.strictEqual(listed.length, 1 + added.length)
      assert.deepStrictEqual(listed.map(({ isDefault }) => isDefault), listed.map((_, i) => i === 0))
      assert.include(added.map(({ id }) => id), listed[0]!.id)
    }))

  it.effect("numbers are found by their own name upstream, their account's, and their digits in an account, in all workspaces", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { phoneNumber, providerAccountId, providerNumberId } = own.number
      const same = yield* world({ number: { providerAccountId } })
      const digits = yield* world({ number: { phoneNumber } })
      const found = (name: PhoneNumber.NumberName) => use((store) => store.named(name))
      assert.deepStrictEqual(yield* found({ providerNumberId }), [own.number])
      assert.deepStrictEqual(yield* found({ providerAccountId }), [own.number, same.number])
      assert.deepStrictEqual(yield* found({ providerAccountId, phoneNumber }), [own.number])
      assert.deepStrictEqual(
        yield* found({ providerAccountId: digits.number.providerAccountId, phoneNumber }),
        [digits.number]
      )
      assert.deepStrictEqual(yield* found({ providerAccountId: yield* Fixture.word, phoneNumber }), [])
      assert.deepStrictEqual(yield* found({ providerNumberId: yield* Fixture.word }), [])
      assert.deepStrictEqual(yield* list({ workspace: { ...own.workspace, id: yield* Fixture.id("ws") } }), [])
    }))

  it.effect("configure changes the given fields only, of one number only", () =>
    Effect.gen(function*() {
      const store = yield* PhoneNumberStore.PhoneNumberStore
      const learned = { tier: "high", messagingLimit: 2000, quality: "green" }
      const own = yield* world({ number: { tier: "high", messagingLimit: 10, learned } })
      const other = yield* world({ start: own.start })
      const { number } = own
      yield* store.configure(number.id, { available: false })
      assert.deepStrictEqual(yield* list(own), [{ ...number, available: false }])
      yield* store.configure(number.id, { tier: null, messagingLimit: 0, providerAccountId: "another" })
      const changed = { ...number, available: false, tier: null, messagingLimit: 0, providerAccountId: "another" }
      assert.deepStrictEqual(yield* list(own), [changed])
      yield* store.configure(number.id, {})
      assert.deepStrictEqual(yield* list(own), [changed])
      yield* store.configure(number.id, { messagingLimit: null, available: true })
      assert.deepStrictEqual(yield* list(own), [{ ...changed, messagingLimit: null, available: true }])
      assert.deepStrictEqual(yield* list(other), [other.number])
    }))

  it.effect("credentials are kept, exchanged and taken away, and accept tells which they are", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world()
      const { id } = own.number
      const stored = use((store) => store.credentials(id))
      const set = (credentials: PhoneNumberStore.SealedCredentials | null) =>
        use((store) => store.setCredentials({ now: own.start, id, credentials }))
      const version = Effect.map(MessageFixture.claimed(own), ({ accepted }) => accepted.sender.credentialsVersion)
      assert.deepStrictEqual([yield* stored, yield* version], [Option.none(), null])
      const first = { version: "one", accessToken: Fixture.sealed(1), baseUrl: null, apiVersion: null }
      assert.isTrue(yield* set(first))
      assert.deepStrictEqual([yield* stored, yield* version], [Option.some(first), "one"])
      const second = {
        version: "two",
        accessToken: Fixture.sealed(2),
        baseUrl: "https://graph.example",
        apiVersion: "v26.0"
      }
      assert.isTrue(yield* set(second))
      assert.isTrue(yield* set(second))
      assert.deepStrictEqual([yield* stored, yield* version], [Option.some(second), "two"])
      assert.deepStrictEqual(yield* list(own), [{ ...own.number, credentialsVersion: "two" }])
      assert.deepStrictEqual(yield* list(other), [other.number])
      assert.isTrue(yield* set(null))
      assert.isTrue(yield* set(null))
      assert.deepStrictEqual([yield* stored, yield* version], [Option.none(), null])
      const nobody = yield* Fixture.id("pn")
      assert.isFalse(yield* use((store) => store.setCredentials({ now: own.start, id: nobody, credentials: first })))
      assert.deepStrictEqual(yield* use((store) => store.credentials(nobody)), Option.none())
    }))

  it.effect("other credentials lift a block for credentials, and no other, and no later one", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { id, providerNumberId }, start } = own
      const after = (reason: SenderBlock.SenderBlockReason, toldAt: number) =>
        Effect.gen(function*() {
          yield* observe({ providerNumberId }, toldAt, { block: SenderBlock.of(reason, toldAt, detail) })
          const credentials = {
            version: yield* Fixture.word,
            accessToken: Fixture.sealed(1),
            baseUrl: null,
            apiVersion: null
          }
          yield* use((store) => store.setCredentials({ now: start + minute, id, credentials }))
          return (yield* numberOf(own)).block?.reason
        })
      assert.isUndefined(yield* after("credentials", start))
      // the word that lifted it is newer
      assert.isUndefined(yield* after("credentials", start))
      assert.strictEqual(yield* after("payment", start + minute), "payment")
      assert.strictEqual(yield* after("credentials", start + 2 * minute), "credentials")
    }))

  it.effect("of credentials that are set at once one is kept, whole, and accept names that one", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { id }, start } = own
      const given = Array.from({ length: 12 }, (_, i) => ({
        version: `version ${i}`,
        accessToken: Fixture.sealed(i),
        baseUrl: `https://${i}.example`,
        apiVersion: `v${i}`
      }))
      yield* Effect.forEach(
        given,
        (credentials) => use((store) => store.setCredentials({ now: start, id, credentials })),
        { concurrency: "unbounded" }
      )
      const { credentialsVersion } = yield* numberOf(own)
      const kept = Option.getOrThrow(yield* use((store) => store.credentials(id)))
      assert.deepInclude(given, kept)
      assert.strictEqual(kept.version, credentialsVersion)
    }))
}
