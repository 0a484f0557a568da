/**
 * Conformance of `MessageStore.list`: its pages and its filters.
 */
import { assert } from "@effect/vitest"
import { Id, type Message, MessageStore, type Page } from "@wac/core"
import { Effect, Option } from "effect"
import * as CampaignFixture from "../campaigns/CampaignFixture.ts"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "./MessageFixture.ts"

const { second, world } = Fixture
const { claimed, customer, sent, settle } = MessageFixture

const page = ({ workspace }: Fixture.World, filter: MessageStore.MessageFilter, request: Page.PageRequest) =>
  MessageStore.MessageStore.use((store) => store.list(workspace.id, filter, request))

/** Follows the pages to the end. */
const follow = (own: Fixture.World, filter: MessageStore.MessageFilter = {}, limit = 100) =>
  Effect.gen(function*() {
    const messages: Array<Message.Message> = []
    let after: string | null = null
    do {
      const { items, next }: Page.Page<Message.Message> = yield* page(own, filter, { limit, after })
      messages.push(...items)
      after = next
    } while (after !== null)
    return messages
  })

const idsOf = (messages: ReadonlyArray<Message.Message>) => messages.map(({ id }) => id)

/** Sends to three customers in turn. Returns the ids, oldest first. */
const some = (own: Fixture.World, count: number) =>
  Effect.forEach(
    Array.from({ length: count }, (_, i) => i),
    (i) =>
      Effect.map(
        sent(own, { now: own.start + i * 10, message: MessageFixture.template({ to: customer(i % 3) }) }),
        ({ messageId }) => messageId
      )
  )

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("list returns messages newest first, in pages without gap or repetition, as get does", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      assert.deepStrictEqual(yield* page(own, {}, { limit: 10, after: null }), { items: [], next: null })
      const ids = yield* some(own, 7)
      const newest = ids.toReversed()
      for (const limit of [1, 3, 7, 100]) assert.deepStrictEqual(idsOf(yield* follow(own, {}, limit)), newest)
      assert.strictEqual((yield* page(own, {}, { limit: 7, after: null })).next, null)
      const [first] = yield* follow(own)
      assert.deepStrictEqual(yield* store.get(own.workspace.id, ids.at(-1)!), Option.some(first!))
      // messages that arrive meanwhile do not shift the remaining pages
      const one = yield* page(own, {}, { limit: 3, after: null })
      yield* sent(own)
      const two = yield* page(own, {}, { limit: 3, after: one.next })
      assert.deepStrictEqual(idsOf(two.items), newest.slice(3, 6))
    }))

  it.effect("list finds messages by client reference and by creation time, in pages like every filter", () =>
    Effect.gen(function*() {
      // a message is created when its id is; ids do not go back from the latest time that a test's clock has shown
      const own = yield* world({ start: Id.timeOf(yield* Fixture.id("msg")) })
      const other = yield* world()
      const ids = yield* Effect.forEach(
        Array.from({ length: 6 }, (_, i) => i),
        (i) =>
          Effect.map(
            sent(own, {
              now: own.start + i * 10,
              message: MessageFixture.template(i === 5 ? {} : { clientReference: `order-${i % 2}` })
            }),
            ({ messageId }) => messageId
          )
      )
      yield* sent(other, { message: MessageFixture.template({ clientReference: "order-0" }) })
      const at = (...indexes: ReadonlyArray<number>) => indexes.map((i) => ids[i]!)
      const found = (filter: MessageStore.MessageFilter) => Effect.map(follow(own, filter, 1), idsOf)
      assert.deepStrictEqual(yield* found({ clientReference: "order-0" }), at(4, 2, 0))
      assert.deepStrictEqual(yield* found({ clientReference: "order" }), [])
      assert.deepStrictEqual(yield* found({ since: own.start + 20 }), at(5, 4, 3, 2))
      assert.deepStrictEqual(yield* found({ until: own.start + 20 }), at(1, 0))
      assert.deepStrictEqual(yield* found({ since: own.start + 10, until: own.start + 30 }), at(2, 1))
      assert.deepStrictEqual(
        yield* found({ clientReference: "order-1", since: own.start + 20, status: "sent" }),
        at(3)
      )
    }))

  it.effect("list leaves out the messages of a campaign until a person starts it, and if it is cancelled before", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const sends = (yield* some(own, 2)).toReversed()
      const campaign = yield* CampaignFixture.ready(own, 3)
      const listed = (filter?: MessageStore.MessageFilter) => Effect.map(follow(own, filter, 2), idsOf)
      assert.deepStrictEqual(yield* listed(), sends)
      assert.deepStrictEqual(yield* listed({ status: "queued" }), [])
      assert.deepStrictEqual(yield* listed({ to: [customer(1)] }), sends.slice(0, 1))
      const change = (tag: "Start" | "Pause" | "Cancel") => CampaignFixture.changed(campaign, own.start, { _tag: tag })
      yield* CampaignFixture.changed(campaign, own.start, {
        _tag: "Edit",
        plan: { startAt: own.start + Fixture.hour }
      })
      for (const [tag, status] of [["Start", "scheduled"], ["Pause", "paused"]] as const) {
        assert.strictEqual((yield* change(tag)).status, status)
        assert.lengthOf(yield* listed(), 5)
        assert.lengthOf(yield* listed({ status: "queued" }), 3)
      }
      yield* change("Cancel")
      yield* CampaignFixture.workAll(own, own.start)
      assert.deepStrictEqual(yield* listed(), sends)
      yield* CampaignFixture.running(own, 2)
      assert.lengthOf(yield* listed(), 4)
    }))

  it.effect("list finds messages by their present status", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const ids = yield* some(own, 4)
      const at = own.start + second
      yield* MessageFixture.report({ status: "delivered", at, reference: ids[1]! })
      yield* MessageFixture.report({ status: "read", at, reference: ids[2]! })
      yield* MessageFixture.report({ status: "failed", at, reference: ids[3]! })
      const { command: sending } = yield* claimed(own)
      const { command: unknown } = yield* claimed(own)
      yield* settle(unknown, { _tag: "Unknown" })
      const { command: later } = yield* MessageFixture.accept(own, { later: { sendAt: at } })
      const { command: cancelled } = yield* MessageFixture.accept(own, { later: { sendAt: at } })
      yield* MessageStore.MessageStore.use((store) =>
        store.cancel({
          now: own.start,
          workspaceId: own.workspace.id,
          messageId: cancelled.messageId,
          boundTo: null,
          enqueued: MessageFixture.enqueued
        })
      )
      const expected: { readonly [status in Message.MessageStatus]: ReadonlyArray<Id.MessageId> } = {
        queued: [later.messageId],
        sending: [sending.messageId],
        unknown: [unknown.messageId],
        sent: [ids[0]!],
        delivered: [ids[1]!],
        read: [ids[2]!],
        failed: [ids[3]!],
        skipped: [],
        cancelled: [cancelled.messageId]
      }
      for (const [status, found] of Object.entries(expected)) {
        assert.deepStrictEqual(idsOf(yield* follow(own, { status: status as Message.MessageStatus }, 1)), found)
      }
    }))

  it.effect("list finds messages by any of several names of the recipient, by status, and by both", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const ids = yield* some(own, 7)
      const to = [customer(1)]
      assert.deepStrictEqual(idsOf(yield* follow(own, { to }, 1)), [ids[4]!, ids[1]!])
      yield* MessageFixture.report({ status: "read", at: own.start + second, reference: ids[1]! })
      assert.deepStrictEqual(idsOf(yield* follow(own, { to, status: "read" })), [ids[1]!])
      assert.deepStrictEqual(yield* follow(own, { to, status: "failed" }), [])
      assert.deepStrictEqual(idsOf(yield* follow(own, { to: ["+1", ...to] })), [ids[4]!, ids[1]!])
      assert.deepStrictEqual(yield* follow(own, { to: ["+1"] }), [])
    }))

  it.effect("list finds the one message with a provider id", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world()
      const ids = yield* some(own, 3)
      const [message] = yield* follow(own)
      const providerMessageId = message!.providerMessageId!
      assert.deepStrictEqual(idsOf(yield* follow(own, { providerMessageId })), [ids[2]!])
      assert.deepStrictEqual(idsOf(yield* follow(own, { providerMessageId, to: [message!.content.to] })), [ids[2]!])
      assert.deepStrictEqual(yield* follow(own, { providerMessageId, status: "failed" }), [])
      assert.deepStrictEqual(yield* follow(own, { providerMessageId: "unknown" }), [])
      assert.deepStrictEqual(yield* follow(other, { providerMessageId }), [])
      assert.deepStrictEqual(yield* page(own, { providerMessageId }, { limit: 1, after: ids[0]! }), {
        items: [],
        next: null
      })
    }))

  it.effect("list omits an abandoned send", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const { command } = yield* claimed(own)
      yield* store.abandon(command)
      assert.deepStrictEqual(yield* follow(own), [])
    }))

  it.effect("a workspace lists only its own messages", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world({ start: own.start })
      const ids = yield* some(own, 2)
      assert.deepStrictEqual(yield* follow(other), [])
      assert.deepStrictEqual(yield* page(other, {}, { limit: 10, after: ids[1]! }), { items: [], next: null })
    }))
}
