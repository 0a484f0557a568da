/**
 * Conformance of `CampaignStore.work` on a running campaign: which recipients it hands out, and when it hands them out
 * again.
 */
import { assert } from "@effect/vitest"
import { CampaignTally, CampaignWorkStep, CustomerRecords, CustomerStore, Message, MessageStore, Pace } from "@wac/core"
import { Duration, Effect } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import * as CampaignFixture from "./CampaignFixture.ts"

const { hour, minute, second, world } = Fixture
const { customer } = MessageFixture
const { changed, claim, counts, ended, get, running, sendOf, sent, stored, work, workAll } = CampaignFixture

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("recipients are handed out at the pace of the share, each once until its lease ends", () =>
    Effect.gen(function*() {
      const own = yield* world({ number: { tier: "standard" } })
      const campaign = yield* running(own, 100, { share: 0.5 })
      const inHorizon = 40 * Duration.toSeconds(Pace.horizon)
      const first = yield* workAll(own, own.start)
      assert.strictEqual(first.length, inHorizon)
      assert.deepStrictEqual(first.map(({ slot }) => slot), first.map((_, i) => own.start + i * 25))
      const again = yield* workAll(own, own.start + 100)
      assert.deepStrictEqual(again, [])
      const next = yield* workAll(own, own.start + 250)
      assert.deepStrictEqual(next.map(({ slot }) => slot), next.map((_, i) => own.start + 500 + i * 25))
      const seen = new Set([...first, ...next].map(({ message }) => message.id))
      assert.strictEqual(seen.size, first.length + next.length)
      // nobody sent anything: they are handed out again, the longest waiting first
      let now = own.start + 250 + Duration.toMillis(CampaignWorkStep.lease)
      while (seen.size < 100 && now < own.start + 3 * minute) {
        for (const { message } of yield* workAll(own, now += 500)) seen.add(message.id)
      }
      assert.strictEqual(seen.size, 100)
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ queued: 100 }))
    }))

  it.effect("concurrent workers hand out every recipient once", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* running(own, 60)
      const handed = yield* Effect.forEach(Array.from({ length: 24 }, (_, i) => i), (i) =>
        Effect.map(work(own, own.start + i * 1000, 10), (worked) => worked?.claimed ?? []), {
        concurrency: "unbounded"
      })
      const ids = handed.flat().map(({ message }) =>
        message.id
      )
      assert.strictEqual(new Set(ids).size, ids.length)
      assert.isAbove(ids.length, 0)
    }))

  it.effect("a recipient leaves the queue with its outcome, in the same step, and so does one that the sweep ends", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* running(own, 6)
      const claimed = yield* workAll(own, own.start)
      const [taken, refused, unknown, silent, unsent, delivered] = claimed
      const commands = yield* Effect.forEach(claimed, (recipient) => claim(own, recipient, own.start))
      const ends: ReadonlyArray<readonly [CampaignWorkStep.Claimed | undefined, MessageStore.SendEnd]> = [
        [taken, yield* MessageFixture.acceptedOutcome],
        [refused, yield* MessageFixture.refusedOutcome(own.start)],
        [unknown, { _tag: "Unknown" }],
        [unsent, yield* MessageFixture.notSentOutcome]
      ]
      // in one batch, of which only some leave the queue
      yield* Effect.forEach(ends, ([recipient, end]) =>
        Effect.map(
          MessageFixture.settle(commands[claimed.indexOf(recipient!)]!.command, end, own.start),
          (isSettled) => assert.isTrue(isSettled)
        ), { concurrency: "unbounded" })
      yield* MessageFixture.report({ status: "delivered", at: own.start, reference: delivered!.message.id })
      yield* MessageStore.MessageStore.use((store) => store.sweep(own.start + minute))
      const again = yield* workAll(own, own.start + Duration.toMillis(CampaignWorkStep.lease))
      assert.deepStrictEqual(again.map(({ message }) => message.id), [unsent!.message.id])
      assert.strictEqual((yield* stored(own, silent!.message.id)).status, "unknown")
      assert.deepStrictEqual(
        (yield* get(campaign)).counts,
        counts({ sent: 1, failed: 1, unknown: 2, queued: 1, delivered: 1 })
      )
    }))

  it.effect("a recipient's send takes no token of the workspace, and its key never expires", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world({ number: { tier: "standard" } })
      yield* running(own, 1)
      const [recipient] = yield* workAll(own, own.start)
      const { accepted, command } = yield* claim(own, recipient!, own.start)
      assert.deepStrictEqual(accepted.readings.map(({ policy }) => policy.name), ["phone_number", "pair"])
      assert.deepInclude(accepted.message, { id: recipient!.message.id, status: "sending", apiKeyId: null })
      assert.isTrue(yield* MessageFixture.settle(command, yield* MessageFixture.acceptedOutcome, own.start))
      const later = own.start + 26 * hour
      yield* messages.sweep(later)
      const again = yield* messages.accept(yield* sendOf(own, recipient!, later))
      assert.strictEqual(again._tag, "Answered")
    }))

  it.effect("after its customer was erased, an unknown message fails in time, and its key finds no customer", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const customers = yield* CustomerStore.CustomerStore
      const own = yield* world()
      const campaign = yield* running(own, 1)
      const [recipient] = yield* workAll(own, own.start)
      const { command } = yield* claim(own, recipient!, own.start)
      assert.isTrue(yield* MessageFixture.settle(command, { _tag: "Unknown" }, own.start))
      const { erased } = yield* customers.erase({
        workspaceId: own.workspace.id,
        names: CustomerRecords.namesOf(recipient!.message.content.to, []),
        hashes: {},
        place: "messages",
        after: null,
        now: own.start
      })
      assert.strictEqual(erased, 1)
      const again = yield* messages.accept(yield* sendOf(own, recipient!, own.start + minute))
      assert.strictEqual(again._tag, "Unknown")
      yield* messages.sweep(own.start + Duration.toMillis(Message.unknownTimeout))
      assert.deepInclude(yield* stored(own, recipient!.message.id), {
        status: "failed",
        error: Message.deliveryUnknown
      })
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ failed: 1 }))
    }))

  it.effect("a campaign's message that does not exist is not sent", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world()
      const campaign = yield* running(own, 1)
      const [recipient] = yield* workAll(own, own.start)
      const stray = { message: { ...recipient!.message, content: MessageFixture.template({ to: customer(9) }) } }
      assert.strictEqual((yield* messages.accept(yield* sendOf(own, stray, own.start)))._tag, "Unknown")
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ queued: 1 }))
    }))

  it.effect("a try that sent nothing is repeated after a while, and an abandoned one too", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world()
      const campaign = yield* running(own, 1)
      const [recipient] = yield* workAll(own, own.start)
      const first = yield* claim(own, recipient!, own.start)
      yield* MessageFixture.settle(first.command, yield* MessageFixture.notSentOutcome, own.start)
      yield* ended(recipient!, own.start, { _tag: "Again", after: Duration.minutes(5) })
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ queued: 1 }))
      assert.deepStrictEqual(yield* workAll(own, own.start + 4 * minute), [])
      const [again] = yield* workAll(own, own.start + 5 * minute)
      assert.deepInclude(again, { tries: 1 })
      assert.strictEqual(again!.message.id, recipient!.message.id)
      const second = yield* claim(own, again!, own.start + 5 * minute)
      yield* messages.abandon(second.command)
      yield* claim(own, again!, own.start + 6 * minute)
    }))

  it.effect("a recipient that missed its slot is due at once, and was not tried", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* running(own, 1)
      const [recipient] = yield* workAll(own, own.start)
      yield* ended(recipient!, own.start + second, { _tag: "Missed" })
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ queued: 1 }))
      const [again] = yield* workAll(own, own.start + second)
      assert.deepInclude(again, { tries: 0 })
      yield* sent(own, again!, own.start + second)
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ sent: 1 }))
    }))

  it.effect("a recipient whose try sent nothing is tried again after a pause of days", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world()
      const campaign = yield* running(own, 1, { notAfter: own.start + 10 * 24 * hour })
      const [recipient] = yield* workAll(own, own.start)
      const { command } = yield* claim(own, recipient!, own.start)
      yield* MessageFixture.settle(command, yield* MessageFixture.notSentOutcome, own.start)
      yield* ended(recipient!, own.start, { _tag: "Again", after: Duration.minutes(1) })
      yield* changed(campaign, own.start + second, { _tag: "Pause" })
      const monday = own.start + 3 * 24 * hour
      yield* messages.sweep(monday)
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ queued: 1 }))
      yield* changed(campaign, monday, { _tag: "Resume" })
      const [again] = yield* workAll(own, monday)
      yield* sent(own, again!, monday)
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ sent: 1 }))
    }))

  it.effect("nothing is sent after the campaign's last moment", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* running(own, 5, { notAfter: own.start + minute })
      assert.deepStrictEqual(yield* workAll(own, own.start + minute, 2), [])
      const after = yield* get(campaign)
      assert.deepInclude(after, { status: "completed", counts: counts({ skipped: 5 }) })
    }))

  it.effect("a recipient that our own rules stop is skipped with the reason, and only once", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* running(own, 1)
      const [recipient] = yield* workAll(own, own.start)
      const error: Message.MessageError = { code: "forbidden", reason: "opted_out", message: "the recipient opted out" }
      yield* ended(recipient!, own.start, { _tag: "Skipped", error })
      yield* ended(recipient!, own.start, { _tag: "Skipped", error: { ...error, reason: "other" } })
      assert.deepInclude(yield* stored(own, recipient!.message.id), { status: "skipped", error })
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ skipped: 1 }))
      assert.deepStrictEqual(CampaignTally.reasonsOf((yield* get(campaign)).tallies), [
        { outcome: "skipped", reason: "opted_out", recipients: 1 }
      ])
      assert.deepStrictEqual(yield* MessageFixture.eventsOf(own), [])
    }))
}
