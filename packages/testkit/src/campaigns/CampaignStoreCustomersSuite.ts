/**
 * Conformance of `CampaignStore.work`: which customers get no message, only one, or a later one.
 */
import { assert } from "@effect/vitest"
import { CampaignTally, type CampaignWorkStep, MessageStore, Recipient, Split, type Time } from "@wac/core"
import { Duration, Effect } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import * as CampaignFixture from "./CampaignFixture.ts"

const { hour, minute, second, world } = Fixture
const { customer } = MessageFixture
const {
  add,
  changed,
  counts,
  draft,
  ended,
  get,
  limit,
  link,
  named,
  reportOf,
  row,
  rows,
  running,
  sendOf,
  sent,
  told,
  userId,
  workAll
} = CampaignFixture

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("rows that name one customer by number and by user id count once", () =>
    Effect.gen(function*() {
      for (const most of [1, limit]) {
        const own = yield* world()
        yield* link(own, 1)
        const campaign = yield* draft(own)
        yield* add(campaign, [named(userId(1)), row(1), named(userId(2)), named(userId(1))])
        yield* changed(campaign, own.start, { _tag: "Check" })
        yield* workAll(own, own.start, most)
        assert.deepStrictEqual(yield* reportOf(campaign), [
          [undefined, userId(1)],
          ["duplicate", undefined],
          [undefined, userId(2)],
          ["duplicate", undefined]
        ])
        // the one who was known when the first row was checked is still known with the last one
        assert.strictEqual((yield* get(campaign)).limitedCustomers, 2)
      }
    }))

  it.effect("a row with a user id is left out of a campaign with an authentication template", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* told(own, "order", { category: "authentication" }, own.start + 1)
      const campaign = yield* draft(own)
      yield* add(campaign, [named(userId(1)), row(2)])
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* workAll(own, own.start)
      assert.deepStrictEqual(yield* reportOf(campaign), [["phone_number_required", undefined], [
        undefined,
        customer(2)
      ]])
    }))

  it.effect("a contact gets no more marketing templates of campaigns than the cap allows, and API sends count too", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const limits = { ...Fixture.roomy, frequencyCap: { messages: 2, days: 7 } }
      const promo = { name: "promo", language: "en_US", bodyParams: ["{{number}}"] }
      const at = own.start
      const by = (now: Time.Instant) => (command: Effect.Success<ReturnType<typeof sendOf>>) =>
        store.accept({ ...command, now, limits })
      const marketing = (n: number) => MessageFixture.template({ to: customer(n), name: "promo", bodyParams: ["x"] })
      // a program writes to the first customer twice, and to the second one once
      for (const n of [1, 1, 2]) {
        const command = yield* MessageFixture.sendCommand(own, { now: at, message: marketing(n), limits })
        assert.strictEqual((yield* store.accept(command))._tag, "Claimed")
      }
      yield* running(own, 4, { template: promo })
      const claimed = yield* workAll(own, at)
      const tags = Effect.fnUntraced(function*(now: Time.Instant) {
        const found: Record<string, string> = {}
        for (const recipient of claimed) {
          const command = yield* sendOf(own, recipient, now)
          const accepted = yield* by(now)(command)
          found[recipient.message.content.to] = accepted._tag
          if (accepted._tag !== "Claimed") continue
          const settled = { ...command, messageId: recipient.message.id, claimed: accepted.message }
          yield* MessageFixture.settle(settled, yield* MessageFixture.notSentOutcome, now)
        }
        return [0, 1, 2, 3].map((n) => found[customer(n)])
      })
      assert.deepStrictEqual(yield* tags(at), ["Claimed", "Capped", "Claimed", "Claimed"])
      // a try that sent nothing is repeated, and counted once
      assert.deepStrictEqual(yield* tags(at + minute), ["Claimed", "Capped", "Claimed", "Claimed"])
      yield* store.sweep(at + 2 * hour)
      const { id } = yield* running(own, 4, { template: promo, name: "Again" })
      const again = (yield* workAll(own, at + 2 * hour)).filter(({ message }) => message.campaignId === id)
      const next = yield* Effect.forEach(
        again,
        (recipient) => Effect.flatMap(sendOf(own, recipient, at), by(at + 2 * hour))
      )
      assert.sameMembers(next.map(({ _tag }) => _tag), ["Claimed", "Capped", "Capped", "Claimed"])
      const later = at + 7 * 24 * hour + minute
      const [first] = again.filter(({ message }) => message.content.to === customer(1))
      assert.strictEqual((yield* Effect.flatMap(sendOf(own, first!, later), by(later)))._tag, "Claimed")
    }))

  it.effect("a campaign that learns of a customer's two names while it sends writes to one of them", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* draft(own)
      yield* add(campaign, [named(userId(1)), row(1), named(userId(2)), row(2)])
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* workAll(own, own.start)
      yield* changed(campaign, own.start, { _tag: "Start" })
      const claimed = yield* workAll(own, own.start)
      assert.strictEqual(claimed.length, 4)
      const to = (name: string) => claimed.find(({ message }) => message.content.to === name)!
      yield* sent(own, to(userId(1)), own.start)
      yield* link(own, 1)
      yield* link(own, 2)
      const outcome = (recipient: CampaignWorkStep.Claimed) =>
        Effect.flatMap(
          sendOf(own, recipient, own.start),
          (command) => MessageStore.MessageStore.use((store) => store.accept(command))
        )
      assert.strictEqual((yield* outcome(to(customer(1))))._tag, "Duplicate")
      // of two that wait, the first one to come is sent
      const racing = yield* Effect.forEach([to(userId(2)), to(customer(2))], outcome, { concurrency: "unbounded" })
      assert.deepStrictEqual(racing.map(({ _tag }) => _tag).toSorted(), ["Claimed", "Duplicate"])
    }))

  it.effect("the frequency cap counts what a customer got under either name", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const limits = { ...Fixture.roomy, frequencyCap: { messages: 2, days: 7 } }
      const store = yield* MessageStore.MessageStore
      const marketing = (to: string, now: Time.Instant) =>
        Effect.flatMap(
          MessageFixture.sendCommand(own, {
            now,
            limits,
            message: MessageFixture.template({ to, name: "promo", bodyParams: ["x"] })
          }),
          store.accept
        )
      for (const n of [1, 2]) {
        yield* marketing(userId(n), own.start)
        yield* marketing(customer(n), own.start + second)
      }
      const campaign = yield* draft(own, { template: { name: "promo", language: "en_US", bodyParams: ["x"] } })
      yield* add(campaign, [named(userId(1)), named(userId(2))])
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* workAll(own, own.start)
      yield* changed(campaign, own.start, { _tag: "Start" })
      yield* link(own, 1)
      const outcomes = yield* Effect.forEach(yield* workAll(own, own.start), (recipient) =>
        Effect.flatMap(
          sendOf(own, recipient, own.start + 2 * second),
          (command) => Effect.map(store.accept({ ...command, limits }), ({ _tag }) => [command.message.to, _tag])
        ))
      assert.sameDeepMembers(outcomes, [[userId(1), "Capped"], [userId(2), "Claimed"]])
    }))

  it.effect("customers of the holdout get nothing, and are counted with their reason", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* running(own, 100, { holdout: 0.3 })
      const out = rows(100).filter((row) => Split.isIn(0.3, "holdout", campaign.id, Recipient.customerOf(row)!))
      assert.isNotEmpty(out)
      const claimed: Array<CampaignWorkStep.Claimed> = []
      for (let at = own.start; at < own.start + minute / 2; at += 500) claimed.push(...yield* workAll(own, at))
      assert.strictEqual(claimed.length, 100 - out.length)
      const after = yield* get(campaign)
      assert.deepStrictEqual(after.counts, counts({ queued: 100 - out.length, skipped: out.length }))
      assert.deepStrictEqual(CampaignTally.reasonsOf(after.tallies), [
        { outcome: "skipped", reason: "holdout", recipients: out.length }
      ])
      const heldOut = new Set<string | null>(out.map(Recipient.customerOf))
      for (const { message } of claimed) {
        assert.isFalse(heldOut.has(Recipient.customerOf({ recipient: { to: message.content.to } })))
      }
    }))

  it.effect("a recipient whose quiet hours last gets nothing until they end, and others do not wait for them", () =>
    Effect.gen(function*() {
      const own = yield* world()
      // a fixed offset, whatever the time of the test
      const hourAt = (at: Time.Instant) => `${Math.floor(at / hour) % 24}`.padStart(2, "0")
      const begun = own.start - own.start % hour
      const quietHours = { from: `${hourAt(begun)}:00`, to: `${hourAt(begun + 2 * hour)}:00` }
      const campaign = yield* draft(own, { quietHours })
      const inZone = (n: number, timeZone: string): Recipient.Row => ({
        recipient: { to: customer(n), variables: { number: `${n}` }, timeZone }
      })
      const [quiet, awake] = ["Etc/UTC", "Etc/GMT+6"]
      yield* add(campaign, Array.from({ length: 90 }, (_, n) => inZone(n, n % 9 === 8 ? awake : quiet)))
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* workAll(own, own.start)
      yield* changed(campaign, own.start, { _tag: "Start" })
      const numbersOf = (claimed: ReadonlyArray<CampaignWorkStep.Claimed>) =>
        claimed.map(({ message }) => message.content.to).toSorted()
      const now = yield* workAll(own, own.start)
      assert.deepStrictEqual(numbersOf(now), Array.from({ length: 10 }, (_, n) => customer(n * 9 + 8)).toSorted())
      for (const recipient of now) yield* ended(recipient, own.start, { _tag: "Done" })
      assert.deepStrictEqual(yield* workAll(own, begun + 2 * hour - 1), [])
      const morning = begun + 2 * hour
      let late = yield* workAll(own, morning)
      for (let at = morning; late.length < 80 && at < morning + minute / 2; at += 500) {
        late = [...late, ...yield* workAll(own, at + 500)]
      }
      assert.strictEqual(new Set(numbersOf(late)).size, 80)
      assert.strictEqual(late.length, 80)
    }))

  it.effect("recipients whose quiet hours never end wait for a change of them, and are skipped at the end with a reason of their own", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const hourAt = (at: Time.Instant) => `${Math.floor(at / hour) % 24}`.padStart(2, "0")
      // an hour of each day is not quiet, and Russia has zones that are further apart
      const quietHours = { from: `${hourAt(own.start + hour)}:00`, to: `${hourAt(own.start)}:00` }
      const campaign = yield* draft(own, { quietHours, notAfter: own.start + 3 * hour })
      const to = (n: number) => `+7916123450${n}`
      const inRussia = (n: number, given: Partial<Recipient.Recipient> = {}): Recipient.Row => ({
        recipient: { to: to(n), variables: { number: `${n}` }, ...given }
      })
      yield* add(campaign, [inRussia(1), inRussia(2, { timeZone: "Etc/UTC" }), inRussia(3)])
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* workAll(own, own.start)
      yield* changed(campaign, own.start, { _tag: "Start" })
      const claimed = yield* workAll(own, own.start)
      assert.deepStrictEqual(claimed.map(({ message }) => message.content.to), [to(2)])
      const notNow = { _tag: "Again", after: Duration.hours(9) } as const
      yield* ended(claimed[0]!, own.start, notNow)
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ queued: 3 }))

      // somebody corrects the hours, until one of the two is claimed
      yield* changed(campaign, own.start + minute, { _tag: "Edit", plan: { quietHours: null } })
      const [corrected] = yield* workAll(own, own.start + minute, 1)
      assert.include([to(1), to(3)], corrected?.message.content.to)
      yield* ended(corrected!, own.start + minute, notNow)
      yield* changed(campaign, own.start + 2 * minute, { _tag: "Edit", plan: { quietHours } })
      assert.deepStrictEqual(yield* workAll(own, own.start + 2 * minute), [])

      yield* workAll(own, own.start + 3 * hour)
      assert.sameDeepMembers(CampaignTally.reasonsOf((yield* get(campaign)).tallies) as Array<unknown>, [
        { outcome: "skipped", reason: "quiet_hours", recipients: 2 },
        { outcome: "skipped", reason: "not_after", recipients: 1 }
      ])
    }))

  it.effect("recipients who wait for the end of quiet hours follow a change of these hours", () =>
    Effect.gen(function*() {
      const own = yield* world()
      // a fixed offset, whatever the time of the test
      const hourAt = (at: Time.Instant) => `${Math.floor(at / hour) % 24}`.padStart(2, "0")
      const hours = (to: number) => ({ from: `${hourAt(own.start)}:00`, to: `${hourAt(own.start + to * hour)}:00` })
      const campaign = yield* draft(own, { quietHours: hours(8) })
      const asleep = Array.from({ length: 5 }, (_, n): Recipient.Row => ({
        recipient: { to: customer(n), variables: { number: `${n}` }, timeZone: "Etc/UTC" }
      }))
      yield* add(campaign, asleep)
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* workAll(own, own.start)
      yield* changed(campaign, own.start, { _tag: "Start" })
      assert.deepStrictEqual(yield* workAll(own, own.start), [])

      const shorter = hours(2)
      yield* changed(campaign, own.start, { _tag: "Edit", plan: { quietHours: shorter } })
      // fewer at once than there are
      assert.deepStrictEqual(yield* workAll(own, own.start + second, 2), [])
      const morning = own.start - own.start % hour + 2 * hour
      assert.deepStrictEqual(yield* workAll(own, morning - second, 2), [])
      const [first] = yield* workAll(own, morning, 1)
      yield* ended(first!, morning, { _tag: "Again", after: Duration.hours(1) })

      yield* changed(campaign, morning, { _tag: "Edit", plan: { quietHours: hours(8) } })
      yield* workAll(own, morning + minute)
      yield* changed(campaign, morning + minute, { _tag: "Edit", plan: { quietHours: null } })
      // one that the provider did not accept waits for its next try
      assert.sameMembers(
        (yield* workAll(own, morning + minute + second)).map(({ message }) => message.content.to),
        [0, 1, 2, 3, 4].map(customer).filter((to) => to !== first!.message.content.to)
      )
    }))

  it.effect("a recipient who was tried before quiet hours put them off follows a change of these hours too", () =>
    Effect.gen(function*() {
      const own = yield* world()
      // a fixed offset, whatever the time of the test
      const hourAt = (at: Time.Instant) => `${Math.floor(at / hour) % 24}`.padStart(2, "0")
      const evening = own.start - own.start % hour + hour
      const quietHours = { from: `${hourAt(evening)}:00`, to: `${hourAt(evening + 8 * hour)}:00` }
      const campaign = yield* draft(own, { quietHours })
      yield* add(campaign, [{ recipient: { to: customer(0), variables: { number: "0" }, timeZone: "Etc/UTC" } }])
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* workAll(own, own.start)
      yield* changed(campaign, own.start, { _tag: "Start" })
      const [tried] = yield* workAll(own, own.start)
      yield* ended(tried!, own.start, { _tag: "Again", after: Duration.millis(evening - own.start) })
      assert.deepStrictEqual(yield* workAll(own, evening), [])
      yield* changed(campaign, evening + second, { _tag: "Edit", plan: { quietHours: null } })
      const [again] = yield* workAll(own, evening + second)
      // the delays begin again
      assert.deepStrictEqual([again?.message.id, again?.tries], [tried!.message.id, 0])
    }))
}
