/**
 * Conformance of `PhoneNumberStore`: numbers, settings and credentials. Provider reports have a suite of their own.
 */
import { assert } from "@effect/vitest"
import {
  ContactStore,
  CustomerNames,
  MessageStore,
  type PhoneNumber,
  type PhoneNumberStep,
  PhoneNumberStore,
  SenderBlock,
  TemplateStore
} from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import * as PhoneNumberFixture from "./PhoneNumberFixture.ts"

const { minute, world } = Fixture
const { detail, further, list, numberOf, observe, use } = PhoneNumberFixture

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("add stores a number as given, after the default number", () =>
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

  it.effect("add stores a number's own credentials in the same step, and nothing of a number that it refuses", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world()
      const credentials = {
        version: "one",
        accessToken: Fixture.sealed(1),
        baseUrl: "https://graph.example",
        apiVersion: "v26.0"
      }
      const { providerAccountId } = own.number
      const added = yield* further(own, { isDefault: true, providerAccountId })
      assert.isTrue(yield* use((store) => store.add(added, credentials)))
      assert.deepStrictEqual(yield* list(own), [
        { ...added, credentialsVersion: "one" },
        { ...own.number, isDefault: false }
      ])
      assert.deepStrictEqual(yield* use((store) => store.credentials(added.id)), Option.some(credentials))
      const { accepted } = yield* MessageFixture.claimed(own)
      assert.strictEqual(accepted.sender.credentialsVersion, "one")

      const { providerNumberId } = added
      for (const world of [own, other]) {
        const refused = yield* further(world, { providerNumberId })
        const later = { ...credentials, version: "two", accessToken: Fixture.sealed(2) }
        assert.isFalse(yield* use((store) => store.add(refused, later)))
        assert.deepStrictEqual(yield* use((store) => store.credentials(refused.id)), Option.none())
      }
      assert.isFalse(yield* use((store) => store.add(added, { ...credentials, version: "two" })))
      assert.deepStrictEqual(yield* use((store) => store.credentials(added.id)), Option.some(credentials))
      assert.deepStrictEqual(yield* list(other), [other.number])
      assert.deepStrictEqual(yield* use((store) => store.credentials(own.number.id)), Option.none())
    }))

  it.effect("adding a default number replaces the previous default", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { providerAccountId } = own.number
      const added = yield* further(own, { isDefault: true, providerAccountId })
      assert.isTrue(yield* use((store) => store.add(added)))
      assert.deepStrictEqual(yield* list(own), [added, { ...own.number, isDefault: false }])
      const { accepted } = yield* MessageFixture.claimed(own)
      assert.strictEqual(accepted.sender.id, added.id)
    }))

  it.effect("each provider of a workspace has a default number, by default its first", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const provider = "whatsapp"
      const { providerAccountId } = own.number
      const first = yield* further(own, { provider, providerAccountId })
      const second = yield* further(own, { provider, providerAccountId })
      const third = yield* further(own, { provider, providerAccountId, isDefault: true })
      for (const number of [first, second, third]) assert.isTrue(yield* use((store) => store.add(number)))
      assert.deepStrictEqual(yield* list(own), [own.number, third, { ...first, isDefault: false }, second])
      const { accepted } = yield* MessageFixture.claimed(own)
      assert.strictEqual(accepted.sender.id, own.number.id)
      const other = yield* MessageFixture.claimed(own, { provider })
      assert.strictEqual(other.accepted.sender.id, third.id)
    }))

  it.effect("assign moves a number to another account and provider, and leaves no provider without a default", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const further1 = yield* further(own)
      assert.isTrue(yield* use((store) => store.add(further1)))
      const to = { provider: "whatsapp", providerAccountId: "account" }
      const assign = (id: PhoneNumber.PhoneNumber["id"]) => use((store) => store.assign(id, to))
      yield* assign(own.number.id)
      yield* assign(own.number.id)
      const moved = { ...own.number, ...to }
      assert.deepStrictEqual(yield* list(own), [moved, { ...further1, isDefault: true }])
      // an existing default stays the default
      yield* assign(further1.id)
      assert.deepStrictEqual(yield* list(own), [moved, { ...further1, ...to }])
      yield* assign(yield* Fixture.id("pn"))
    }))

  it.effect("remove deletes a number with its contacts and records, and keeps its messages and events", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number, start, workspace } = own
      const beside = yield* world({ start })
      const next = yield* further(own)
      const elsewhere = yield* further(own)
      for (const added of [next, elsewhere]) assert.isTrue(yield* use((store) => store.add(added)))
      const userId = `US.${(yield* Fixture.word).replaceAll("-", "")}`
      const removed = yield* MessageFixture.inbound(own, { customer: { phone: MessageFixture.customer(1), userId } })
      const kept = yield* MessageFixture.inbound(own, {
        customer: MessageFixture.customer(2),
        providerNumberId: next.providerNumberId
      })
      const isNamed = ({ command: { messageId } }: typeof kept) =>
        Effect.map(MessageStore.MessageStore.use((store) => store.named(workspace.id, messageId)), Option.isSome)
      // only remembered, while customers' messages are kept
      const echoed = yield* MessageFixture.inbound(own, { isEcho: true })
      assert.deepStrictEqual([yield* isNamed(removed), yield* isNamed(kept), yield* isNamed(echoed)], [
        true,
        true,
        true
      ])
      const { command, messageId } = yield* MessageFixture.sent(own)
      const running = yield* MessageFixture.claimed(own)
      yield* use((store) =>
        store.setCredentials({
          now: start,
          id: number.id,
          credentials: { version: "one", accessToken: Fixture.sealed(1), baseUrl: null, apiVersion: null }
        })
      )
      const events = yield* MessageFixture.eventsOf(own)
      const message = yield* MessageFixture.messageOf(command)
      const remove = use((store) => store.remove(number.id))
      assert.deepStrictEqual([yield* remove, yield* remove], [true, false])

      assert.deepStrictEqual(yield* list(own), [{ ...next, isDefault: true }, elsewhere])
      assert.deepStrictEqual(yield* list(beside), [beside.number])
      assert.deepStrictEqual(yield* use((store) => store.credentials(number.id)), Option.none())
      assert.deepStrictEqual([yield* isNamed(removed), yield* isNamed(kept), yield* isNamed(echoed)], [
        true,
        true,
        false
      ])
      const contacts = yield* ContactStore.ContactStore.use((store) =>
        store.list(workspace.id, {}, { limit: 10, after: null })
      )
      assert.deepStrictEqual(contacts.items.map((contact) => [contact.phoneNumberId, contact.key]), [
        [next.id, CustomerNames.keyOf(MessageFixture.customer(2))]
      ])
      const templates = yield* TemplateStore.TemplateStore.use((store) =>
        store.list(workspace.id, {}, { limit: 10, after: null })
      )
      assert.deepStrictEqual(templates.items, [])
      assert.deepStrictEqual(yield* MessageFixture.messageOf(command), message)
      assert.deepStrictEqual(yield* MessageFixture.eventsOf(own), events)
      // no workspace has the number any more
      const { recorded } = yield* MessageFixture.inbound(own)
      assert.strictEqual(recorded, "unknown_number")
      const { providerNumberId } = number
      const told = { status: "delivered", at: start, reference: messageId, providerNumberId } as const
      assert.isFalse(yield* MessageFixture.report(told))

      // a send in flight ends like any other
      assert.isTrue(yield* MessageFixture.settle(running.command, yield* MessageFixture.acceptedOutcome))
      // added again, it is a number to which nobody has written
      const again = yield* further(own, { phoneNumber: number.phoneNumber, providerNumberId })
      assert.isTrue(yield* use((store) => store.add(again)))
      assert.strictEqual((yield* MessageFixture.inbound({ ...own, number: again })).recorded, "recorded")
    }))

  it.effect("remove leaves a claim that can be abandoned, and templates of an account with another number", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { id, providerAccountId }, start, workspace } = own
      assert.isTrue(
        yield* Effect.flatMap(further(own, { providerAccountId }), (next) => use((store) => store.add(next)))
      )
      const { command } = yield* MessageFixture.claimed(own)
      assert.isTrue(yield* use((store) => store.remove(id)))
      yield* MessageStore.MessageStore.use((store) => store.abandon({ ...command, now: start }))
      assert.strictEqual((yield* MessageFixture.lookUp(command))._tag, "Unbound")
      const templates = yield* TemplateStore.TemplateStore.use((store) =>
        store.list(workspace.id, {}, { limit: 10, after: null })
      )
      assert.lengthOf(templates.items, Fixture.templates.length)
    }))

  it.effect("the default passes to the oldest number that can send, else to an available one, else to the oldest", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const disabled = yield* further(own, { available: false })
      const blocked = yield* further(own)
      const next = yield* further(own)
      const last = yield* further(own)
      for (const added of [disabled, blocked, next, last]) assert.isTrue(yield* use((store) => store.add(added)))
      yield* observe({ providerNumberId: blocked.providerNumberId }, own.start, {
        block: SenderBlock.of("restricted", own.start, detail)
      })
      const defaults = Effect.map(list(own), (all) => all.filter(({ isDefault }) => isDefault).map(({ id }) => id))
      // a default is lost to another provider as it is by a removal
      yield* use((store) => store.assign(own.number.id, { provider: "whatsapp", providerAccountId: "account" }))
      assert.deepStrictEqual(yield* defaults, [own.number.id, next.id])
      for (const [removed, left] of [[next, last], [last, blocked], [blocked, disabled]] as const) {
        assert.isTrue(yield* use((store) => store.remove(removed.id)))
        assert.deepStrictEqual(yield* defaults, [own.number.id, left.id])
      }
    }))

  it.effect("a number that is removed during sends and inbound messages leaves nothing behind", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number, workspace } = own
      yield* Effect.forEach(Array.from({ length: 24 }, (_, i) => i), (i): Fixture.Step<unknown> => {
        const customer = MessageFixture.customer(i)
        if (i === 12) return use((store) => store.remove(number.id))
        return i % 2 === 0
          ? MessageFixture.accept(own, { message: MessageFixture.template({ to: customer }) })
          // a recording that comes too late fails, and the next one finds no such number
          : Effect.ignore(MessageFixture.inbound(own, { customer }))
      }, { concurrency: "unbounded", discard: true })
      assert.deepStrictEqual(yield* list(own), [])
      assert.deepStrictEqual(
        (yield* ContactStore.ContactStore.use((store) => store.list(workspace.id, {}, { limit: 10, after: null })))
          .items,
        []
      )
      const { accepted } = yield* MessageFixture.accept(own)
      assert.strictEqual(MessageFixture.describe(accepted), "forbidden/sender_not_available")
    }))

  it.effect("add refuses a known number, and changes nothing", () =>
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
      // a different provider id is a different number, even with the same digits
      const elsewhere = yield* further(other, { phoneNumber })
      assert.isTrue(yield* use((store) => store.add(elsewhere)))
    }))

  it.effect("of numbers that are added concurrently as the default, all are stored and one is the default", () =>
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

  it.effect("numbers are found in all workspaces by provider id, by account, and by digits within an account", () =>
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

  it.effect("configure changes only the given fields of one number", () =>
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

  it.effect("credentials are stored, replaced and removed, and accept returns their version", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world()
      const { id } = own.number
      const stored = use((store) => store.credentials(id))
      const set = (credentials: PhoneNumberStep.SealedCredentials | null) =>
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

  it.effect("new credentials lift a block for credentials, but no other and no later block", () =>
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
      // the report that lifted it is newer
      assert.isUndefined(yield* after("credentials", start))
      assert.strictEqual(yield* after("payment", start + minute), "payment")
      assert.strictEqual(yield* after("credentials", start + 2 * minute), "credentials")
    }))

  it.effect("of credentials that are set concurrently, one is stored as a whole, and accept returns its version", () =>
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
