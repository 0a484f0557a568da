/**
 * Conformance of `MessageStore.conversation`: what was sent to customers and what they wrote, in one order.
 */
import { assert } from "@effect/vitest"
import {
  type Contact,
  ContactStore,
  type Conversation,
  CustomerNames,
  CustomerRecords,
  type Id,
  type Message,
  MessageStore,
  NumberPart,
  type Page,
  type ReceivedMessage
} from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as Forgetting from "../Forgetting.ts"
import * as SeededRandom from "../SeededRandom.ts"
import * as MessageFixture from "./MessageFixture.ts"

const { hour, world } = Fixture
const { customer, inbound, sent, template } = MessageFixture

/** Follows the pages of a customer's conversation to the end. */
const follow = (
  { workspace }: Fixture.World,
  name: string,
  direction?: Conversation.Direction,
  limit = 100
) =>
  Effect.gen(function*() {
    const store = yield* MessageStore.MessageStore
    const known = yield* ContactStore.ContactStore.use((contacts) => contacts.named(workspace.id, name))
    const names = CustomerRecords.namesOf(name, known).texts
    const entries: Array<Conversation.Entry> = []
    let after: string | null = null
    do {
      const page: Page.Page<Conversation.Entry> = yield* store.conversation(
        workspace.id,
        { names, direction },
        { limit, after }
      )
      assert.isAtMost(page.items.length, limit)
      entries.push(...page.items)
      after = page.next
    } while (after !== null)
    return entries
  })

const idsOf = (entries: ReadonlyArray<Conversation.Entry>) => entries.map(({ message: { id } }) => id)

const send = (own: Fixture.World, to: string, message?: Message.OutboundMessage) =>
  Effect.map(sent(own, { message: message ?? template({ to }) }), ({ messageId }) => messageId)

const write = (own: Fixture.World, who: Contact.Customer | string, at = own.start) =>
  Effect.map(inbound(own, { customer: who, at, now: own.start }), ({ command }) => command.messageId)

