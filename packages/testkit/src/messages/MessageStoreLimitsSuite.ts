/**
 * Conformance of `MessageStore`: rate limits, quota and messaging limit, as *accept* spends them and as *settle*,
 * *abandon* and *sweep* return them.
 */
import { assert } from "@effect/vitest"
import {
  Limits,
  type Message,
  MessageStore,
  type PhoneNumber,
  PhoneNumberStore,
  type RateLimit,
  WorkspaceStore
} from "@wac/core"
import { Duration, Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "./MessageFixture.ts"

const { day, hour, second, world } = Fixture
const { accept, claimed, customer, describe, inbound, settle, template } = MessageFixture

/** The roomy limits, with some of them narrowed. */
const narrow = (
  given: {
    readonly workspace?: number
    readonly number?: number
    readonly pair?: Limits.Limits["pair"]
    readonly monthlyQuota?: number | null
    readonly messagingLimit?: number | null
  }
): Limits.Limits => ({
  workspaceTiers: { ...Fixture.roomy.workspaceTiers, roomy: given.workspace ?? 1_000_000 },
  phoneNumberTiers: { ...Fixture.roomy.phoneNumberTiers, roomy: given.number ?? 1_000_000 },
  pair: given.pair ?? Fixture.roomy.pair,
  defaults: {
    ...Fixture.roomy.defaults,
    monthlyQuota: given.monthlyQuota ?? null,
    messagingLimit: given.messagingLimit ?? null
  }
})

const told = (own: Fixture.World, options: MessageFixture.SendOptions) =>
  Effect.map(accept(own, options), ({ accepted }) => describe(accepted))

const to = (n: number): Message.OutboundMessage => template({ to: customer(n) })

const times = <A, E, R>(n: number, effect: Effect.Effect<A, E, R>) =>
  Effect.all(Array.from({ length: n }, () => effect), { concurrency: "unbounded" })

const count = (all: ReadonlyArray<string>, one: string) => all.filter((other) => other === one).length

const readingOf = (accepted: MessageStore.Accepted, name: RateLimit.Name) =>
  accepted.readings.find(({ policy }) => policy.name === name)

/** A further number of a world's workspace. */
const beside = (own: Fixture.World) =>
  Effect.tap(
    Fixture.phoneNumber(own.workspace.id, {
      providerAccountId: own.number.providerAccountId,
      messagingLimit: own.number.messagingLimit,
      isDefault: false
    }),
    (number) => PhoneNumberStore.PhoneNumberStore.use((store) => store.add(number))
  )

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a workspace may send exactly its burst at once, and one more with each interval", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const limits = narrow({ workspace: 5 })
      const remaining = []
      for (let i = 0; i < 10; i++) {
        const { accepted } = yield* claimed(own, { limits })
        remaining.push(readingOf(accepted, "workspace")!.remaining)
      }
      assert.deepStrictEqual(remaining, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
      const { accepted, command } = yield* accept(own, { limits })
      assert.strictEqual(describe(accepted), "rate_limited/workspace")
      assert.deepStrictEqual(accepted.readings, [
        { policy: Limits.workspace(limits, null), remaining: 0, resetAfter: 200, allowed: false }
      ])
      if (accepted._tag !== "Refused" || accepted.error._tag !== "RateLimited") return assert.fail("not refused")
      assert.strictEqual(Duration.toMillis(accepted.error.retryAfter), 200)
      const messages = yield* MessageStore.MessageStore
      assert.deepStrictEqual(yield* messages.get(own.workspace.id, command.messageId), Option.none())
      assert.deepStrictEqual(yield* messages.lookUp(command.request, own.start), { _tag: "Unbound" })

      assert.strictEqual(yield* told(own, { limits, now: own.start + 199 }), "rate_limited/workspace")
      assert.strictEqual(yield* told(own, { limits, now: own.start + 200 }), "Claimed")
      assert.strictEqual(yield* told(own, { limits, now: own.start + 200 }), "rate_limited/workspace")
      // long after, the bucket holds no more than a burst
      const later = yield* times(15, told(own, { limits, now: own.start + hour }))
      assert.deepStrictEqual([count(later, "Claimed"), count(later, "rate_limited/workspace")], [10, 5])
    }))

  it.effect("a rate that does not divide a second is exact to fractions of a millisecond", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const limits = narrow({ workspace: 3 })
      for (let i = 0; i < 6; i++) yield* claimed(own, { limits })
      for (
        const [ms, expected] of [
          [333, "rate_limited/workspace"],
          [334, "Claimed"],
          [666, "rate_limited/workspace"],
          [667, "Claimed"],
          [999, "rate_limited/workspace"],
          [1001, "Claimed"]
        ] as const
      ) {
        assert.strictEqual(yield* told(own, { limits, now: own.start + ms }), expected, `after ${ms} ms`)
      }
    }))

  it.effect("of 40 racing sends under different keys, exactly as many pass as the workspace has tokens", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const limits = narrow({ workspace: 5 })
      for (let i = 0; i < 3; i++) yield* claimed(own, { limits })
      const racing = yield* times(40, told(own, { limits }))
      assert.deepStrictEqual([count(racing, "Claimed"), count(racing, "rate_limited/workspace")], [7, 33])
    }))

  it.effect("replays, joins and conflicts spend only the workspace's token", () =>
    Effect.gen(function*() {
      const own = yield* world({ workspace: { monthlyQuota: 3 } })
      const limits = { ...Limits.standard, pair: { everySeconds: 6, burst: 3 } }
      const first = yield* claimed(own, { limits })
      const again = { limits, key: first.command.request.key }
      const seen = Effect.fnUntraced(function*(options: MessageFixture.SendOptions) {
        const { accepted } = yield* accept(own, { ...again, ...options })
        assert.deepStrictEqual(accepted.readings.map(({ policy }) => policy.name), ["workspace"])
        return [accepted._tag, accepted.readings[0]!.remaining] as const
      })
      assert.deepStrictEqual(yield* seen({}), ["Running", 198])
      assert.deepStrictEqual(yield* seen({ fingerprint: "other" }), ["Conflict", 197])
      yield* settle(first.command, yield* MessageFixture.acceptedOutcome)
      assert.deepStrictEqual(yield* seen({}), ["Answered", 196])
      const second_ = yield* claimed(own, { limits })
      yield* settle(second_.command, { _tag: "Unknown" })
      assert.deepStrictEqual(yield* seen({ key: second_.command.request.key }), ["Unknown", 194])
      const { accepted } = yield* claimed(own, { limits })
      assert.deepStrictEqual(accepted.readings.map(({ remaining }) => remaining), [193, 157, 0])
      assert.strictEqual(yield* told(own, { limits, message: to(2) }), "forbidden/quota_exhausted")
    }))

  it.effect("a number may send at its own rate, and a refusal costs the workspace nothing", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const limits = narrow({ number: 2 })
      for (let i = 0; i < 4; i++) yield* claimed(own, { limits, message: to(i) })
      const { accepted } = yield* accept(own, { limits, message: to(5) })
      assert.strictEqual(describe(accepted), "rate_limited/phone_number")
      assert.deepStrictEqual(readingOf(accepted, "phone_number"), {
        policy: Limits.phoneNumber(limits, null),
        remaining: 0,
        resetAfter: 500,
        allowed: false
      })
      if (accepted._tag !== "Refused" || accepted.error._tag !== "RateLimited") return assert.fail("not refused")
      assert.strictEqual(Duration.toMillis(accepted.error.retryAfter), 500)
      assert.strictEqual(
        yield* told(own, { limits, now: own.start + 499, message: to(5) }),
        "rate_limited/phone_number"
      )
      const { accepted: next } = yield* claimed(own, { limits, now: own.start + 500, message: to(5) })
      // four claims spent four of the workspace's tokens, and 500 ms at this rate restored them
      assert.strictEqual(readingOf(next, "workspace")!.remaining, 1_999_999)
      const racing = yield* times(20, told(own, { limits, now: own.start + hour, message: to(6) }))
      assert.deepStrictEqual([count(racing, "Claimed"), count(racing, "rate_limited/phone_number")], [4, 16])
    }))

  it.effect("a pair may send at its own rate, and a refusal costs the number and the workspace nothing", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const limits = { ...Limits.standard, pair: { everySeconds: 6, burst: 3 } }
      for (let i = 0; i < 3; i++) yield* claimed(own, { limits, message: to(1) })
      const { accepted } = yield* accept(own, { limits, message: to(1) })
      assert.strictEqual(describe(accepted), "rate_limited/pair")
      assert.deepStrictEqual(readingOf(accepted, "pair"), {
        policy: Limits.pair(limits),
        remaining: 0,
        resetAfter: 6 * second,
        allowed: false
      })
      const other = yield* claimed(own, { limits, message: to(2) })
      assert.deepStrictEqual(other.accepted.readings.map(({ remaining }) => remaining), [196, 156, 2])
      assert.strictEqual(
        yield* told(own, { limits, now: own.start + 6 * second - 1, message: to(1) }),
        "rate_limited/pair"
      )
      assert.strictEqual(yield* told(own, { limits, now: own.start + 6 * second, message: to(1) }), "Claimed")
      const racing = yield* times(20, told(own, { limits, now: own.start + hour, message: to(1) }))
      assert.deepStrictEqual([count(racing, "Claimed"), count(racing, "rate_limited/pair")], [3, 17])
    }))

  it.effect("the tiers of a workspace and a number apply, else the default, which also replaces an unknown tier", () =>
    Effect.gen(function*() {
      const own = yield* world({ workspace: { tier: "free" }, number: { tier: "coexistence" } })
      const policies = Effect.map(
        claimed(own, { limits: Limits.standard }),
        ({ accepted }) => accepted.readings.slice(0, 2).map(({ policy }) => policy)
      )
      assert.deepStrictEqual(yield* policies, [
        { name: "workspace", interval: 100, capacity: 20 },
        { name: "phone_number", interval: 50, capacity: 40 }
      ])
      yield* WorkspaceStore.WorkspaceStore.use((store) => store.configure(own.workspace.id, { tier: "gone" }))
      yield* PhoneNumberStore.PhoneNumberStore.use((store) => store.configure(own.number.id, { tier: null }))
      assert.deepStrictEqual(yield* policies, [
        { name: "workspace", interval: 10, capacity: 200 },
        { name: "phone_number", interval: 12.5, capacity: 160 }
      ])
    }))

  it.effect("the quota covers a calendar month in UTC", () =>
    Effect.gen(function*() {
      const own = yield* world({ workspace: { monthlyQuota: 3 } })
      for (let i = 0; i < 3; i++) assert.strictEqual(yield* told(own, {}), "Claimed")
      assert.strictEqual(yield* told(own, {}), "forbidden/quota_exhausted")
      const turn = Fixture.nextMonth(own.start)
      assert.strictEqual(yield* told(own, { now: turn - 1 }), "forbidden/quota_exhausted")
      for (let i = 0; i < 3; i++) assert.strictEqual(yield* told(own, { now: turn }), "Claimed")
      assert.strictEqual(yield* told(own, { now: turn }), "forbidden/quota_exhausted")
      // a process whose clock is slow still finds the old month used up
      assert.strictEqual(yield* told(own, { now: turn - 1 }), "forbidden/quota_exhausted")
    }))

  it.effect("a workspace's own quota overrides the default", () =>
    Effect.gen(function*() {
      const own = yield* world({ workspace: { monthlyQuota: 2 } })
      const limits = narrow({ monthlyQuota: 1 })
      assert.strictEqual(yield* told(own, { limits }), "Claimed")
      assert.strictEqual(yield* told(own, { limits }), "Claimed")
      assert.strictEqual(yield* told(own, { limits }), "forbidden/quota_exhausted")
      const other = yield* world({ start: own.start })
      assert.strictEqual(yield* told(other, { limits }), "Claimed")
      assert.strictEqual(yield* told(other, { limits }), "forbidden/quota_exhausted")
    }))

  it.effect("of 30 racing sends, exactly as many pass as the quota has left", () =>
    Effect.gen(function*() {
      const own = yield* world({ workspace: { monthlyQuota: 9 } })
      for (let i = 0; i < 2; i++) yield* claimed(own)
      const racing = yield* times(30, told(own, {}))
      assert.deepStrictEqual([count(racing, "Claimed"), count(racing, "forbidden/quota_exhausted")], [7, 23])
    }))

  it.effect("the quota is returned if the provider refuses for good, and only then", () =>
    Effect.gen(function*() {
      const own = yield* world({ workspace: { monthlyQuota: 1 } })
      const first = yield* claimed(own)
      assert.strictEqual(yield* told(own, {}), "forbidden/quota_exhausted")
      const refused = yield* MessageFixture.refusedOutcome(own.start)
      assert.isTrue(yield* settle(first.command, refused))
      yield* settle(first.command, refused)
      const second_ = yield* claimed(own)
      assert.strictEqual(yield* told(own, {}), "forbidden/quota_exhausted", "given back once")
      yield* settle(second_.command, { _tag: "Unknown" })
      assert.strictEqual(yield* told(own, {}), "forbidden/quota_exhausted", "it may have been sent")
    }))

  it.effect("the quota is returned to the month from which it was taken", () =>
    Effect.gen(function*() {
      const own = yield* world({ workspace: { monthlyQuota: 1 } })
      const turn = Fixture.nextMonth(own.start)
      const { command } = yield* claimed(own, { now: turn - 1 })
      assert.strictEqual(yield* told(own, { now: turn }), "Claimed")
      assert.isTrue(yield* settle(command, yield* MessageFixture.refusedOutcome(turn + 1), turn + 1))
      assert.strictEqual(yield* told(own, { now: turn + 2 }), "forbidden/quota_exhausted")
      assert.strictEqual(yield* told(own, { now: turn - 1 }), "Claimed")
    }))

  it.effect("a message counts once, however often it is tried", () =>
    Effect.gen(function*() {
      const own = yield* world({ workspace: { monthlyQuota: 2 } })
      const first = yield* claimed(own)
      yield* settle(first.command, yield* MessageFixture.notSentOutcome)
      const again = { key: first.command.request.key }
      const second_ = yield* claimed(own, again)
      yield* settle(second_.command, yield* MessageFixture.notSentOutcome)
      const other = yield* claimed(own)
      // the quota is used up, partly by this message itself
      const third = yield* claimed(own, again)
      assert.strictEqual(third.accepted.message.id, first.command.messageId)
      assert.strictEqual(yield* told(own, {}), "forbidden/quota_exhausted")
      yield* settle(third.command, yield* MessageFixture.refusedOutcome(own.start))
      assert.strictEqual(yield* told(own, {}), "Claimed")
      assert.strictEqual(yield* told(own, {}), "forbidden/quota_exhausted")
      yield* settle(other.command, yield* MessageFixture.acceptedOutcome)
    }))

  it.effect("a retry in the next month counts for the month of the first try", () =>
    Effect.gen(function*() {
      const own = yield* world({ workspace: { monthlyQuota: 1 } })
      const turn = Fixture.nextMonth(own.start)
      const first = yield* claimed(own, { now: turn - hour })
      yield* settle(first.command, yield* MessageFixture.notSentOutcome)
      yield* claimed(own, { now: turn, key: first.command.request.key })
      assert.strictEqual(yield* told(own, { now: turn }), "Claimed")
      assert.strictEqual(yield* told(own, { now: turn }), "forbidden/quota_exhausted")
      assert.strictEqual(yield* told(own, { now: turn - 1 }), "forbidden/quota_exhausted")
    }))

  it.effect("the messaging limit counts each customer once", () =>
    Effect.gen(function*() {
      const own = yield* world({ number: { messagingLimit: 2 } })
      for (const n of [1, 2, 1, 2, 1]) assert.strictEqual(yield* told(own, { message: to(n) }), "Claimed")
      assert.strictEqual(yield* told(own, { message: to(3) }), "forbidden/messaging_limit_reached")
      const other = yield* world({ start: own.start, number: { messagingLimit: 1 } })
      assert.strictEqual(yield* told(other, { message: to(3) }), "Claimed")
    }))

  it.effect("a customer counts for 24 hours after the last message to them", () =>
    Effect.gen(function*() {
      const own = yield* world({ number: { messagingLimit: 1 } })
      const at = (ms: number, n: number) => told(own, { now: own.start + ms, message: to(n) })
      assert.strictEqual(yield* at(0, 1), "Claimed")
      assert.strictEqual(yield* at(day - 1, 2), "forbidden/messaging_limit_reached")
      assert.strictEqual(yield* at(day, 2), "Claimed")
      assert.strictEqual(yield* at(day, 1), "forbidden/messaging_limit_reached")
      assert.strictEqual(yield* at(day + 12 * hour, 2), "Claimed")
      assert.strictEqual(yield* at(2 * day, 1), "forbidden/messaging_limit_reached")
      assert.strictEqual(yield* at(2 * day + 12 * hour - 1, 1), "forbidden/messaging_limit_reached")
      assert.strictEqual(yield* at(2 * day + 12 * hour, 1), "Claimed")
    }))

  it.effect("messages inside a window do not count", () =>
    Effect.gen(function*() {
      const own = yield* world({ number: { messagingLimit: 1 } })
      yield* inbound(own, { customer: customer(5) })
      assert.strictEqual(yield* told(own, { message: to(5) }), "Claimed")
      assert.strictEqual(yield* told(own, { message: to(1) }), "Claimed")
      assert.strictEqual(yield* told(own, { message: to(2) }), "forbidden/messaging_limit_reached")
      assert.strictEqual(yield* told(own, { message: MessageFixture.text(customer(5)) }), "Claimed")
      // once the window is over, the customer counts
      const later = own.start + day
      assert.strictEqual(yield* told(own, { now: later, message: to(1) }), "Claimed")
      assert.strictEqual(yield* told(own, { now: later, message: to(5) }), "forbidden/messaging_limit_reached")
    }))

  it.effect("a number's own messaging limit overrides the default", () =>
    Effect.gen(function*() {
      const own = yield* world({ number: { messagingLimit: 2 } })
      const limits = narrow({ messagingLimit: 1 })
      assert.strictEqual(yield* told(own, { limits, message: to(1) }), "Claimed")
      assert.strictEqual(yield* told(own, { limits, message: to(2) }), "Claimed")
      assert.strictEqual(yield* told(own, { limits, message: to(3) }), "forbidden/messaging_limit_reached")
      const other = yield* world({ start: own.start })
      assert.strictEqual(yield* told(other, { limits, message: to(1) }), "Claimed")
      assert.strictEqual(yield* told(other, { limits, message: to(2) }), "forbidden/messaging_limit_reached")
    }))

  it.effect("racing sends to different customers respect the messaging limit, and those to one customer all pass", () =>
    Effect.gen(function*() {
      const own = yield* world({ number: { messagingLimit: 4 } })
      const racing = yield* Effect.forEach(
        Array.from({ length: 30 }, (_, i) => i),
        (n) => told(own, { message: to(n) }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual([count(racing, "Claimed"), count(racing, "forbidden/messaging_limit_reached")], [4, 26])
      const other = yield* world({ start: own.start, number: { messagingLimit: 1 } })
      assert.strictEqual(count(yield* times(20, told(other, { message: to(7) })), "Claimed"), 20)
      assert.strictEqual(yield* told(other, { message: to(8) }), "forbidden/messaging_limit_reached")
    }))

  it.effect("the numbers of a workspace share the messaging limit, and count a customer of several numbers once", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world({ number: { messagingLimit: 2 } })
      const second_ = yield* beside(own)
      const from = (n: number, number: PhoneNumber.PhoneNumber, now = own.start) => ({
        now,
        message: template({ to: customer(n), from: number.id })
      })
      assert.strictEqual(yield* told(own, from(1, own.number)), "Claimed")
      assert.strictEqual(yield* told(own, from(1, second_)), "Claimed")
      const { command } = yield* claimed(own, from(2, second_))
      for (const number of [own.number, second_]) {
        assert.strictEqual(yield* told(own, from(3, number)), "forbidden/messaging_limit_reached")
      }
      yield* messages.abandon(command)
      assert.strictEqual(yield* told(own, from(3, own.number)), "Claimed")
      // the customer counts from the last message, whichever number sent it
      assert.strictEqual(yield* told(own, from(1, own.number, own.start + hour)), "Claimed")
      assert.strictEqual(yield* told(own, from(4, second_, own.start + day)), "Claimed")
      assert.strictEqual(yield* told(own, from(5, second_, own.start + day)), "forbidden/messaging_limit_reached")
      assert.strictEqual(yield* told(own, from(5, second_, own.start + day + hour)), "Claimed")
    }))

  it.effect("abandon does not forget a customer who was messaged from another number before", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world({ number: { messagingLimit: 1 } })
      const other = yield* beside(own)
      const now = own.start + hour
      yield* MessageFixture.sent(own, { message: to(1) })
      const { command } = yield* claimed(own, { now, message: template({ to: customer(1), from: other.id }) })
      yield* messages.abandon(command)
      assert.strictEqual(yield* told(own, { now, message: to(2) }), "forbidden/messaging_limit_reached")
      assert.strictEqual(yield* told(own, { now: own.start + day, message: to(2) }), "Claimed")
    }))

  it.effect("the numbers of a portfolio share the messaging limit over workspaces, and others do not", () =>
    Effect.gen(function*() {
      const own = yield* world({ number: { messagingLimit: 2 } })
      const other = yield* world({ start: own.start, number: { messagingLimit: 2 } })
      const third = yield* beside(own)
      const assign = (number: PhoneNumber.PhoneNumber, portfolioId: string | null) =>
        PhoneNumberStore.PhoneNumberStore.use((store) => store.assign(number.id, { portfolioId }))
      const portfolioId = `portfolio-${yield* Fixture.word}`
      yield* assign(own.number, portfolioId)
      yield* assign(other.number, portfolioId)
      assert.strictEqual(yield* told(own, { message: to(1) }), "Claimed")
      assert.strictEqual(yield* told(other, { message: to(1) }), "Claimed")
      assert.strictEqual(yield* told(other, { message: to(2) }), "Claimed")
      assert.strictEqual(yield* told(own, { message: to(3) }), "forbidden/messaging_limit_reached")
      assert.strictEqual(yield* told(other, { message: to(3) }), "forbidden/messaging_limit_reached")
      const fromThird = template({ to: customer(3), from: third.id })
      assert.strictEqual(yield* told(own, { message: fromThird }), "Claimed")
      const racing = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, i) => i),
        (n) => told(n % 2 === 0 ? own : other, { now: own.start + day, message: to(n) }),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(count(racing, "Claimed"), 2)
      yield* assign(other.number, null)
      assert.strictEqual(yield* told(other, { now: own.start + 2 * day, message: to(3) }), "Claimed")
    }))

  it.effect("abandon returns tokens, quota and the customer's place, as if the send had been refused", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world({ workspace: { monthlyQuota: 1 }, number: { messagingLimit: 1 } })
      const limits = Limits.standard
      const { command } = yield* claimed(own, { limits, message: to(1) })
      yield* messages.abandon(command)
      const { accepted } = yield* claimed(own, { limits, message: to(2) })
      assert.deepStrictEqual(accepted.readings.map(({ remaining }) => remaining), [199, 159, 44])
      assert.strictEqual(yield* told(own, { limits, message: to(2) }), "forbidden/quota_exhausted")
      yield* WorkspaceStore.WorkspaceStore.use((store) => store.configure(own.workspace.id, { monthlyQuota: null }))
      assert.strictEqual(yield* told(own, { limits, message: to(1) }), "forbidden/messaging_limit_reached")
    }))

  it.effect("abandon does not forget a customer who was messaged before", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world({ number: { messagingLimit: 1 } })
      yield* MessageFixture.sent(own, { message: to(1) })
      const { command } = yield* claimed(own, { now: own.start + hour, message: to(1) })
      yield* messages.abandon(command)
      assert.strictEqual(
        yield* told(own, { now: own.start + hour, message: to(2) }),
        "forbidden/messaging_limit_reached"
      )
      assert.strictEqual(yield* told(own, { now: own.start + hour, message: to(1) }), "Claimed")
    }))

  it.effect("a message that was never retried returns its quota when it is given up", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world({ workspace: { monthlyQuota: 1 } })
      const { command } = yield* claimed(own)
      yield* settle(command, yield* MessageFixture.notSentOutcome)
      assert.strictEqual(yield* told(own, { now: own.start + day - 1 }), "forbidden/quota_exhausted")
      yield* messages.sweep(own.start + day)
      yield* messages.sweep(own.start + day)
      assert.strictEqual(yield* told(own, { now: own.start + day }), "Claimed")
      assert.strictEqual(yield* told(own, { now: own.start + day }), "forbidden/quota_exhausted")
    }))

  it.effect("a message with an unknown outcome keeps its quota, even when it is given up", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world({ workspace: { monthlyQuota: 1 } })
      const { command } = yield* claimed(own)
      yield* settle(command, { _tag: "Unknown" })
      yield* messages.sweep(own.start + hour)
      const message = Option.getOrThrow(yield* messages.get(own.workspace.id, command.messageId))
      assert.strictEqual(message.error?.reason, "delivery_unknown")
      assert.strictEqual(yield* told(own, { now: own.start + hour }), "forbidden/quota_exhausted")
    }))
}
