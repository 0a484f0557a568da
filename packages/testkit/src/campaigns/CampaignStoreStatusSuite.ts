/**
 * Conformance of the status of a `CampaignStore`'s campaigns: starts, pauses and cancellations.
 */
import { assert } from "@effect/vitest"
import {
  CampaignStore,
  type CampaignWorkStep,
  CheckedRow,
  FailureRate,
  MessageStore,
  PhoneNumberStore,
  QueueStore,
  type Time
} from "@wac/core"
import { Effect, Result } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import * as PhoneNumberFixture from "../numbers/PhoneNumberFixture.ts"
import * as CampaignFixture from "./CampaignFixture.ts"

const { customer } = MessageFixture
const { hour, minute, second, world } = Fixture
const {
  add,
  changed,
  claim,
  completions,
  counts,
  draft,
  get,
  ready,
  row,
  rows,
  running,
  sendOf,
  sent,
  told,
  tried,
  workAll
} = CampaignFixture

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a scheduled campaign starts at its time, and a paused one waits for a person", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* ready(own, 3, { startAt: own.start + hour })
      assert.strictEqual((yield* changed(campaign, own.start, { _tag: "Start" })).status, "scheduled")
      assert.deepStrictEqual(yield* workAll(own, own.start + hour - 1), [])
      yield* changed(campaign, own.start + minute, { _tag: "Pause" })
      assert.deepStrictEqual(yield* workAll(own, own.start + hour), [])
      assert.deepInclude(yield* get(campaign), { status: "paused", pausedFor: "person", startedAt: null })
      yield* changed(campaign, own.start + 2 * hour, { _tag: "Resume" })
      assert.strictEqual((yield* workAll(own, own.start + 2 * hour)).length, 3)
      assert.deepInclude(yield* get(campaign), { status: "running", startedAt: own.start + 2 * hour })
    }))

  it.effect("a scheduled campaign follows a change of its time, and starts at once without one", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const [moved, freed] = [
        yield* ready(own, 1, { startAt: own.start + hour }),
        yield* ready(own, 1, { startAt: own.start + hour })
      ]
      yield* changed(moved, own.start, { _tag: "Start" })
      yield* changed(freed, own.start, { _tag: "Start" })
      yield* changed(moved, own.start, { _tag: "Edit", plan: { startAt: own.start + minute } })
      yield* changed(freed, own.start, { _tag: "Edit", plan: { startAt: null } })
      const campaignsAt = (at: Time.Instant) =>
        Effect.map(workAll(own, at), (claimed) => claimed.map(({ message }) => message.campaignId))
      assert.deepStrictEqual(yield* campaignsAt(own.start), [freed.id])
      assert.notInclude(yield* campaignsAt(own.start + minute - 1), moved.id)
      assert.include(yield* campaignsAt(own.start + minute), moved.id)
    }))

  it.effect("a cancelled campaign skips all that wait, and what is being sent gets its outcome", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* running(own, 30)
      const [first] = yield* workAll(own, own.start, 3)
      const { command } = yield* claim(own, first!, own.start)
      const at = own.start + second
      assert.strictEqual((yield* changed(campaign, at, { _tag: "Cancel" })).status, "cancelled")
      assert.deepStrictEqual(yield* workAll(own, at, 7), [])
      assert.strictEqual((yield* get(campaign)).completedAt, null)
      assert.isTrue(yield* MessageFixture.settle(command, yield* MessageFixture.acceptedOutcome, at))
      // whoever had taken the others is gone
      yield* workAll(own, at + 2 * minute, 7)
      const after = yield* get(campaign)
      assert.deepStrictEqual(after.counts, counts({ sent: 1, skipped: 29 }))
      assert.isNotNull(after.completedAt)
      const [completed, ...more] = yield* completions(own)
      assert.deepStrictEqual([completed?.data["status"], more], ["cancelled", []])
      const left = yield* CampaignStore.CampaignStore.use((store) =>
        store.rows(own.workspace.id, campaign.id, { limit: 100, after: 0 })
      )
      const [skipped] = left.filter((row) => CheckedRow.isSelected(row, { outcome: "skipped" }))
      assert.strictEqual(skipped!.message!.error?.reason, "cancelled")
      const late = yield* MessageStore.MessageStore.use(Effect.fnUntraced(function*(store) {
        return yield* store.accept(yield* sendOf(own, { message: skipped!.message! }, at + 3 * minute))
      }))
      assert.strictEqual(late._tag, "Unknown")
    }))

  it.effect("a campaign that is cancelled or runs out of time ends at once for those who wait for their morning", () =>
    Effect.gen(function*() {
      const own = yield* world()
      // a fixed offset, whatever the time of the test
      const hourAt = (at: Time.Instant) => `${Math.floor(at / hour) % 24}`.padStart(2, "0")
      const quietHours = { from: `${hourAt(own.start)}:00`, to: `${hourAt(own.start + 8 * hour)}:00` }
      const asleep = Array.from({ length: 5 }, (_, n) => ({
        recipient: { to: customer(n), variables: { number: `${n}` }, timeZone: "Etc/UTC" }
      }))
      const late = own.start + 30 * minute
      for (const ending of ["cancelled", "completed"] as const) {
        const campaign = yield* draft(own, { quietHours, notAfter: ending === "completed" ? late : null })
        assert.isTrue(yield* add(campaign, asleep))
        yield* changed(campaign, own.start, { _tag: "Check" })
        yield* workAll(own, own.start)
        yield* changed(campaign, own.start, { _tag: "Start" })
        assert.deepStrictEqual(yield* workAll(own, own.start), [])
        assert.deepStrictEqual((yield* get(campaign)).counts, counts({ queued: 5 }))
        if (ending === "cancelled") yield* changed(campaign, late, { _tag: "Cancel" })
        assert.deepStrictEqual(yield* workAll(own, late), [])
        const after = yield* get(campaign)
        assert.deepInclude(after, { status: ending, completedAt: late })
        assert.deepStrictEqual(after.counts, counts({ skipped: 5 }))
      }
    }))

  it.effect("a campaign pauses itself once too many of its messages fail, and a person can resume it", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const count = 120
      const campaign = yield* running(own, 200, { maxFailureRate: 0.5 })
      const claimed = yield* workAll(own, own.start, count)
      assert.strictEqual(claimed.length, count)
      yield* Effect.forEach(claimed, (recipient) =>
        Effect.gen(function*() {
          const { command } = yield* claim(own, recipient, own.start)
          yield* MessageFixture.settle(command, yield* MessageFixture.refusedOutcome(own.start), own.start)
        }), { concurrency: 16 })
      assert.deepStrictEqual(yield* workAll(own, own.start + second), [])
      const paused = yield* get(campaign)
      assert.deepInclude(paused, { status: "paused", pausedFor: "failure_rate" })
      assert.deepStrictEqual(paused.counts, counts({ failed: count, queued: 200 - count }))
      yield* changed(campaign, own.start + minute, { _tag: "Resume" })
      assert.isNotEmpty(yield* workAll(own, own.start + minute))
      assert.strictEqual(FailureRate.rateOf((yield* get(campaign)).snapshots, paused.counts), undefined)
    }))

  it.effect("a paused campaign is not resumed after its end, and sends to all who are left once its end is moved", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* running(own, 3)
      yield* changed(campaign, own.start + minute, { _tag: "Pause" })
      const late = own.start + 25 * hour
      const refused = yield* tried(campaign, late, { _tag: "Resume" })
      assert.isTrue(Result.isFailure(refused))
      assert.deepStrictEqual(yield* workAll(own, late), [])
      assert.deepInclude(yield* get(campaign), { status: "paused", counts: counts({ queued: 3 }) })
      yield* changed(campaign, late, { _tag: "Edit", plan: { notAfter: late + hour } })
      assert.strictEqual((yield* changed(campaign, late, { _tag: "Resume" })).status, "running")
      assert.lengthOf(yield* workAll(own, late), 3)
    }))

  it.effect("a resumed campaign whose earlier failures were corrected pauses itself again for later ones", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const count = 120
      const campaign = yield* running(own, 4 * count, { maxFailureRate: 0.5 })
      const failed = (recipients: ReadonlyArray<CampaignWorkStep.Claimed>, now: Time.Instant) =>
        Effect.forEach(recipients, (recipient) =>
          Effect.gen(function*() {
            const { messageId } = yield* sent(own, recipient, now)
            yield* MessageFixture.report({ status: "failed", at: now, reference: messageId })
            return messageId
          }), { concurrency: 16 })
      const first = yield* failed(yield* workAll(own, own.start, count), own.start)
      assert.strictEqual(first.length, count)
      assert.deepStrictEqual(yield* workAll(own, own.start + second), [])
      assert.deepInclude(yield* get(campaign), { status: "paused", pausedFor: "failure_rate" })
      yield* changed(campaign, own.start + minute, { _tag: "Resume" })
      yield* Effect.forEach(
        first,
        (reference) => MessageFixture.report({ status: "delivered", at: own.start + minute, reference }),
        { concurrency: 16 }
      )
      const more = yield* workAll(own, own.start + minute, count)
      assert.isNotEmpty(more)
      assert.deepInclude((yield* get(campaign)).counts, { failed: 0, delivered: count })
      yield* failed(more, own.start + minute)
      yield* workAll(own, own.start + minute + second, count)
      assert.deepInclude(yield* get(campaign), { status: "paused", pausedFor: "failure_rate" })
    }))

  it.effect("a campaign pauses itself if either variant's template is no longer approved", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const stopped = yield* draft(own, { templateB: { name: "stopped", language: "en_US" } })
      yield* add(stopped, rows(1))
      yield* changed(stopped, own.start, { _tag: "Check" })
      yield* workAll(own, own.start)
      assert.deepInclude(yield* get(stopped), { status: "draft", pausedFor: "template_not_approved", checked: 0 })
      const values = { order: { bodyParams: ["1", "ready"] }, promo: { bodyParams: ["shelves"] } }
      for (const [i, [name, other]] of ([["order", "promo"], ["promo", "order"]] as const).entries()) {
        const campaign = yield* running(own, 2, {
          template: { name, language: "en_US", ...values[name] },
          templateB: { name: other, language: "en_US", ...values[other] }
        })
        const at = own.start + (1 + i) * minute
        yield* told(own, "promo", { status: "paused" }, at)
        assert.deepStrictEqual(yield* workAll(own, at), [])
        assert.deepInclude(yield* get(campaign), { status: "paused", pausedFor: "template_not_approved" })
        yield* told(own, "promo", { status: "approved" }, at + second)
        yield* changed(campaign, at + second, { _tag: "Resume" })
        const resumed = yield* workAll(own, at + second)
        assert.deepStrictEqual(resumed.map(({ message }) => message.campaignId), [campaign.id, campaign.id])
        yield* changed(campaign, at + second, { _tag: "Cancel" })
      }
    }))

  it.effect("a campaign pauses itself if a template has another category than when it was checked", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* ready(own, 2, {
        templateB: { name: "promo", language: "en_US", bodyParams: ["{{number}}"] }
      })
      yield* told(own, "promo", { category: "utility" }, own.start + second)
      yield* changed(campaign, own.start + minute, { _tag: "Start" })
      assert.deepStrictEqual(yield* workAll(own, own.start + minute), [])
      assert.deepInclude(yield* get(campaign), { status: "paused", pausedFor: "template_category" })
      // a person knows of the change now
      yield* changed(campaign, own.start + 2 * minute, { _tag: "Resume" })
      assert.lengthOf(yield* workAll(own, own.start + 2 * minute), 2)
      yield* told(own, "promo", { category: "marketing" }, own.start + 3 * minute)
      assert.deepStrictEqual(yield* workAll(own, own.start + 4 * minute), [])
      assert.deepInclude(yield* get(campaign), { status: "paused", pausedFor: "template_category" })
      yield* changed(campaign, own.start + 4 * minute, { _tag: "Cancel" })
    }))

  it.effect("a campaign whose template changed its category between two checks of its rows pauses itself once it starts", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* ready(own, 1, { template: { name: "promo", language: "en_US", bodyParams: ["x"] } })
      yield* told(own, "promo", { category: "utility" }, own.start + second)
      assert.isTrue(yield* add(campaign, [row(1)]))
      yield* changed(campaign, own.start + minute, { _tag: "Check" })
      yield* workAll(own, own.start + minute)
      assert.deepInclude(yield* get(campaign), { status: "ready", checked: 2 })
      yield* changed(campaign, own.start + minute, { _tag: "Start" })
      assert.deepStrictEqual(yield* workAll(own, own.start + minute), [])
      assert.deepInclude(yield* get(campaign), { status: "paused", pausedFor: "template_category" })
      yield* changed(campaign, own.start + 2 * minute, { _tag: "Resume" })
      assert.lengthOf(yield* workAll(own, own.start + 2 * minute), 2)
    }))

  it.effect("a campaign that names no number sends from the one with which its rows were checked, or pauses itself", () =>
    Effect.gen(function*() {
      const store = yield* PhoneNumberStore.PhoneNumberStore
      const own = yield* world()
      const campaign = yield* running(own, 2)
      const other = yield* PhoneNumberFixture.further(own, {
        isDefault: true,
        providerAccountId: own.number.providerAccountId
      })
      assert.isTrue(yield* store.add(other))
      const [first] = yield* workAll(own, own.start, 1)
      const { accepted } = yield* claim(own, first!, own.start)
      assert.strictEqual(accepted.message.phoneNumberId, own.number.id)
      yield* store.remove(own.number.id)
      assert.deepStrictEqual(yield* workAll(own, own.start + minute), [])
      assert.deepInclude(yield* get(campaign), { status: "paused", pausedFor: "sender_not_available" })
      // the number has another id when it is added again
      const again = { ...own.number, id: yield* Fixture.id("pn"), isDefault: false }
      assert.isTrue(yield* store.add(again))
      yield* changed(campaign, own.start + minute, { _tag: "Resume" })
      const [second] = yield* workAll(own, own.start + 2 * minute, 1)
      const { accepted: sent } = yield* claim(own, second!, own.start + 2 * minute)
      assert.strictEqual(sent.message.phoneNumberId, again.id)
    }))

  it.effect("in a restored database, campaigns wait for a person, and heartbeats otherwise change nothing", () =>
    Effect.gen(function*() {
      const store = yield* CampaignStore.CampaignStore
      const queue = yield* QueueStore.QueueStore
      const own = yield* world()
      const at = own.start
      const [sends, scheduled, done, draft] = [
        yield* running(own, 2),
        yield* ready(own, 1, { startAt: at + hour }),
        yield* running(own, 1),
        yield* ready(own, 1)
      ]
      yield* changed(scheduled, at, { _tag: "Start" })
      yield* changed(done, at, { _tag: "Pause" })
      const statuses = Effect.forEach(
        [sends, scheduled, done, draft],
        (campaign) => Effect.map(get(campaign), ({ pausedFor, status }) => [status, pausedFor])
      )
      const before = yield* statuses
      // other tests have written heartbeats at other times
      const { at: first } = yield* queue.beat({ now: at, last: null, isRestored: false })
      assert.strictEqual(first, at)
      const next = yield* queue.beat({ now: at + 5 * second, last: at, isRestored: false })
      assert.deepStrictEqual(next, { at: at + 5 * second, waiting: 0, isHolding: false })
      assert.deepStrictEqual(yield* statuses, before)
      assert.deepStrictEqual((yield* store.paused(own.workspace.id)).map(({ id }) => id), [done.id])

      const late = at + 10 * minute
      const found = yield* queue.beat({ now: late, last: null, isRestored: false })
      assert.isAtLeast(found.waiting, 2)
      assert.deepStrictEqual(yield* statuses, [
        ["paused", "restored"],
        ["paused", "restored"],
        ["paused", "person"],
        ["ready", null]
      ])
      assert.deepStrictEqual(yield* workAll(own, late), [])
      const waiting = yield* store.paused(own.workspace.id)
      assert.sameMembers(waiting.map(({ id }) => id), [sends.id, scheduled.id, done.id])
      assert.includeMembers((yield* store.paused(null)).map(({ id }) => id), [sends.id, scheduled.id])

      assert.strictEqual((yield* changed(sends, late, { _tag: "Resume" })).status, "running")
      yield* queue.beat({ now: late, last: null, isRestored: false })
      assert.strictEqual((yield* get(sends)).status, "running")
      yield* queue.beat({ now: late, last: null, isRestored: true })
      assert.strictEqual((yield* get(sends)).pausedFor, "restored")
      yield* queue.release(null)
    }))

  it.effect("of processes that start together in a restored database, one makes the campaigns wait", () =>
    Effect.gen(function*() {
      const queue = yield* QueueStore.QueueStore
      const own = yield* world()
      const campaign = yield* running(own, 1)
      yield* queue.beat({ now: own.start, last: null, isRestored: false })
      const late = { now: own.start + 6 * minute, last: null, isRestored: false }
      const found = yield* Effect.forEach([1, 2, 3], () => queue.beat(late), { concurrency: "unbounded" })
      assert.isAbove(Math.max(...found.map(({ waiting }) => waiting)), 0)
      assert.strictEqual((yield* get(campaign)).pausedFor, "restored")
      yield* changed(campaign, late.now, { _tag: "Resume" })
      assert.strictEqual((yield* queue.beat(late)).waiting, 0)
      assert.strictEqual((yield* get(campaign)).status, "running")
    }))
}
