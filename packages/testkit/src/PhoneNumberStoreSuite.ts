/**
 * Conformance of `PhoneNumberStore`, and of *accept* where upstream's words count in it.
 */
import { assert } from "@effect/vitest"
import { Limits, type Message, type PhoneNumber, PhoneNumberStore, SenderBlock, type StoreError } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "./Fixture.ts"
import * as SeededRandom from "./SeededRandom.ts"

const { hour, minute, world } = Fixture

type Store = PhoneNumberStore.PhoneNumberStore["Service"]

const use = <A>(step: (store: Store) => Effect.Effect<A, StoreError.StoreError>) =>
  PhoneNumberStore.PhoneNumberStore.use(step)

const list = ({ workspace }: Pick<Fixture.World, "workspace">) => use((store) => store.list(workspace.id))

const only = (own: Fixture.World) => Effect.map(list(own), ([number]) => number!)

/** A further number of a workspace, not stored yet. */
const further = (own: Fixture.World, settings: Fixture.WorldOptions["number"] = {}) =>
  Fixture.phoneNumber(own.workspace.id, { isDefault: false, ...settings })

const observe = (name: PhoneNumber.NumberName, at: number, change: PhoneNumber.NumberChange) =>
  use((store) => store.observe({ name, at, change }))

const detail = { code: "131048", message: "Spam rate limit hit" }

const reasons = SenderBlock.SenderBlockReason.literals

/** A word of upstream, and when it was told. */
interface Word {
  readonly at: number
  readonly change: PhoneNumber.NumberChange
}

/** The block after words that arrived in this order. One counts as of the end of its second, as upstream's times do. */
const expectedBlock = (words: ReadonlyArray<Word>): PhoneNumber.PhoneNumber["block"] => {
  let held = null as PhoneNumber.PhoneNumber["block"]
  let heldAt = -Infinity
  for (const { at, change: { block, lifts } } of words) {
    const isOlder = at + (block ? 999 : 0) < heldAt
    const isOfAnother = block === undefined && (lifts === undefined || held !== null && held.reason !== lifts)
    if (isOlder || isOfAnother) continue
    heldAt = Math.max(heldAt, at)
    // a block goes on as long as nothing else was told between
    held = block && held?.reason === block.reason
      ? { ...block, since: Math.min(held.since, block.since) }
      : block ?? null
  }
  return held
}

/** What must hold after words that arrived in this order: of each field the newest, of equally new ones the last. */
const expected = (number: PhoneNumber.PhoneNumber, words: ReadonlyArray<Word>): PhoneNumber.PhoneNumber => {
  const last = <Field extends keyof PhoneNumber.Learned>(field: Field) =>
    words.findLast(({ at, change }, i) =>
      field in change && words.slice(0, i).every((before) => !(field in before.change) || before.at <= at)
    )?.change[field] ?? null
  return {
    ...number,
    block: expectedBlock(words),
    learned: { tier: last("tier"), messagingLimit: last("messagingLimit"), quality: last("quality") }
  }
}

