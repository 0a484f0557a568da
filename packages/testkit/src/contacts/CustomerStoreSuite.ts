/**
 * Conformance of `CustomerStore`: which records of a customer are found, and what is left after they are erased.
 */
import { assert } from "@effect/vitest"
import {
  Campaign,
  CampaignStore,
  Capabilities,
  type Contact,
  ContactStore,
  CustomerRecords,
  CustomerStore,
  type E164,
  EventStore,
  Id,
  InboundPostStore,
  MessageStore,
  PhoneNumberStore,
  QueueStore,
  type Recipient,
  WebhookHealth
} from "@wac/core"
import { Effect, Option } from "effect"
import * as CampaignFixture from "../campaigns/CampaignFixture.ts"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import * as QueueFixture from "../queue/QueueFixture.ts"
import * as DeliveryFixture from "../webhooks/DeliveryFixture.ts"
import * as CustomerFixture from "./CustomerFixture.ts"

const { day, hour, world } = Fixture

const brazilian = "+5511987654321"
/** The same line, as its provider writes it. */
const brazilianWithoutNine = "+551187654321"
const other = MessageFixture.customer(2)
const file = Id.lowestAt("med", 7)

/** A message from a customer, with a file. */
const written = (own: Fixture.World, customer: Contact.Customer) =>
  MessageFixture.inbound(own, {
    customer,
    content: { type: "image", content: { media_id: file, mime_type: "image/png" } }
  })

const user = "BR.1234567890"

const namesOf = (own: Fixture.World, given: string) =>
  Effect.gen(function*() {
    const store = yield* CustomerStore.CustomerStore
    const first = CustomerRecords.namesOf(given, [])
    return CustomerRecords.namesOf(given, yield* store.contacts(own.workspace.id, first))
  })

const findIn = (own: Fixture.World, names: CustomerRecords.Names, place: CustomerRecords.Place) =>
  Effect.gen(function*() {
    const store = yield* CustomerStore.CustomerStore
    const found: Array<CustomerStore.Found> = []
    let after: string | null = null
    do {
      const step: { readonly found: ReadonlyArray<CustomerStore.Found>; readonly next: string | null } = yield* store
        .find({ workspaceId: own.workspace.id, names, place, after })
      found.push(...step.found)
      after = step.next
    } while (after !== null)
    return found
  })

