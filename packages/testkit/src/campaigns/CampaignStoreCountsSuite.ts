/**
 * Conformance of what `CampaignStore` counts: outcomes, variants and corrections.
 */
import { assert } from "@effect/vitest"
import {
  CampaignStore,
  CampaignTally,
  type CampaignWorkStep,
  CheckedRow,
  Comparison,
  CustomerRecords,
  CustomerStore,
  type Message,
  Recipient,
  type Time,
  Variant
} from "@wac/core"
import { Effect } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import * as CampaignFixture from "./CampaignFixture.ts"

const { hour, minute, second, world } = Fixture
const { customer } = MessageFixture
const { add, changed, claim, completions, counts, draft, ended, get, row, rows, running, sent, workAll } =
  CampaignFixture

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a campaign without recipients in its queue is completed once, with its counts", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* running(own, 4)
      const claimed = yield* workAll(own, own.start)
      assert.strictEqual(claimed.length, 4)
      const [a, b, c, d] = claimed as [
        CampaignWorkStep.Claimed,
        CampaignWorkStep.Claimed,
        CampaignWorkStep.Claimed,
        CampaignWorkStep.Claimed
      ]
      const at = own.start + second
      yield* sent(own, a, at)
      yield* sent(own, b, at)
      yield* MessageFixture.report({ status: "read", at: at + second, reference: b.message.id })
      const { command: refused } = yield* claim(own, c, at)
      assert.isTrue(yield* MessageFixture.settle(refused, yield* MessageFixture.refusedOutcome(at), at))
      yield* workAll(own, at + minute / 2)
      assert.strictEqual((yield* get(campaign)).status, "running")
      const { command: unknown } = yield* claim(own, d, at)
      assert.isTrue(yield* MessageFixture.settle(unknown, { _tag: "Unknown" }, at))
      // as a process does that finds an outcome
      yield* ended(d, at, { _tag: "Done" })
      yield* ended(d, at, { _tag: "Done" })
      const expected = counts({ sent: 1, read: 1, failed: 1, unknown: 1 })
      assert.deepStrictEqual((yield* get(campaign)).counts, expected)
      yield* Effect.forEach([0, 1, 2], () => workAll(own, at + minute), { concurrency: "unbounded" })
      assert.deepInclude(yield* get(campaign), { status: "completed", completedAt: at + minute, counts: expected })
      const [completed, ...more] = yield* completions(own)
      assert.deepStrictEqual(more, [])
      assert.deepStrictEqual(completed?.data, {
        campaign_id: campaign.id,
        name: "Orders",
        status: "completed",
        total: 4,
        ...expected
      })
      // counts go on with the provider's reports
      yield* MessageFixture.report({ status: "delivered", at: at + hour, reference: a.message.id })
      assert.deepStrictEqual(
        (yield* get(campaign)).counts,
        counts({ delivered: 1, read: 1, failed: 1, unknown: 1 })
      )
    }))

  it.effect("each customer gets one of two variants, and outcomes are counted by variant", () =>
    Effect.gen(function*() {
      const store = yield* CampaignStore.CampaignStore
      const own = yield* world()
      const campaign = yield* draft(own, {
        templateB: { name: "promo", language: "en_US", bodyParams: ["{{number}}"] }
      })
      const customers = Array.from({ length: 60 }, (_, n) => ({
        n,
        variant: Variant.of(campaign, Recipient.customerOf(row(n))!),
        // values of its own, which fit the first template only
        hasValues: n % 3 === 0
      }))
      const isUnfit = ({ hasValues, variant }: (typeof customers)[number]) => hasValues && variant === "b"
      const ofA = customers.filter(({ variant }) => variant === "a").length
      const unfit = customers.filter(isUnfit).length
      const ofB = customers.length - ofA - unfit
      yield* add(
        campaign,
        customers.map(({ hasValues, n }): Recipient.Row =>
          hasValues ? { recipient: { to: customer(n), bodyParams: ["two", "values"] } } : row(n)
        )
      )
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* workAll(own, own.start, 16)
      const checked = yield* get(campaign)
      assert.deepInclude(checked, { status: "ready", problems: unfit, counts: counts({ queued: ofA + ofB }) })
      const report = yield* store.rows(own.workspace.id, campaign.id, { limit: 100, after: 0 })
      assert.deepStrictEqual(
        report.map(({ message, problem }) => [
          message?.variant,
          message?.content.type === "template" ? message.content.template.name : undefined,
          problem?.reason
        ]),
        customers.map((given) =>
          isUnfit(given)
            ? [undefined, undefined, "template_params_mismatch"]
            : [given.variant, given.variant === "a" ? "order" : "promo", undefined]
        )
      )
      const expected = checked.forecast!.lines.map(({ category, messages }) => [category, messages])
      assert.sameDeepMembers(expected, [["utility", ofA], ["marketing", ofB]])

      yield* changed(campaign, own.start, { _tag: "Start" })
      const claimed: Array<CampaignWorkStep.Claimed> = []
      for (let at = own.start; at < own.start + minute / 2; at += 500) claimed.push(...yield* workAll(own, at))
      // several writers change the counts
      yield* Effect.forEach(claimed, (recipient) =>
        Effect.gen(function*() {
          const { command } = yield* claim(own, recipient, own.start)
          const end = recipient.message.variant === "b"
            ? MessageFixture.acceptedOutcome
            : MessageFixture.refusedOutcome(own.start)
          yield* MessageFixture.settle(command, yield* end, own.start)
        }), { concurrency: 8 })
      const [first] = claimed.filter(({ message }) => message.variant === "b")
      yield* MessageFixture.report({ status: "read", at: own.start + second, reference: first!.message.id })
      const after = yield* get(campaign)
      assert.deepStrictEqual(after.counts, counts({ failed: ofA, sent: ofB - 1, read: 1 }))
      const compared = Comparison.of(after.tallies)
      assert.deepStrictEqual(compared.counts, { a: counts({ failed: ofA }), b: counts({ sent: ofB - 1, read: 1 }) })
      assert.deepInclude(compared.read, { a: 0, b: 1 / ofB })
    }))

  it.effect("a correction moves a recipient from the failures to what was true, in every count, once", () =>
    Effect.gen(function*() {
      const customers = yield* CustomerStore.CustomerStore
      const own = yield* world()
      const campaign = yield* draft(own, {
        templateB: { name: "order", language: "en_US", bodyParams: ["{{number}}", "here"] }
      })
      yield* add(campaign, rows(40))
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* workAll(own, own.start)
      yield* changed(campaign, own.start, { _tag: "Start" })
      const claimed: Array<CampaignWorkStep.Claimed> = []
      for (let at = own.start; claimed.length < 40; at += 500) claimed.push(...yield* workAll(own, at))
      const of = (variant: Variant.Variant) => claimed.filter((recipient) => recipient.message.variant === variant)
      const failedBy = (recipient: CampaignWorkStep.Claimed, n: number) =>
        Effect.gen(function*() {
          const { command } = yield* claim(own, recipient, own.start)
          if (n % 2 === 0) {
            yield* MessageFixture.settle(command, yield* MessageFixture.refusedOutcome(own.start), own.start)
          } else {
            yield* MessageFixture.settle(command, yield* MessageFixture.acceptedOutcome, own.start)
            yield* MessageFixture.report({ status: "failed", at: own.start, reference: command.messageId })
          }
        })
      yield* Effect.forEach(claimed, failedBy, { concurrency: 8 })
      const [ofA, ofB] = [of("a"), of("b")]
      const all = yield* get(campaign)
      assert.deepStrictEqual(all.counts, counts({ failed: 40 }))
      assert.deepStrictEqual(CampaignTally.reasonsOf(all.tallies), [
        { outcome: "failed", reason: "undeliverable", recipients: 40 }
      ])
      // the customers of some are erased before their failure is corrected
      for (const { message } of ofB.slice(0, 2)) {
        yield* customers.erase({
          workspaceId: own.workspace.id,
          names: CustomerRecords.namesOf(message.content.to, []),
          hashes: {},
          place: "messages",
          after: null,
          now: own.start
        })
      }
      const tell = (recipients: ReadonlyArray<CampaignWorkStep.Claimed>, status: Message.Report["status"]) =>
        Effect.forEach(
          [...recipients, ...recipients],
          ({ message: { id } }) => MessageFixture.report({ status, at: own.start + second, reference: id }),
          { concurrency: 8, discard: true }
        )
      yield* tell(claimed, "sent")
      yield* tell(ofA.slice(0, 3), "delivered")
      yield* tell(ofB.slice(0, 4), "read")
      yield* tell(claimed, "failed")
      const { counts: after, tallies } = yield* get(campaign)
      assert.deepStrictEqual(after, counts({ failed: 33, delivered: 3, read: 4 }))
      assert.deepStrictEqual(CampaignTally.reasonsOf(tallies), [
        { outcome: "failed", reason: "undeliverable", recipients: 33 }
      ])
      const compared = Comparison.of(tallies)
      assert.deepStrictEqual(compared.counts, {
        a: counts({ failed: ofA.length - 3, delivered: 3 }),
        b: counts({ failed: ofB.length - 4, read: 4 })
      })
      assert.deepInclude(compared.delivered, { a: 3 / ofA.length, b: 4 / ofB.length })
    }))

  it.effect("messages are counted when they were sent, delivered and read, by whichever process", () =>
    Effect.gen(function*() {
      const store = yield* CampaignStore.CampaignStore
      const own = yield* world()
      const campaign = yield* running(own, 20)
      const other = yield* running(yield* world(), 1)
      const timeline = store.timeline(campaign.workspaceId, campaign.id)
      const claimed: Array<CampaignWorkStep.Claimed> = []
      for (let at = own.start; claimed.length < 20; at += 500) claimed.push(...yield* workAll(own, at))
      assert.deepStrictEqual(yield* timeline, [])
      const begin = own.start - own.start % minute + minute
      const sendAll = (recipients: ReadonlyArray<CampaignWorkStep.Claimed>, at: Time.Instant) =>
        Effect.forEach(recipients, (recipient) => sent(own, recipient, at), { concurrency: 8, discard: true })
      yield* sendAll(claimed.slice(0, 10), begin)
      yield* sendAll(claimed.slice(10), begin + minute)
      assert.deepStrictEqual(yield* timeline, [
        { at: begin, sent: 10, delivered: 0, read: 0 },
        { at: begin + minute, sent: 10, delivered: 0, read: 0 }
      ])
      const tell = (recipients: ReadonlyArray<CampaignWorkStep.Claimed>, status: Message.Report["status"]) =>
        Effect.forEach(
          [...recipients, ...recipients],
          ({ message: { id } }) => MessageFixture.report({ status, at: begin + 5 * minute, reference: id }),
          { concurrency: 8, discard: true }
        )
      yield* tell(claimed.slice(0, 6), "delivered")
      yield* tell(claimed.slice(0, 4), "read")
      yield* tell(claimed.slice(18), "failed")
      const told = yield* timeline
      assert.deepStrictEqual(told, [
        { at: begin, sent: 10, delivered: 0, read: 0 },
        { at: begin + minute, sent: 8, delivered: 0, read: 0 },
        { at: begin + 5 * minute, sent: 0, delivered: 6, read: 4 }
      ])
      const { counts: after } = yield* get(campaign)
      assert.deepStrictEqual(after, counts({ sent: 12, delivered: 2, read: 4, failed: 2 }))
      assert.deepStrictEqual(yield* store.timeline(other.workspaceId, campaign.id), [])
      assert.deepStrictEqual(yield* store.timeline(other.workspaceId, other.id), [])
    }))

  it.effect("a message that the provider holds is counted as held until its next report", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* running(own, 2)
      const [first, second] = yield* workAll(own, own.start)
      for (const recipient of [first!, second!]) {
        const { command } = yield* claim(own, recipient, own.start)
        const end = { ...yield* MessageFixture.acceptedOutcome, isHeld: true }
        assert.isTrue(yield* MessageFixture.settle(command, end, own.start))
      }
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ held: 2 }))
      const { id, workspaceId } = campaign
      const rows = yield* CampaignStore.CampaignStore.use((store) =>
        store.rows(workspaceId, id, { limit: 9, after: 0 })
      )
      const held = rows.filter((row) => CheckedRow.isSelected(row, { outcome: "held" }))
      assert.deepStrictEqual(held.map(({ message }) => [message?.status, message?.isHeld]), [
        ["sent", true],
        ["sent", true]
      ])
      const at = own.start + hour
      yield* MessageFixture.report({ status: "sent", at, reference: first!.message.id })
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ sent: 1, held: 1 }))
      yield* MessageFixture.report({
        status: "failed",
        at,
        reference: second!.message.id,
        error: { code: "forbidden", reason: "template_not_approved", message: "the template is paused" }
      })
      const { counts: after, tallies } = yield* get(campaign)
      assert.deepStrictEqual(after, counts({ sent: 1, failed: 1 }))
      assert.deepStrictEqual(CampaignTally.reasonsOf(tallies), [
        { outcome: "failed", reason: "template_not_approved", recipients: 1 }
      ])
    }))
}