const randomWord = (random: SeededRandom.SeededRandom, at: number): Word => {
  const said = random.below(15) + 1
  return {
    at,
    change: {
      ...((said & 1) === 0 ? {} : {
        block: random.below(3) === 0 ? null : {
          reason: random.pick(reasons),
          scope: random.pick(["all", "outside_window"] as const),
          since: at - random.below(100),
          until: random.pick([null, at + random.below(1000)]),
          provider: random.pick([null, detail, { code: "0", message: "\u0000 \" \\ é" }])
        }
      }),
      ...((said & 2) === 0 ? {} : { tier: random.pick(["standard", "high", "some other"]) }),
      ...((said & 4) === 0 ? {} : { messagingLimit: random.pick([null, 0, 250, 100_000]) }),
      ...((said & 8) === 0 ? {} : { quality: random.pick(["green", "yellow", "red"]) }),
      ...(random.below(2) === 0 ? {} : { lifts: random.pick(reasons) })
    }
  }
}

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
      const { accepted } = yield* Fixture.claimed(own)
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

  it.effect("settings are in force from the next accept on", () =>
    Effect.gen(function*() {
      const store = yield* PhoneNumberStore.PhoneNumberStore
      const own = yield* world()
      const accept = Effect.map(Fixture.accept(own), ({ accepted }) => Fixture.describe(accepted))
      yield* store.configure(own.number.id, { available: false })
      assert.strictEqual(yield* accept, "forbidden/sender_not_available")
      yield* store.configure(own.number.id, { available: true })
      assert.strictEqual(yield* accept, "Claimed")
      yield* store.configure(own.number.id, { messagingLimit: 0 })
      assert.strictEqual(yield* accept, "Claimed")
      assert.strictEqual(
        Fixture.describe(
          (yield* Fixture.accept(own, { message: Fixture.template({ to: Fixture.customer(2) }) })).accepted
        ),
        "forbidden/messaging_limit_reached"
      )
    }))

  it.effect("observe notes what is said, and leaves what is not spoken of and what is the operator's", () =>
    Effect.gen(function*() {
      const own = yield* world({ number: { tier: "standard", messagingLimit: 10 } })
      const { number, start } = own
      const { providerNumberId } = number
      const block = SenderBlock.of("quality", start, detail)
      assert.strictEqual(yield* observe({ providerNumberId }, start, { block }), 1)
      assert.deepStrictEqual(yield* only(own), { ...number, block })
      yield* observe({ providerNumberId }, start, { tier: "high" })
      yield* observe({ providerNumberId }, start, { messagingLimit: 2000, quality: "red" })
      const learned = { tier: "high", messagingLimit: 2000, quality: "red" }
      assert.deepStrictEqual(yield* only(own), { ...number, block, learned })
      yield* observe({ providerNumberId }, start, {})
      assert.deepStrictEqual(yield* only(own), { ...number, block, learned })
      yield* observe({ providerNumberId }, start, { block: null, messagingLimit: null })
      assert.deepStrictEqual(yield* only(own), { ...number, learned: { ...learned, messagingLimit: null } })
    }))

  it.effect("observe by an account's name is for all its numbers, by digits for the one of the account that has them", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { phoneNumber, providerAccountId } = own.number
      const same = yield* world({ number: { providerAccountId } })
      const digits = yield* world({ number: { phoneNumber } })
      const qualities = Effect.map(
        Effect.forEach([own, same, digits], only),
        (numbers) => numbers.map(({ learned }) => learned.quality)
      )
      assert.strictEqual(yield* observe({ providerAccountId }, own.start, { quality: "red" }), 2)
      assert.deepStrictEqual(yield* qualities, ["red", "red", null])
      assert.strictEqual(yield* observe({ providerAccountId, phoneNumber }, own.start, { quality: "green" }), 1)
      assert.deepStrictEqual(yield* qualities, ["green", "red", null])
      const nobody = yield* Fixture.word
      assert.strictEqual(yield* observe({ providerNumberId: nobody }, own.start, { quality: "yellow" }), 0)
      for (const name of [{ providerAccountId: nobody }, { providerAccountId: nobody, phoneNumber }]) {
        assert.strictEqual(yield* observe(name, own.start, { quality: "yellow" }), 0)
      }
      assert.deepStrictEqual(yield* qualities, ["green", "red", null])
    }))

  it.effect("an older word does not undo a newer one, of each field by itself", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { providerNumberId }, start } = own
      const tell = (at: number, change: PhoneNumber.NumberChange) => observe({ providerNumberId }, start + at, change)
      yield* tell(10, { quality: "green", block: null })
      yield* tell(9, { quality: "red", tier: "high" })
      yield* tell(-1000, { block: SenderBlock.of("quality", start, detail) })
      yield* tell(8, { tier: "coexistence", messagingLimit: 250 })
      assert.deepStrictEqual(yield* only(own), {
        ...own.number,
        learned: { tier: "high", messagingLimit: 250, quality: "green" }
      })
      yield* tell(10, { quality: "yellow" })
      assert.strictEqual((yield* only(own)).learned.quality, "yellow")
    }))

  it.effect("a block of the same second as a newer word holds, as upstream's times are in whole seconds", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { providerNumberId }, start } = own
      const block = SenderBlock.of("restricted", start, detail)
      yield* observe({ providerNumberId }, start + 999, { block: null })
      yield* observe({ providerNumberId }, start, { block })
      assert.deepStrictEqual((yield* only(own)).block, block)
      // the time of what holds does not go back
      yield* observe({ providerNumberId }, start + 998, { block: null })
      assert.deepStrictEqual((yield* only(own)).block, block)
      yield* observe({ providerNumberId }, start + 1000, { block: null })
      yield* observe({ providerNumberId }, start, { block })
      assert.isNull((yield* only(own)).block)
    }))

  it.effect("a word that lifts one reason leaves a block for another as it is", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { providerNumberId }, start } = own
      const lift = (at: number, lifts: SenderBlock.SenderBlockReason) =>
        Effect.andThen(observe({ providerNumberId }, start + at, { lifts }), only(own))
      for (const [i, reason] of reasons.entries()) {
        const at = (2 * i + 1) * hour
        const block = SenderBlock.of(reason, start + at, detail)
        yield* observe({ providerNumberId }, start + at, { block })
        for (const other of reasons.filter((other) => other !== reason)) {
          assert.deepStrictEqual((yield* lift(at + minute, other)).block, block)
        }
        assert.deepStrictEqual((yield* lift(at - 1, reason)).block, block)
        assert.deepStrictEqual(yield* lift(at + minute, reason), own.number)
        // told before it was lifted
        yield* observe({ providerNumberId }, start + at, { block })
        assert.isNull((yield* only(own)).block)
      }
    }))

  it.effect("a block that is told again of the same reason is one that goes on", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { providerNumberId }, start } = own
      const tell = (at: number, reason: SenderBlock.SenderBlockReason) => {
        const block = SenderBlock.of(reason, at, detail)
        return Effect.as(observe({ providerNumberId }, at, { block }), block)
      }
      yield* tell(start, "payment")
      const again = yield* tell(start + hour, "payment")
      assert.deepStrictEqual((yield* only(own)).block, { ...again, since: start })
      const another = yield* tell(start + 2 * hour, "quality")
      assert.deepStrictEqual((yield* only(own)).block, another)
    }))

  it.effect("words in any order leave of each field the newest", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { start } = own
      for (let seed = 1; seed <= 40; seed++) {
        const random = SeededRandom.make(seed)
        const number = yield* further(own)
        yield* use((store) => store.add(number))
        const words = Array.from({ length: 12 }, () => randomWord(random, start + 333 * random.below(8)))
        for (const { at, change } of words) {
          yield* observe({ providerNumberId: number.providerNumberId }, at, change)
        }
        const stored = (yield* list(own)).find(({ id }) => id === number.id)
        assert.deepStrictEqual(stored, expected(number, words), `seed ${seed}`)
      }
    }))

  it.effect("words at once, of numbers and of their account, leave of each field the newest", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number, start } = own
      const { providerAccountId } = number
      const other = yield* further(own, { providerAccountId })
      yield* use((store) => store.add(other))
      const names = [
        { providerNumberId: number.providerNumberId },
        { providerAccountId },
        { providerAccountId, phoneNumber: other.phoneNumber }
      ]
      for (let round = 0; round < 5; round++) {
        const words = Array.from({ length: 30 }, (_, i) => ({
          name: names[i % 3]!,
          at: start + (round * 100 + i) * 1000,
          change: {
            ...(i % 2 === 0 ? { tier: `tier ${i}` } : { quality: `quality ${i}`, messagingLimit: i }),
            block: i === 28
              ? null
              : { reason: reasons[i % reasons.length]!, scope: "all" as const, since: i, until: null, provider: null }
          }
        }))
        yield* Effect.forEach(
          SeededRandom.make(round).shuffle(words),
          ({ at, change, name }) => observe(name, at, change),
          { concurrency: "unbounded" }
        )
        const [first, second] = yield* list(own)
        const newest = (isTold: (place: number) => boolean, isSaid: (i: number) => boolean) =>
          Array.from({ length: 30 }, (_, i) => i).findLast((i) => isTold(i % 3) && isSaid(i))!
        const holds = (isTold: (place: number) => boolean) => {
          const odd = newest(isTold, (i) => i % 2 === 1)
          return {
            tier: `tier ${newest(isTold, (i) => i % 2 === 0)}`,
            messagingLimit: odd,
            quality: `quality ${odd}`
          }
        }
        assert.deepStrictEqual(first!.learned, holds((place) => place < 2))
        assert.deepStrictEqual(second!.learned, holds((place) => place > 0))
        // the last word about the first number lifts its block, the last about the second does not
        assert.isNull(first!.block)
        assert.strictEqual(second!.block?.reason, reasons[29 % reasons.length])
      }
    }))

  it.effect("credentials are kept, exchanged and taken away, and accept tells which they are", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world()
      const { id } = own.number
      const stored = use((store) => store.credentials(id))
      const set = (credentials: PhoneNumberStore.SealedCredentials | null) =>
        use((store) => store.setCredentials({ now: own.start, id, credentials }))
      const version = Effect.map(Fixture.claimed(own), ({ accepted }) => accepted.sender.credentialsVersion)
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
          return (yield* only(own)).block?.reason
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
      const { credentialsVersion } = yield* only(own)
      const kept = Option.getOrThrow(yield* use((store) => store.credentials(id)))
      assert.deepInclude(given, kept)
      assert.strictEqual(kept.version, credentialsVersion)
    }))

  it.effect("sends, words about their number, other credentials and further numbers at once are all taken", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { id, providerAccountId }, start } = own
      const others = yield* Effect.replicateEffect(further(own, { providerAccountId }), 4)
      yield* Effect.forEach(Array.from({ length: 40 }, (_, i) => i), (i): Fixture.Step<unknown> => {
        switch (i % 4) {
          case 0:
            return observe({ providerAccountId }, start + i, { quality: `${i}`, messagingLimit: 1000 + i })
          case 1:
            return use((store) =>
              store.setCredentials({
                now: start,
                id,
                credentials: { version: `${i}`, accessToken: Fixture.sealed(i), baseUrl: null, apiVersion: null }
              })
            )
          case 2:
            return i < 16 ? use((store) => store.add(others[i >> 2]!)) : list(own)
          default:
            return Fixture.claimed(own, { message: Fixture.template({ to: Fixture.customer(i) }) })
        }
      }, { concurrency: "unbounded", discard: true })
      const listed = yield* list(own)
      assert.strictEqual(listed.length, 5)
      assert.deepStrictEqual(listed[0]!.learned, { tier: null, messagingLimit: 1036, quality: "36" })
    }))

  it.effect("accept refuses a number that is blocked, until the block ends or is lifted", () =>
    Effect.gen(function*() {
      for (const reason of reasons) {
        const own = yield* world()
        const { number: { id, providerNumberId }, start } = own
        const told = (now: number, from?: string) =>
          Effect.map(
            Fixture.accept(own, { now, message: Fixture.template(from === undefined ? {} : { from }) }),
            ({ accepted }) =>
              accepted._tag === "Refused"
                ? [Fixture.describe(accepted), accepted.error.param, accepted.error.provider]
                : [Fixture.describe(accepted)]
          )
        const until = start + hour
        const error = reason === "credentials" ? "server_error/provider_error" : "forbidden/sender_not_available"
        const param = reason === "credentials" ? undefined : "from"
        yield* observe({ providerNumberId }, start, {
          block: { reason, scope: "all", since: start, until, provider: detail }
        })
        assert.deepStrictEqual(yield* told(start), [error, undefined, detail])
        assert.deepStrictEqual(yield* told(until - 1, id), [error, param, detail])
        assert.deepStrictEqual(yield* told(until), ["Claimed"])
        yield* observe({ providerNumberId }, start, {
          block: { reason, scope: "all", since: start, until: null, provider: null }
        })
        const later = start + 20 * Fixture.day
        assert.deepStrictEqual(yield* told(later), [error, undefined, undefined])
        yield* observe({ providerNumberId }, later, { block: null })
        assert.deepStrictEqual(yield* told(later), ["Claimed"])
      }
    }))

  it.effect("accept lets a block of what is outside a window stop that only", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { providerNumberId }, start } = own
      const block = { ...SenderBlock.of("restricted", start, detail), scope: "outside_window" } as const
      yield* observe({ providerNumberId }, start, { block })
      assert.deepStrictEqual((yield* only(own)).block, block)
      const told = (message: Message.OutboundMessage, now: number) =>
        Effect.map(Fixture.accept(own, { now, message }), ({ accepted }) => Fixture.describe(accepted))
      yield* Fixture.inbound(own, { customer: Fixture.customer(1), at: start - 24 * hour + minute, now: start })
      const [heard, strange] = [1, 2].map((n) => Fixture.template({ to: Fixture.customer(n) }))
      assert.strictEqual(yield* told(heard!, start), "Claimed")
      assert.strictEqual(yield* told(strange!, start), "forbidden/sender_not_available")
      assert.strictEqual(yield* told(heard!, start + minute), "forbidden/sender_not_available")
      assert.strictEqual(yield* told(strange!, block.until!), "Claimed")
    }))

  it.effect("accept hands the sender over as it is, with a block that has ended", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number, start } = own
      const block = {
        reason: "payment",
        scope: "all",
        since: start - hour,
        until: start - minute,
        provider: detail
      } as const
      yield* observe({ providerNumberId: number.providerNumberId }, start - hour, { block, quality: "red" })
      const { accepted } = yield* Fixture.claimed(own)
      const sender = { ...number, block, learned: { ...number.learned, quality: "red" } }
      assert.deepStrictEqual(accepted.sender, sender)
    }))

  it.effect("accept goes by the tier that was learned, and by the operator's before it", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { id, providerNumberId }, start } = own
      const policy = Effect.map(
        Fixture.claimed(own, { limits: Limits.standard }),
        ({ accepted }) => accepted.readings[1]!.policy
      )
      const standard = yield* policy
      yield* observe({ providerNumberId }, start, { tier: "high" })
      assert.deepStrictEqual(yield* policy, { name: "phone_number", interval: 1, capacity: 2000 })
      yield* use((store) => store.configure(id, { tier: "coexistence" }))
      assert.deepStrictEqual(yield* policy, { name: "phone_number", interval: 50, capacity: 40 })
      yield* use((store) => store.configure(id, { tier: null }))
      yield* observe({ providerNumberId }, start, { tier: "of another name" })
      assert.deepStrictEqual(yield* policy, standard)
    }))

  it.effect("accept goes by the messaging limit that was learned, and by the operator's before it", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { id, providerNumberId }, start } = own
      let customers = 0
      const limits = { ...Fixture.roomy, defaults: { ...Fixture.roomy.defaults, messagingLimit: 4 } }
      /** How many further customers may be written to. */
      const room = Effect.gen(function*() {
        for (let written = 0;; written++) {
          const message = Fixture.template({ to: Fixture.customer(++customers) })
          const { accepted } = yield* Fixture.accept(own, { message, limits })
          if (accepted._tag === "Claimed") continue
          assert.strictEqual(Fixture.describe(accepted), "forbidden/messaging_limit_reached")
          return written
        }
      })
      yield* observe({ providerNumberId }, start, { messagingLimit: 2 })
      assert.strictEqual(yield* room, 2)
      yield* use((store) => store.configure(id, { messagingLimit: 3 }))
      assert.strictEqual(yield* room, 1)
      yield* use((store) => store.configure(id, { messagingLimit: null }))
      assert.strictEqual(yield* room, 0)
      yield* observe({ providerNumberId }, start, { messagingLimit: null })
      assert.strictEqual(yield* room, 1)
    }))
}