const eraseAll = (own: Fixture.World, names: CustomerRecords.Names) =>
  Effect.forEach(
    CustomerRecords.places,
    (place) => Effect.map(CustomerFixture.erase(own, names, place), (erased) => [place, erased] as const)
  )

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a customer is found under every form of the number, and under the provider's id", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* written(own, { phone: brazilianWithoutNine, userId: user })
      for (const given of [brazilian, brazilianWithoutNine, user]) {
        const { keys, texts } = yield* namesOf(own, given)
        const prefixed = [brazilian, brazilianWithoutNine].map((form) => form.replace("+55", "+550"))
        assert.sameMembers([...texts], [brazilian, brazilianWithoutNine, ...prefixed, user])
        assert.include(keys, brazilian)
      }
      const foreign = yield* world()
      assert.deepStrictEqual((yield* namesOf(foreign, user)).texts, [user])
    }))

  it.effect("after a customer was erased, nothing of them is found, and everything of others stays", () =>
    Effect.gen(function*() {
      const [contacts, events, messages] = [
        yield* ContactStore.ContactStore,
        yield* EventStore.EventStore,
        yield* MessageStore.MessageStore
      ]
      const own = yield* world()
      const neighbour = yield* world({ start: own.start })
      yield* Fixture.putWebhook(own)
      yield* written(own, { phone: brazilianWithoutNine, userId: user })
      yield* written(own, { phone: other, userId: null })
      yield* written(neighbour, { phone: brazilianWithoutNine, userId: null })
      const sent = yield* MessageFixture.sent(own, {
        message: MessageFixture.template({ to: brazilian, clientReference: "order-7" })
      })
      const others = yield* MessageFixture.sent(own, { message: MessageFixture.template({ to: other }) })
      const { deliveries: claimed, token } = yield* DeliveryFixture.claim(own, { now: own.start, limit: 2 })
      for (const one of claimed) yield* DeliveryFixture.complete({ ...one, token }, { startedAt: own.start })
      const names = yield* namesOf(own, brazilian)

      const found = new Map(
        yield* Effect.forEach(
          CustomerRecords.places,
          (place) => Effect.map(findIn(own, names, place), (found) => [place, found.length] as const)
        )
      )
      assert.deepStrictEqual(Object.fromEntries(found), {
        deliveries: 2,
        events: 2,
        outbox: 0,
        messages: 1,
        campaignRows: 0,
        inboundMessages: 0,
        conversations: 1,
        posts: 0,
        contacts: 1
      })
      const named = (yield* findIn(own, names, "events")).flatMap((one) => one.place === "events" ? one.files : [])
      assert.deepStrictEqual(named, [file])
      const erased = Object.fromEntries(yield* eraseAll(own, names))
      for (const place of ["deliveries", "events", "messages", "contacts"]) {
        assert.strictEqual(erased[place]!.erased, found.get(place as CustomerRecords.Place), place)
      }
      assert.deepStrictEqual(erased["events"]!.files, [file])
      for (const place of CustomerRecords.places) assert.deepStrictEqual(yield* findIn(own, names, place), [], place)

      const message = Option.getOrThrow(yield* messages.get(own.workspace.id, sent.messageId))
      assert.deepInclude(message, { status: "sent", content: { to: "", type: "template", template: {} } as never })
      // the key still answers repeats, and the message is not sent again
      assert.strictEqual((yield* MessageFixture.lookUp(sent.command))._tag, "Answered")
      assert.deepStrictEqual(
        (yield* events.list(own.workspace.id, {}, { limit: 10, after: null })).items.map(({ data }) =>
          [data["from"], data["to"]].find((name) => name === other)
        ),
        [other, other]
      )
      assert.strictEqual((yield* DeliveryFixture.views(own)).length, 2)
      assert.strictEqual((yield* contacts.list(own.workspace.id, {}, { limit: 10, after: null })).items.length, 1)
      assert.strictEqual((yield* contacts.list(neighbour.workspace.id, {}, { limit: 10, after: null })).items.length, 1)
      assert.strictEqual((yield* MessageFixture.eventsOf(neighbour)).length, 1)
      assert.strictEqual(
        Option.getOrThrow(yield* messages.get(own.workspace.id, others.messageId)).content.to,
        other
      )
      // what is left to deliver is delivered
      const left = yield* DeliveryFixture.claim(own, { now: own.start + day })
      assert.isTrue(left.deliveries.every(({ event: { data } }) => data["to"] === other || data["from"] === other))
      for (const one of left.deliveries) {
        yield* DeliveryFixture.complete({ ...one, token: left.token }, { startedAt: own.start, outcome: "delivered" })
      }
      assert.deepStrictEqual(yield* DeliveryFixture.views(own, { status: "pending" }), [])
      // once its key is forgotten, the provider's id goes too
      yield* messages.sweep(own.start + 2 * day)
      assert.strictEqual((yield* CustomerFixture.erase(own, names, "messages")).erased, 1)
      assert.isNull(Option.getOrThrow(yield* messages.get(own.workspace.id, sent.messageId)).providerMessageId)
      assert.isFalse(
        yield* MessageFixture.report({
          status: "read",
          at: own.start + 2 * day,
          reference: null,
          providerMessageId: sent.providerMessageId
        })
      )
    }))

  it.effect("an event that is recorded during an erasure leaves no delivery, and the webhook continues", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const failing: WebhookHealth.WebhookHealth = {
        ...WebhookHealth.initial,
        consecutiveFailures: WebhookHealth.failingAfter,
        failuresSince: own.start - hour,
        lastFailure: { at: own.start - hour, message: "answered 500; only 200 counts" },
        lastAttemptAt: own.start - hour
      }
      // a failing webhook attempts one delivery at a time, so one that cannot be attempted would block the others
      yield* Fixture.putWebhook(own, { health: failing })
      const customer = { phone: brazilianWithoutNine, userId: user }
      yield* written(own, customer)
      const names = yield* namesOf(own, brazilian)
      assert.strictEqual((yield* CustomerFixture.erase(own, names, "deliveries")).erased, 1)
      yield* written(own, customer)
      assert.strictEqual((yield* CustomerFixture.erase(own, names, "events")).erased, 2)
      assert.deepStrictEqual(yield* DeliveryFixture.views(own), [])
      const { command } = yield* written(own, { phone: other, userId: null })
      assert.strictEqual((yield* CustomerFixture.erase(own, names, "deliveries")).erased, 0)
      const claimed = yield* DeliveryFixture.claimOne(own, { now: own.start + hour })
      assert.strictEqual(claimed.event.id, command.ids.events[0])
    }))

  it.effect("an event of an erased message is not blocked by an earlier event whose delivery is erased after it", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* Fixture.putWebhook(own)
      const { messageId } = yield* MessageFixture.sent(own, { message: MessageFixture.template({ to: brazilian }) })
      const names = yield* namesOf(own, brazilian)
      yield* CustomerFixture.erase(own, names, "messages")
      yield* CustomerFixture.erase(own, names, "conversations")
      yield* MessageFixture.report({ status: "delivered", at: own.start + 1, reference: messageId })
      const [first, second] = yield* DeliveryFixture.views(own)
      assert.deepStrictEqual([first!.delivery.sequence, second!.delivery.nextAttemptAt], [1, null])
      assert.strictEqual((yield* CustomerFixture.erase(own, names, "deliveries")).erased, 1)
      const claimed = yield* DeliveryFixture.claimOne(own, { now: own.start + hour })
      assert.strictEqual(claimed.delivery.id, second!.delivery.id)
    }))

  it.effect("what a number's former customer was sent and wrote stays theirs, and is not its new customer's", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world()
      yield* Fixture.putWebhook(own)
      const to = MessageFixture.customer(0)
      yield* CampaignFixture.running(own, 1)
      const [recipient] = yield* CampaignFixture.workAll(own, own.start)
      yield* CampaignFixture.sent(own, recipient!, own.start)
      const send = Effect.map(
        MessageFixture.sent(own, { message: MessageFixture.template({ to }) }),
        ({ messageId }) => messageId
      )
      const before = yield* send
      yield* MessageFixture.inbound(own, { customer: { phone: to, userId: "BR.1" } })
      yield* MessageFixture.inbound(own, { customer: { phone: to, userId: "BR.2" }, at: own.start + 1 })
      const after = yield* send
      const recordsOf = (given: string) =>
        Effect.gen(function*() {
          const names = yield* namesOf(own, given)
          const found = yield* findIn(own, names, "messages")
          const rest = yield* Effect.forEach(
            ["deliveries", "events", "conversations", "campaignRows"] as const,
            (place) => Effect.map(findIn(own, names, place), ({ length }) => length)
          )
          return [
            found.flatMap((one) => one.place === "messages" && one.id !== recipient!.message.id ? one.id : []),
            ...rest
          ]
        })
      assert.deepStrictEqual(yield* recordsOf("BR.1"), [[before], 3, 3, 1, 1])
      assert.deepStrictEqual(yield* recordsOf(to), [[after], 2, 2, 1, 0])
      yield* eraseAll(own, yield* namesOf(own, to))
      assert.deepStrictEqual(yield* recordsOf("BR.1"), [[before], 3, 3, 1, 1])
      const contentOf = (id: Id.MessageId) =>
        Effect.map(messages.get(own.workspace.id, id), (message) => Option.getOrThrow(message).content.to)
      assert.deepStrictEqual([yield* contentOf(before), yield* contentOf(after)], [to, ""])
      yield* eraseAll(own, yield* namesOf(own, "BR.1"))
      assert.strictEqual(yield* contentOf(before), "")
    }))

  it.effect("after a number was removed, a customer's conversation is found by the number, whatever name they wrote under", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const conversation = (given: string) =>
        Effect.gen(function*() {
          const names = yield* namesOf(own, given)
          const found = yield* Effect.forEach(
            ["messages", "events", "conversations"] as const,
            (place) => Effect.map(findIn(own, names, place), ({ length }) => length)
          )
          return found
        })
      const phone = MessageFixture.customer(0)
      yield* written(own, { phone: null, userId: "BR.1" })
      yield* MessageFixture.sent(own, { message: MessageFixture.template({ to: "BR.1" }) })
      yield* written(own, { phone: null, userId: "BR.2" })
      yield* written(own, { phone, userId: "BR.1", aliases: ["BR.2"] })
      yield* written(own, { phone: other, userId: "BR.3" })
      const before = yield* conversation(phone)
      assert.deepStrictEqual(before, [1, 4, 3])
      yield* PhoneNumberStore.PhoneNumberStore.use((store) => store.remove(own.number.id))
      assert.deepStrictEqual(yield* conversation(phone), before)
      assert.deepStrictEqual(yield* conversation(other), [0, 1, 1])
      yield* eraseAll(own, yield* namesOf(own, phone))
      for (const name of [phone, "BR.1", "BR.2"]) assert.deepStrictEqual(yield* conversation(name), [0, 0, 0], name)
      assert.deepStrictEqual(yield* conversation(other), [0, 1, 1])
    }))

  it.effect("a message in flight is reported as busy, and one that was not sent is deleted with its key", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const message = MessageFixture.template({ to: brazilian })
      const { command } = yield* MessageFixture.claimed(own, { message })
      const names = yield* namesOf(own, brazilian)
      assert.deepInclude(yield* CustomerFixture.erase(own, names, "messages"), { erased: 0, busy: 1 })
      yield* MessageFixture.settle(command, yield* MessageFixture.notSentOutcome)
      assert.deepInclude(yield* CustomerFixture.erase(own, names, "messages"), { erased: 1, busy: 0 })
      assert.strictEqual((yield* MessageFixture.lookUp(command))._tag, "Unbound")
    }))

  it.effect("a customer's rows and queued messages of a campaign are found, and the rows emptied", () =>
    Effect.gen(function*() {
      const store = yield* CampaignStore.CampaignStore
      const own = yield* world()
      const { id: workspaceId } = own.workspace
      const id = yield* Fixture.id("cmp")
      yield* store.create(Campaign.make({ id, workspaceId, createdAt: own.start }, {
        name: "Orders",
        template: { name: "plain", language: "en_US" }
      }))
      const rows = [brazilian, other].map((to) => ({ recipient: { to } }))
      yield* store.addRows({ workspaceId, id, rows, upload: "whole", isFirst: true, end: "add" })
      yield* store.change({ workspaceId, id, now: own.start, change: { _tag: "Check" } })
      const work = Effect.gen(function*() {
        return yield* store.work({
          now: own.start,
          limit: 10,
          limits: Fixture.roomy,
          rateCard: [],
          provider: own.number.provider,
          capabilities: Capabilities.all,
          messageIds: yield* Effect.replicateEffect(Fixture.id("msg"), 10),
          hashes: {},
          hashedFor: own.workspace.id,
          ids: yield* Fixture.eventIds
        })
      })
      while (Option.isSome(yield* work)) { /* until it is checked */ }
      const names = yield* namesOf(own, brazilian)
      assert.deepStrictEqual(yield* findIn(own, names, "campaignRows"), [
        { place: "campaignRows", campaignId: id, number: 1, row: rows[0]! }
      ])
      const { queued } = yield* CustomerFixture.erase(own, names, "messages")
      assert.strictEqual(queued.length, 1)
      const error = { code: "forbidden", reason: "customer_erased", message: "the customer was erased" }
      yield* QueueStore.QueueStore.use((queue) =>
        queue.end({
          now: own.start,
          messageId: queued[0]!,
          phoneNumberId: null,
          end: { _tag: "Skipped", error },
          ids: { events: [], deliveries: [] }
        })
      )
      assert.deepInclude(yield* CustomerFixture.erase(own, names, "messages"), { erased: 1, queued: [] })
      assert.strictEqual((yield* CustomerFixture.erase(own, names, "campaignRows")).erased, 1)
      assert.deepStrictEqual(yield* findIn(own, names, "campaignRows"), [])
      const campaign = Option.getOrThrow(yield* store.get(workspaceId, id))
      assert.deepInclude(campaign.counts, { queued: 1, skipped: 1 })
      const listed = yield* store.rows(workspaceId, id, { limit: 10, after: 0 })
      assert.deepStrictEqual(listed.map(({ message }) => message?.content.to), ["", other])
    }))

  it.effect("a customer's opt-outs are found without a contact, until the customer is erased", () =>
    Effect.gen(function*() {
      const store = yield* CustomerStore.CustomerStore
      const own = yield* world()
      const neighbour = yield* world({ start: own.start })
      const phoneNumberId = own.number.id
      const optOut = ({ workspace }: Fixture.World, name: string, phoneNumberId: Id.PhoneNumberId | null) =>
        CustomerFixture.choose({
          now: own.start,
          workspaceId: workspace.id,
          phoneNumberId,
          name,
          preference: "opt_out",
          source: "import"
        })
      yield* optOut(own, brazilianWithoutNine, phoneNumberId)
      yield* optOut(own, brazilian, null)
      yield* optOut(own, user, phoneNumberId)
      yield* optOut(own, other, null)
      yield* optOut(neighbour, brazilian, null)
      const found = (given: string) =>
        Effect.flatMap(namesOf(own, given), (names) => store.optOuts(own.workspace.id, names))
      const told = { at: own.start, source: "import" as const }
      assert.deepStrictEqual(yield* found(brazilianWithoutNine), [{ name: brazilian, phoneNumberId: null, ...told }])
      assert.deepStrictEqual(yield* found(user), [{ name: user, phoneNumberId, ...told }])
      yield* CustomerFixture.eraseContacts(own.workspace.id, brazilian, own.start)
      assert.deepStrictEqual(yield* found(brazilian), [])
      assert.strictEqual((yield* found(other)).length, 1)
    }))

  it.effect("a customer's rows with problems are found by the name that was read or quoted, and emptied", () =>
    Effect.gen(function*() {
      const store = yield* CampaignStore.CampaignStore
      const own = yield* world()
      const { id: workspaceId } = own.workspace
      const id = yield* Fixture.id("cmp")
      yield* store.create(Campaign.make({ id, workspaceId, createdAt: own.start }, {
        name: "Orders",
        template: { name: "plain", language: "en_US" }
      }))
      const problem = { reason: "malformed", message: "variables.name: expected fewer characters" } as const
      const rows: ReadonlyArray<Recipient.Row> = [
        { problem, line: 2, value: "(11) 98765-4321", customer: brazilian },
        { problem, line: 3, value: user },
        { problem, line: 4, value: other }
      ]
      yield* store.addRows({ workspaceId, id, rows, upload: "whole", isFirst: true, end: "add" })
      yield* written(own, { phone: brazilianWithoutNine, userId: user })
      const names = yield* namesOf(own, user)
      assert.deepStrictEqual(
        yield* findIn(own, names, "campaignRows"),
        [1, 2].map((number) => ({ place: "campaignRows", campaignId: id, number, row: rows[number - 1]! }))
      )
      assert.strictEqual((yield* CustomerFixture.erase(own, names, "campaignRows")).erased, 2)
      assert.deepStrictEqual(yield* findIn(own, names, "campaignRows"), [])
      const listed = yield* store.rows(workspaceId, id, { limit: 10, after: 0 })
      assert.deepStrictEqual(listed.map(({ value }) => value), [null, null, other])
    }))

  it.effect("a message that waits to be sent later is deleted with its place in the queue, unless it is being sent", () =>
    Effect.gen(function*() {
      const queue = yield* QueueStore.QueueStore
      const own = yield* world()
      yield* queue.release(null)
      const at = own.start + day
      const later = { sendAt: at }
      const queued = (to: E164.E164) => QueueFixture.queued(own, { later, message: MessageFixture.template({ to }) })
      const [one, sending, another] = [yield* queued(brazilian), yield* queued(brazilian), yield* queued(other)]
      const given = { message: sending.message, request: sending.command.request }
      const { command } = yield* QueueFixture.claim(own, given, at)
      const names = yield* namesOf(own, brazilian)
      assert.deepInclude(yield* CustomerFixture.erase(own, names, "messages"), { erased: 1, busy: 1, queued: [] })
      assert.strictEqual((yield* MessageFixture.lookUp(one.command))._tag, "Unbound")
      assert.strictEqual((yield* queue.backlog(own.workspace.id, at)).queued, 2)
      assert.isTrue(yield* MessageFixture.settle(command, yield* MessageFixture.notSentOutcome, at))
      assert.deepInclude(yield* CustomerFixture.erase(own, names, "messages"), { erased: 1, busy: 0, queued: [] })
      assert.strictEqual((yield* queue.backlog(own.workspace.id, at)).queued, 1)
      assert.deepStrictEqual((yield* QueueFixture.due(own, at)).map(({ message: { id } }) => id), [another.message.id])
    }))

  it.effect("a post of the customer's that cannot be read is found, and its bytes deleted", () =>
    Effect.gen(function*() {
      const posts = yield* InboundPostStore.InboundPostStore
      const own = yield* world()
      const provider = yield* Fixture.word
      const keep = (digit: string, from: string, number: string) =>
        posts.keep({
          provider,
          digest: digit.repeat(64),
          now: own.start,
          body: new TextEncoder().encode(JSON.stringify({ from, metadata: { phone_number_id: number } }))
        })
      const digits = brazilianWithoutNine.slice(1)
      yield* keep("a", digits, own.number.providerNumberId)
      yield* keep("b", digits, "another workspace's")
      yield* keep("c", `1${digits}`, own.number.providerNumberId)
      const names = yield* namesOf(own, brazilian)
      assert.deepInclude(yield* CustomerFixture.erase(own, names, "posts"), { erased: 0, busy: 1 })
      const claimed = yield* posts.claim({
        now: own.start,
        provider,
        token: "t",
        leaseUntil: own.start + day,
        limit: { posts: 10, bytes: 1_000_000 }
      })
      assert.strictEqual(claimed.length, 3)
      for (const { digest } of claimed) {
        yield* posts.release({ provider, digest, token: "t", now: own.start, problem: "unreadable", retryAt: null })
      }
      const found = yield* findIn(own, names, "posts")
      assert.deepStrictEqual(found.map((one) => one.place === "posts" && JSON.parse(one.body).from), [digits])
      assert.deepInclude(yield* CustomerFixture.erase(own, names, "posts"), { erased: 1, busy: 0 })
      assert.deepStrictEqual(yield* findIn(own, names, "posts"), [])
    }))

  it.effect("a processed post of the customer's is found as received, and its bytes deleted", () =>
    Effect.gen(function*() {
      const posts = yield* InboundPostStore.InboundPostStore
      const own = yield* world()
      const name = { provider: yield* Fixture.word, digest: "d".repeat(64) }
      const body = JSON.stringify({
        from: brazilianWithoutNine.slice(1),
        metadata: { phone_number_id: own.number.providerNumberId }
      })
      yield* posts.keep({ ...name, now: own.start, body: new TextEncoder().encode(body) })
      const limit = { posts: 10, bytes: 1_000_000 }
      yield* posts.claim({ now: own.start, provider: name.provider, token: "t", leaseUntil: own.start + day, limit })
      assert.isTrue(yield* posts.complete({ ...name, token: "t", now: own.start }))
      const names = yield* namesOf(own, brazilian)
      assert.deepStrictEqual(yield* findIn(own, names, "posts"), [
        { place: "posts", provider: name.provider, receivedAt: own.start, body }
      ])
      assert.deepInclude(yield* CustomerFixture.erase(own, names, "posts"), { erased: 1, busy: 0 })
      assert.deepStrictEqual(yield* findIn(own, names, "posts"), [])
    }))
}
