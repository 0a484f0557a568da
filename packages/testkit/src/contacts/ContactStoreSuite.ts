/**
 * Conformance of `ContactStore`: recorded messages, service windows, preferences, and the list of contacts.
 */
import { assert } from "@effect/vitest"
import { Contact, ContactStore, MessageStore, OptOutWords, type Page, PhoneNumberStore, Time } from "@wac/core"
import { Effect, Option, type Schema } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"

const { day, hour, minute, world } = Fixture
const { customer, eventsOf, inbound } = MessageFixture

const contactOf = ({ number, workspace }: Fixture.World, who = customer(1)) =>
  ContactStore.ContactStore.use((store) => store.get(workspace.id, number.id, who))

/** Follows the pages of contacts to the end. */
const follow = ({ workspace }: Fixture.World, filter: ContactStore.ContactFilter = {}, limit = 100) =>
  Effect.gen(function*() {
    const store = yield* ContactStore.ContactStore
    const contacts: Array<Contact.Contact> = []
    let after: string | null = null
    do {
      const page: Page.Page<Contact.Contact> = yield* store.list(workspace.id, filter, { limit, after })
      contacts.push(...page.items)
      after = page.next
    } while (after !== null)
    return contacts
  })

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a customer who never wrote has no contact", () =>
    Effect.gen(function*() {
      const own = yield* world()
      assert.deepStrictEqual(yield* contactOf(own), Option.none())
    }))

  it.effect("a text or button of the workspace's words sets the preference, and no other workspace's", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world()
      const store = yield* ContactStore.ContactStore
      assert.deepStrictEqual(yield* store.words(own.workspace.id), OptOutWords.noSettings)
      const words = { stopWords: ["Genug"], startWords: ["Weiter"], removed: ["Sair"] }
      yield* store.setWords(own.workspace.id, { ...words, removed: ["END"] })
      yield* store.setWords(own.workspace.id, words)
      assert.deepStrictEqual(yield* store.words(own.workspace.id), words)
      assert.deepStrictEqual(yield* store.words(other.workspace.id), OptOutWords.noSettings)
      const said = (world: Fixture.World, n: number, ...texts: ReadonlyArray<string>) =>
        Effect.gen(function*() {
          for (const [i, body] of texts.entries()) {
            const content = { type: "text", content: { body } }
            yield* inbound(world, { customer: customer(n), at: world.start + i, content })
          }
          return Option.getOrThrow(yield* contactOf(world, customer(n))).optedOut
        })
      assert.isTrue(yield* said(own, 1, "genug!"))
      assert.isFalse(yield* said(other, 1, "genug!"))
      assert.isFalse(yield* said(own, 2, "genug", "WEITER."))
      assert.isFalse(yield* said(own, 3, "sair"))
      assert.isTrue(yield* said(other, 3, "sair"))
      assert.isTrue(yield* said(own, 4, "Stop."))
      const pressed = { type: "button", content: { text: "Cancel", payload: "x" } }
      yield* inbound(own, { customer: customer(5), content: pressed })
      assert.isFalse(Option.getOrThrow(yield* contactOf(own, customer(5))).optedOut)
      yield* inbound(own, {
        customer: customer(5),
        content: { type: "button", content: { text: "PARAR", payload: "x" } }
      })
      assert.isTrue(Option.getOrThrow(yield* contactOf(own, customer(5))).optedOut)
    }))

  it.effect("recordInbound opens the window and writes message.received", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command, recorded } = yield* inbound(own, { at: own.start - 3, now: own.start })
      assert.strictEqual(recorded, "recorded")
      const expected = {
        workspaceId: own.workspace.id,
        phoneNumberId: own.number.id,
        key: customer(1),
        customer: { phone: customer(1), userId: null },
        isUserFirst: false,
        knownSince: own.start - 3,
        lastInboundAt: own.start - 3,
        optedOut: false,
        preferenceAt: null
      }
      assert.deepStrictEqual(yield* contactOf(own), Option.some(expected))
      const events = yield* eventsOf(own)
      assert.strictEqual(events.length, 1)
      const event = events[0]!
      assert.strictEqual(event.id, command.ids.events[0])
      assert.strictEqual(event.workspaceId, own.workspace.id)
      assert.strictEqual(event.type, "message.received")
      assert.strictEqual(event.createdAt, own.start)
      assert.deepStrictEqual(event.data, {
        message_id: command.messageId,
        provider_message_id: command.message.providerMessageId,
        from: customer(1),
        to: own.number.phoneNumber,
        type: "text",
        text: { body: "Hello, who is this?" },
        received_at: Time.iso(own.start - 3),
        late: false
      })
    }))

  it.effect("edits and revocations by a customer neither open nor renew the window", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const changes = [
        { type: "edit", content: { original_message_id: "wamid.1", message: { type: "text", text: { body: "B" } } } },
        { type: "revoke", content: { original_message_id: "wamid.1" } }
      ]
      for (const content of changes) {
        assert.strictEqual((yield* inbound(own, { content, at: own.start })).recorded, "recorded")
        assert.isNull(Option.getOrThrow(yield* contactOf(own)).lastInboundAt)
      }
      yield* inbound(own, { at: own.start + 1 })
      for (const content of changes) yield* inbound(own, { content, at: own.start + 2 })
      assert.strictEqual(Option.getOrThrow(yield* contactOf(own)).lastInboundAt, own.start + 1)
      const types = ["edit", "revoke", "text", "edit", "revoke"]
      assert.deepStrictEqual((yield* eventsOf(own)).map(({ data }) => data["type"]), types)
    }))

  it.effect("a text that is edited into a stop word opts out, and no edit ends an opt-out or opens a window", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const contact = (n: number) => Effect.map(contactOf(own, customer(n)), Option.getOrThrow)
      const say = (n: number, at: number, body: string) =>
        inbound(own, { customer: customer(n), at: own.start + at, content: { type: "text", content: { body } } })
      const edit = (n: number, at: number, message: { readonly type: string; readonly [field: string]: Schema.Json }) =>
        inbound(own, {
          customer: customer(n),
          at: own.start + at,
          content: { type: "edit", content: { original_message_id: "wamid.1", message } }
        })
      yield* say(1, 0, "STPO")
      yield* edit(1, 1, { type: "text", text: { body: "STOP" } })
      const stopped = { optedOut: true, lastInboundAt: own.start, preferenceAt: own.start + 1 }
      assert.deepInclude(yield* contact(1), stopped)
      yield* edit(1, 2, { type: "text", text: { body: "START" } })
      assert.deepInclude(yield* contact(1), stopped)
      yield* say(1, 3, "START")
      assert.isFalse((yield* contact(1)).optedOut)
      const others = [{ type: "text", text: { body: "Stop it, please" } }, { type: "unsupported" }, { type: "text" }]
      for (const [i, message] of others.entries()) yield* edit(2, i, message)
      assert.isFalse((yield* contact(2)).optedOut)
    }))

  it.effect("a row of a list counts as a button of the same text", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const choose = (n: number, title: string, id = "row_1") =>
        Effect.gen(function*() {
          const content = { type: "list_reply", list_reply: { id, title, description: "Stop" } }
          yield* inbound(own, { customer: customer(n), content: { type: "interactive", content } })
          return Option.getOrThrow(yield* contactOf(own, customer(n))).optedOut
        })
      assert.isTrue(yield* choose(1, "Unsubscribe"))
      assert.isTrue(yield* choose(2, "No more of this", "STOP"))
      assert.isFalse(yield* choose(3, "Cancel"))
      assert.isFalse(yield* choose(4, "At noon"))
    }))

  it.effect("a message from the business's own phone causes one event, no contact and no window", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const echo = { isEcho: true, providerMessageId: "wamid.echo" }
      const { command, recorded } = yield* inbound(own, echo)
      assert.strictEqual(recorded, "recorded")
      assert.strictEqual((yield* inbound(own, echo)).recorded, "duplicate")
      assert.isTrue(Option.isNone(yield* contactOf(own)))
      const [event, ...others] = yield* eventsOf(own)
      assert.isEmpty(others)
      assert.strictEqual(event?.type, "message.echoed")
      assert.deepStrictEqual(event?.data, {
        message_id: command.messageId,
        provider_message_id: "wamid.echo",
        from: own.number.phoneNumber,
        to: customer(1),
        type: "text",
        text: { body: "Hello, who is this?" },
        sent_at: Time.iso(own.start),
        late: false
      })
      assert.deepStrictEqual(
        yield* store.named(own.workspace.id, command.messageId),
        Option.some({
          messageId: command.messageId,
          phoneNumberId: own.number.id,
          customer: customer(1),
          providerMessageId: "wamid.echo",
          isOpen: false
        })
      )
    }))

  it.effect("recordInbound marks messages older than 15 minutes as late", () =>
    Effect.gen(function*() {
      const own = yield* world()
      for (const age of [15 * minute, 15 * minute + 1]) {
        yield* inbound(own, { at: own.start - age, now: own.start })
      }
      assert.deepStrictEqual((yield* eventsOf(own)).map(({ data }) => data["late"]), [false, true])
    }))

  it.effect("only newer messages move the window, in whatever order they arrive", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const lastInboundAt = Effect.map(contactOf(own), (contact) => Option.getOrThrow(contact).lastInboundAt)
      yield* inbound(own, { at: own.start })
      assert.strictEqual(yield* lastInboundAt, own.start)
      const { recorded } = yield* inbound(own, { at: own.start - hour, now: own.start + 1 })
      assert.strictEqual(recorded, "recorded")
      assert.strictEqual(yield* lastInboundAt, own.start)
      yield* inbound(own, { at: own.start + hour, now: own.start + day })
      assert.strictEqual(yield* lastInboundAt, own.start + hour)
    }))

  it.effect("a message from the future counts as now", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* inbound(own, { at: own.start + hour, now: own.start })
      assert.strictEqual(Option.getOrThrow(yield* contactOf(own)).lastInboundAt, own.start)
    }))

  it.effect("a preference is set and cleared, and stays if a message expresses none", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const optedOut = Effect.map(contactOf(own), (contact) => Option.getOrThrow(contact).optedOut)
      yield* inbound(own, { preference: "opt_out" })
      assert.isTrue(yield* optedOut)
      yield* inbound(own, { at: own.start + 1 })
      assert.isTrue(yield* optedOut)
      yield* inbound(own, { at: own.start + 2, preference: "opt_in" })
      assert.isFalse(yield* optedOut)
      yield* inbound(own, { at: own.start + 3 })
      assert.isFalse(yield* optedOut)
    }))

  it.effect("a message is recorded once by number and provider id, and a duplicate changes nothing", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world({ start: own.start })
      const providerMessageId = `wamid.${yield* Fixture.word}`
      yield* inbound(own, { providerMessageId })
      const before = yield* contactOf(own)
      const { recorded } = yield* inbound(own, {
        providerMessageId,
        at: own.start + hour,
        preference: "opt_out"
      })
      assert.strictEqual(recorded, "duplicate")
      assert.deepStrictEqual(yield* contactOf(own), before)
      assert.strictEqual((yield* eventsOf(own)).length, 1)
      // the same id on another number is another message
      const elsewhere = yield* inbound(other, { providerMessageId })
      assert.strictEqual(elsewhere.recorded, "recorded")
    }))

  it.effect("of 30 racing recordings of one message, exactly one counts", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* Fixture.putWebhook(own)
      const providerMessageId = `wamid.${yield* Fixture.word}`
      const results = yield* Effect.all(Array.from({ length: 30 }, () => inbound(own, { providerMessageId })), {
        concurrency: "unbounded"
      })
      assert.strictEqual(results.filter(({ recorded }) => recorded === "recorded").length, 1)
      assert.strictEqual(results.filter(({ recorded }) => recorded === "duplicate").length, 29)
      assert.strictEqual((yield* eventsOf(own)).length, 1)
    }))

  it.effect("racing messages of one customer leave the newest window", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* Effect.forEach(
        Array.from({ length: 20 }, (_, i) => (i * 7) % 20),
        (n) => inbound(own, { at: own.start + n, now: own.start + 20 }),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(Option.getOrThrow(yield* contactOf(own)).lastInboundAt, own.start + 19)
      assert.strictEqual((yield* eventsOf(own)).length, 20)
    }))

  it.effect("a message to an unknown number is refused, and nothing is stored", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command, recorded } = yield* inbound(own, { providerNumberId: `nobody-${yield* Fixture.word}` })
      assert.strictEqual(recorded, "unknown_number")
      assert.deepStrictEqual(yield* contactOf(own), Option.none())
      assert.deepStrictEqual(yield* eventsOf(own), [])
      // the number may become known later
      const later = yield* ContactStore.ContactStore.use((store) =>
        store.recordInbound({
          ...command,
          message: { ...command.message, providerNumberId: own.number.providerNumberId }
        })
      )
      assert.strictEqual(later, "recorded")
    }))

  it.effect("a contact belongs to one workspace, one number and one customer", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world({ start: own.start })
      yield* inbound(own, { preference: "opt_out" })
      assert.deepStrictEqual(yield* contactOf(own, customer(2)), Option.none())
      assert.deepStrictEqual(yield* contactOf(other), Option.none())
      const store = yield* ContactStore.ContactStore
      assert.deepStrictEqual(yield* store.get(other.workspace.id, own.number.id, customer(1)), Option.none())
      assert.deepStrictEqual(yield* store.get(own.workspace.id, other.number.id, customer(1)), Option.none())
    }))

  it.effect("accept sees the contact's current state", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const none = yield* MessageFixture.claimed(own)
      assert.strictEqual(none.accepted.contact, undefined)
      yield* inbound(own)
      const some = yield* MessageFixture.claimed(own)
      assert.deepStrictEqual(some.accepted.contact, Option.getOrUndefined(yield* contactOf(own)))
      // messaging a customer is no sign that they wrote
      const messages = yield* MessageStore.MessageStore
      assert.isTrue(Option.isSome(yield* messages.get(own.workspace.id, some.command.messageId)))
      assert.strictEqual(Option.getOrThrow(yield* contactOf(own)).lastInboundAt, own.start)
    }))

  it.effect("list returns contacts in the order of their numbers, in pages without gap or repetition, as get does", () =>
    Effect.gen(function*() {
      const store = yield* ContactStore.ContactStore
      const own = yield* world()
      assert.deepStrictEqual(yield* follow(own), [])
      for (const n of [4, 1, 5, 2, 3]) yield* inbound(own, { customer: customer(n) })
      const ids = [1, 2, 3, 4, 5].map((n) => Contact.placeOf({ phoneNumberId: own.number.id, key: customer(n) }))
      for (const limit of [1, 2, 5, 100]) {
        assert.deepStrictEqual((yield* follow(own, {}, limit)).map(Contact.idOf), ids)
      }
      const [first] = yield* follow(own)
      assert.deepStrictEqual(yield* contactOf(own), Option.some(first!))
      const page = yield* store.list(own.workspace.id, {}, { limit: 5, after: null })
      assert.strictEqual(page.next, null)
      // customers who write meanwhile are not missed
      const one = yield* store.list(own.workspace.id, {}, { limit: 2, after: null })
      yield* inbound(own, { customer: customer(5), at: own.start + hour })
      yield* inbound(own, { customer: customer(1), at: own.start + hour })
      const rest = yield* store.list(own.workspace.id, {}, { limit: 5, after: one.next })
      assert.deepStrictEqual(rest.items.map(Contact.idOf), ids.slice(2))
    }))

  it.effect("list can be limited to one number, and always to one workspace", () =>
    Effect.gen(function*() {
      const store = yield* ContactStore.ContactStore
      const own = yield* world()
      const other = yield* world({ start: own.start })
      const second = yield* Fixture.phoneNumber(own.workspace.id, { isDefault: false })
      yield* PhoneNumberStore.PhoneNumberStore.use((numbers) => numbers.add(second))
      const numbers = [own.number, second]
      for (const { providerNumberId } of numbers) {
        for (const n of [1, 2, 3]) yield* inbound(own, { customer: customer(n), providerNumberId })
      }
      assert.strictEqual((yield* follow(own, {}, 2)).length, 6)
      for (const { id } of numbers) {
        for (const limit of [1, 2, 3, 100]) {
          const contacts = yield* follow(own, { phoneNumberId: id }, limit)
          assert.deepStrictEqual(
            contacts.map(({ key, phoneNumberId }) => [phoneNumberId, key]),
            [1, 2, 3].map((n) => [id, customer(n)])
          )
        }
        assert.deepStrictEqual(yield* follow(other, { phoneNumberId: id }), [])
      }
      // wherever the page begins
      const [least, greatest] = numbers.map(({ id }) => id).toSorted()
      const listed = (phoneNumberId: typeof least, after: string) =>
        Effect.map(
          store.list(own.workspace.id, { phoneNumberId: phoneNumberId! }, { limit: 2, after }),
          ({ items }) => items.length
        )
      assert.strictEqual(yield* listed(greatest, Contact.placeOf({ phoneNumberId: least!, key: customer(1) })), 2)
      assert.strictEqual(yield* listed(least, Contact.placeOf({ phoneNumberId: greatest!, key: customer(1) })), 0)
      assert.deepStrictEqual(yield* follow(other), [])
    }))

  it.effect("list includes customers without a number, and a merged customer once", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const userId = "US.13491208655302741918"
      yield* inbound(own, { customer: { phone: null, userId } })
      const [contact] = yield* follow(own)
      assert.deepStrictEqual([contact!.key, contact!.customer], [userId, { phone: null, userId }])
      assert.deepStrictEqual(Contact.named(Contact.idOf(contact!)), { phoneNumberId: own.number.id, name: userId })
      yield* inbound(own, { customer: customer(2) })
      yield* inbound(own, { customer: { phone: customer(1), userId }, at: own.start + hour })
      // in the order of numbers, whatever its id is made of
      const [merged, other, ...more] = yield* follow(own, {}, 1)
      assert.deepStrictEqual([merged!.key, other!.key, more], [customer(1), customer(2), []])
      assert.deepStrictEqual(Contact.named(Contact.idOf(merged!)), { phoneNumberId: own.number.id, name: userId })
    }))
}