const tell = (own: Fixture.World, who: Contact.Customer, at = own.start) =>
  ContactStore.ContactStore.use((store) =>
    store.recordNames({
      now: at,
      hashes: MessageFixture.hashesOf(who),
      providerNumberId: own.number.providerNumberId,
      customer: who,
      at
    })
  )

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a conversation has both directions newest first, in pages without gap or repetition", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const ids = [
        yield* send(own, customer(1)),
        yield* write(own, customer(1)),
        yield* write(own, customer(1), own.start - hour),
        yield* send(own, customer(1))
      ].toReversed()
      yield* send(own, customer(2))
      yield* write(own, customer(2))
      for (const limit of [1, 2, 3, 100]) {
        assert.deepStrictEqual(idsOf(yield* follow(own, customer(1), undefined, limit)), ids)
      }
      assert.deepStrictEqual(idsOf(yield* follow(own, customer(1), "outbound", 1)), [ids[0], ids[3]])
      assert.deepStrictEqual(idsOf(yield* follow(own, customer(1), "inbound", 1)), [ids[1], ids[2]])
      assert.deepStrictEqual(yield* follow(own, customer(3)), [])
      const other = yield* world({ start: own.start })
      assert.deepStrictEqual(yield* follow(other, customer(1)), [])
    }))

  it.effect("what any customer wrote is listed newest first, in pages", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      yield* write(yield* world({ start: own.start }), customer(1))
      const first = yield* write(own, customer(1))
      yield* send(own, customer(1))
      const second = yield* write(own, customer(2))
      const page = (after: string | null, limit = 1) =>
        store.conversation(own.workspace.id, { names: undefined, direction: "inbound" }, { limit, after })
      const { items, next } = yield* page(null)
      assert.deepStrictEqual(idsOf(items), [second])
      assert.deepStrictEqual(idsOf((yield* page(next)).items), [first])
      assert.deepStrictEqual(idsOf((yield* page(null, 10)).items), [second, first])
    }))

  it.effect("the numbers of customers are found by a part that they begin with, after a country code or with it", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const numbers = ["+15551240007", "+15551240008", "+15551340001", "+5551240001", "+491555124123"]
      for (const to of numbers) yield* send(own, to)
      yield* send(own, numbers[0]!)
      yield* write(own, numbers[0]!)
      yield* write(own, { phone: null, userId: "US.5551240001" })
      yield* send(yield* world({ start: own.start }), "+15551249999")
      const found = (text: string, limit = 10) =>
        Effect.map(
          store.numbersWith(own.workspace.id, NumberPart.read(text), limit),
          (names) => [...names].sort()
        )
      assert.deepStrictEqual(yield* found("(555) 124-"), [
        "+15551240007",
        "+15551240008",
        "+491555124123",
        "+5551240001"
      ])
      assert.deepStrictEqual(yield* found("+1555124"), ["+15551240007", "+15551240008"])
      assert.deepStrictEqual(yield* found("0055599"), [])
      assert.deepStrictEqual(yield* found("005551"), ["+5551240001"])
      assert.deepStrictEqual(yield* found("15551240007"), ["+15551240007"])
      assert.deepStrictEqual(yield* found("0155 512 41"), ["+491555124123"])
      assert.strictEqual((yield* found("555124", 2)).length, 2)
      assert.deepStrictEqual(yield* found("9999"), [])
    }))

  it.effect("an entry is the message as it is stored now, and a customer's message is found by its id", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const out = yield* send(own, customer(1))
      yield* MessageFixture.report({ status: "read", at: own.start, reference: out })
      const who = { phone: customer(1), userId: "US.1" }
      const { command } = yield* inbound(own, { customer: who, at: own.start - 5, now: own.start })
      const received: ReceivedMessage.ReceivedMessage = {
        id: command.messageId,
        workspaceId: own.workspace.id,
        phoneNumberId: own.number.id,
        providerMessageId: command.message.providerMessageId,
        from: customer(1),
        fromUserId: "US.1",
        to: own.number.phoneNumber,
        type: "text",
        content: { body: "Hello, who is this?" },
        context: null,
        receivedAt: own.start - 5
      }
      const message = Option.getOrThrow(yield* store.get(own.workspace.id, out))
      assert.strictEqual(message.status, "read")
      assert.deepStrictEqual<ReadonlyArray<Conversation.Entry>>(yield* follow(own, "US.1"), [
        { direction: "inbound", message: received },
        { direction: "outbound", message }
      ])
      assert.deepStrictEqual(yield* store.received(own.workspace.id, command.messageId), Option.some(received))
      assert.deepStrictEqual(yield* store.received(own.workspace.id, out), Option.none())
      assert.deepStrictEqual(yield* store.get(own.workspace.id, command.messageId), Option.none())
      const other = yield* world({ start: own.start })
      assert.deepStrictEqual(yield* store.received(other.workspace.id, command.messageId), Option.none())
    }))

  it.effect("a repeated message, and one from the business's own phone, is not in the conversation again", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command } = yield* inbound(own, { providerMessageId: "wamid.once" })
      yield* inbound(own, { providerMessageId: "wamid.once" })
      yield* inbound(own, { isEcho: true })
      assert.deepStrictEqual(idsOf(yield* follow(own, customer(1))), [command.messageId])
    }))

  it.effect("a send that was abandoned is not in the conversation, and one that failed is", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const { command } = yield* MessageFixture.claimed(own, { message: template({ to: customer(1) }) })
      assert.lengthOf(yield* follow(own, customer(1)), 1)
      yield* store.abandon(command)
      assert.deepStrictEqual(yield* follow(own, customer(1)), [])
      const again = yield* MessageFixture.claimed(own, { message: template({ to: customer(1) }) })
      yield* MessageFixture.settle(again.command, yield* MessageFixture.notSentOutcome)
      assert.lengthOf(yield* follow(own, customer(1)), 1)
      // another try of the same message
      yield* store.accept(again.command)
      assert.lengthOf(yield* follow(own, customer(1)), 1)
    }))

  it.effect("two contacts that are merged have one conversation, under every name", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const ids = [
        yield* send(own, "+5511987654321"),
        yield* write(own, "+551187654321"),
        yield* write(own, { phone: null, userId: "BR.1" })
      ].toReversed()
      assert.lengthOf(yield* follow(own, "BR.1"), 1)
      yield* tell(own, { phone: "+551187654321", userId: "BR.1" })
      for (const name of ["+5511987654321", "BR.1"]) assert.deepStrictEqual(idsOf(yield* follow(own, name)), ids)
    }))

  it.effect("a number that was given to somebody else leaves its conversation with whom it was", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const sentTo = yield* send(own, customer(1))
      const first = yield* write(own, { phone: customer(1), userId: "US.1" })
      const newer = yield* write(own, { phone: customer(1), userId: "US.2" }, own.start + 1)
      const later = yield* send(own, customer(1))
      assert.deepStrictEqual(idsOf(yield* follow(own, customer(1))), [later, newer])
      assert.deepStrictEqual(idsOf(yield* follow(own, "US.2")), [later, newer])
      assert.deepStrictEqual(idsOf(yield* follow(own, "US.1")), [first, sentTo])
      const customers = yield* Effect.forEach(
        [first, newer],
        (id) => Effect.map(store.named(own.workspace.id, id), (named) => Option.getOrThrow(named).customer)
      )
      assert.deepStrictEqual(customers, ["US.1", customer(1)], "each can be quoted in its own conversation")
    }))

  it.effect("a message can still get the provider's id until it is sent or failed", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const isOpen = (id: Id.MessageId) =>
        Effect.map(store.named(own.workspace.id, id), (named) => Option.getOrThrow(named).isOpen)
      const found: Array<readonly [string, boolean, boolean]> = []
      for (const end of yield* MessageFixture.everyOutcome(own.start)) {
        const { command } = yield* MessageFixture.claimed(own)
        const before = yield* isOpen(command.messageId)
        yield* MessageFixture.settle(command, end)
        found.push([end._tag, before, yield* isOpen(command.messageId)])
      }
      assert.sameDeepMembers(found, [
        ["Accepted", true, false],
        ["Refused", true, false],
        ["NotSent", true, true],
        ["Unknown", true, true]
      ])
      assert.isFalse(yield* isOpen(yield* write(own, customer(1))))
    }))

  it.effect("a message that arrives once its number is somebody else's is in its writer's conversation only", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const newer = yield* write(own, { phone: customer(1), userId: "US.2" })
      const late = yield* write(own, { phone: customer(1), userId: "US.1" }, own.start - hour)
      for (const name of [customer(1), "US.2"]) assert.deepStrictEqual(idsOf(yield* follow(own, name)), [newer])
      assert.deepStrictEqual(idsOf(yield* follow(own, "US.1")), [late])
      // from the number that its writer had before
      const last = yield* write(own, { phone: customer(3), userId: "US.3" })
      const before = yield* write(own, { phone: customer(2), userId: "US.3" }, own.start - hour)
      for (const name of [customer(3), "US.3"]) {
        assert.deepStrictEqual(idsOf(yield* follow(own, name)), [before, last])
      }
      assert.deepStrictEqual(yield* follow(own, customer(2)), [])
    }))

  it.effect.each(Array.from({ length: 4 }, (_, i) => ({ seed: i + 1 })))(
    "whatever numbers customers had, what each wrote opens their window and is in their conversation only, seed $seed",
    ({ seed }) =>
      Effect.gen(function*() {
        const random = SeededRandom.make(seed)
        const own = yield* world()
        const phones = [customer(1), customer(2), customer(3)]
        const people = ["US.1", "US.2", "US.3"]
        const written = new Map<string, Array<string>>(people.map((userId) => [userId, []]))
        const lastAt = new Map<string, number>()
        for (let i = 0; i < 30; i++) {
          const [phone, userId] = [random.pick([...phones, null]), random.pick(people)]
          if (phone !== null && random.below(3) === 0) yield* tell(own, { phone, userId }, own.start + 1000 * i)
          // some arrive late
          const at = own.start + 1000 * i - random.often(0, 5000, 20_000)
          const { command } = yield* inbound(own, {
            customer: phone === null ? { phone, userId } : { phone, userId },
            at,
            now: own.start + 1000 * i
          })
          written.get(userId)!.push(command.messageId)
          lastAt.set(userId, Math.max(at, lastAt.get(userId) ?? at))
        }
        const known = (name: string) =>
          ContactStore.ContactStore.use((store) =>
            store.get(own.workspace.id, own.number.id, CustomerNames.keyOf(name))
          )
        for (const [userId, ids] of written) {
          assert.deepStrictEqual(idsOf(yield* follow(own, userId)).toSorted(), ids.toSorted(), userId)
          const window = Option.map(yield* known(userId), ({ lastInboundAt }) => lastInboundAt)
          assert.deepStrictEqual(Option.getOrNull(window), lastAt.get(userId) ?? null, userId)
        }
        for (const phone of phones) {
          for (const { customer, lastInboundAt } of Option.toArray(yield* known(phone))) {
            assert.strictEqual(lastInboundAt, lastAt.get(customer.userId ?? "") ?? null, phone)
          }
          const ids = idsOf(yield* follow(own, phone))
          const whose = people.filter((userId) => ids.some((id) => written.get(userId)!.includes(id)))
          assert.isAtMost(whose.length, 1, `${phone} has messages of ${whose.join()}`)
        }
      })
  )

  it.effect("a customer who moves to another number takes the conversation along", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const ids = [yield* send(own, customer(1)), yield* write(own, customer(1))].toReversed()
      const [from, to] = [MessageFixture.customerOf(customer(1)), MessageFixture.customerOf(customer(2))]
      yield* ContactStore.ContactStore.use((store) =>
        store.move({
          now: own.start,
          hashes: MessageFixture.hashesOf(from, to),
          providerNumberId: own.number.providerNumberId,
          from,
          to,
          at: own.start
        })
      )
      assert.deepStrictEqual(idsOf(yield* follow(own, customer(2))), ids)
      assert.deepStrictEqual(yield* follow(own, customer(1)), [])
      // and so does one whose new number comes with the user id
      yield* write(own, { phone: customer(2), userId: "US.7" }, own.start + 1)
      yield* write(own, { phone: customer(3), userId: "US.7" }, own.start + 2)
      assert.lengthOf(yield* follow(own, customer(3)), 4)
      assert.deepStrictEqual(yield* follow(own, customer(2)), [])
    }))

  it.effect("customers' messages are deleted by their age, as messages are, and what they said by its own", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const { message } = (yield* inbound(own, { customer: customer(2) })).command
      const recorded = (at: number, providerMessageId: string) =>
        Effect.gen(function*() {
          const command = {
            now: own.start,
            hashes: MessageFixture.hashesOf(MessageFixture.customerOf(customer(1))),
            messageId: Fixture.idAt("msg", at),
            message: { ...message, customer: MessageFixture.customerOf(customer(1)), providerMessageId },
            ids: yield* Fixture.eventIds
          }
          yield* ContactStore.ContactStore.use((contacts) => contacts.recordInbound(command))
          return command.messageId
        })
      const old = yield* recorded(own.start, "wamid.old")
      yield* recorded(own.start + 2 * hour, "wamid.young")
      const found = Effect.map(
        follow(own, customer(1), "inbound"),
        (entries) => entries.map(({ message }) => (message as ReceivedMessage.ReceivedMessage).content)
      )
      const said = message.content
      assert.deepStrictEqual<unknown>(yield* found, [said, said])
      yield* Forgetting.all(store.forgetBodies(own.start + hour))
      assert.deepStrictEqual<unknown>(yield* found, [said, {}])
      yield* Forgetting.all(store.forget(own.start + hour))
      assert.deepStrictEqual<unknown>(yield* found, [said])
      assert.deepStrictEqual(yield* store.received(own.workspace.id, old), Option.none())
    }))
}
