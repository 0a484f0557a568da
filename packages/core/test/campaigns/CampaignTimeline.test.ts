import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as CampaignTimeline from "../../src/campaigns/CampaignTimeline.ts"
import type { CampaignId } from "../../src/Id.ts"
import { between, checks, day, hour, minute } from "../checks.ts"
import { message as sample } from "../samples.ts"

const start = Date.UTC(2026, 0, 3, 8)

const campaignId = "cmp" as CampaignId
const queued = { ...sample(), campaignId, status: "queued" as const }
type Message = Parameters<typeof CampaignTimeline.changes>[0] extends Iterable<{ readonly after: infer A }> ? A : never

const sentAt = (at: number): Message => ({ ...queued, status: "sent", sentAt: at })
const deliveredAt = (at: number, message: Message): Message => ({ ...message, status: "delivered", deliveredAt: at })
const readAt = (at: number, message: Message): Message => ({ ...message, status: "read", readAt: at })

/** The changes of a message's life, from the queue on. */
const changesOf = (...life: ReadonlyArray<Message>) =>
  life.flatMap((after, i) => CampaignTimeline.changes([{ before: life[i - 1] ?? queued, after }]))

/** What is kept of changes. */
const kept = (changes: ReadonlyArray<CampaignTimeline.Change>): ReadonlyArray<CampaignTimeline.Count> => {
  const counts = new Map<number, CampaignTimeline.Count>()
  for (const { at, delivered, read, sent } of changes) {
    const known = counts.get(at) ?? { at, sent: 0, delivered: 0, read: 0 }
    counts.set(at, { at, sent: known.sent + sent, delivered: known.delivered + delivered, read: known.read + read })
  }
  return [...counts.values()].toSorted((a, b) => a.at - b.at)
}

const lifeOf = (sent: number, delivered: number, read: number) => {
  const first = sentAt(start + sent)
  const second = deliveredAt(start + sent + delivered, first)
  return [first, second, readAt(start + sent + delivered + read, second)] as const
}

describe("the timeline of a campaign", () => {
  it("a message counts where it was sent, delivered and read, each once", () => {
    const [sent, delivered, read] = lifeOf(minute / 2, minute, 2 * minute)
    const { step, steps } = CampaignTimeline.of(kept(changesOf(sent, delivered, read, { ...read, isHeld: false })))
    assert.strictEqual(step, minute)
    assert.deepStrictEqual(steps, [
      { at: start, sent: 1, delivered: 0, read: 0 },
      { at: start + minute, sent: 0, delivered: 1, read: 0 },
      { at: start + 2 * minute, sent: 0, delivered: 0, read: 0 },
      { at: start + 3 * minute, sent: 0, delivered: 0, read: 1 }
    ])
  })

  it("a message that failed after it was sent, and one that the provider holds, do not count", () => {
    const sent = sentAt(start)
    assert.lengthOf(CampaignTimeline.of(kept(changesOf(sent))).steps, 1)
    assert.deepStrictEqual(CampaignTimeline.of(kept(changesOf(sent, { ...sent, status: "failed" }))).steps, [])
    assert.deepStrictEqual(changesOf({ ...sent, isHeld: true }), [])
    assert.lengthOf(changesOf({ ...sent, isHeld: true }, sent), 1)
  })

  it("a message of no campaign changes nothing", () => {
    const sent = { ...sentAt(start), campaignId: null }
    assert.deepStrictEqual(CampaignTimeline.changes([{ before: queued, after: sent }]), [])
  })

  it("changes of messages in a span of time, of one campaign, are one", () => {
    const other = { ...sentAt(start), campaignId: "other" as CampaignId }
    const changes = CampaignTimeline.changes([
      ...[0, 1, minute].map((at) => ({ before: queued, after: sentAt(start + at) })),
      { before: queued, after: other }
    ])
    assert.deepStrictEqual(changes.map(({ at, campaignId, sent }) => [campaignId, at - start, sent]), [
      ["cmp", 0, 2],
      ["cmp", minute, 1],
      ["other", 0, 1]
    ])
  })

  it("a period leaves out what came later, and has shorter steps", () => {
    const counts = kept([
      ...changesOf(...lifeOf(0, minute, 3 * hour)),
      ...changesOf(...lifeOf(minute, 50 * minute, 20 * day))
    ])
    const lengths = (["hour", "day", "week", undefined] as const).map((period) => {
      const { step, steps } = CampaignTimeline.of(counts, period)
      return [step / minute, steps.length, steps.reduce((sum, { read }) => sum + read, 0)]
    })
    assert.deepStrictEqual(lengths, [[1, 52, 0], [5, 37, 1], [5, 37, 1], [720, 41, 2]])
  })

  const lengths = [5 * minute, 3 * hour, 3 * day, 60 * day].map((most) => between(0, most))
  const times = Schema.Tuple([Schema.Union(lengths), Schema.Union(lengths), Schema.Union(lengths)])

  it.prop(
    "however long it takes, nothing is lost, steps are few, and each has what happened in it",
    [Schema.NonEmptyArray(times)],
    ([all]) => {
      const messages = all.map((given) => lifeOf(...given))
      const { step, steps } = CampaignTimeline.of(kept(messages.flatMap((life) => changesOf(...life))))
      assert.isAtMost(steps.length, CampaignTimeline.maxSteps + 1)
      for (const stage of CampaignTimeline.stages) {
        const happened = messages.map(([, , read]) => read[`${stage}At`]!)
        assert.deepStrictEqual(
          steps.map((counts) => counts[stage]),
          steps.map(({ at }) => happened.filter((time) => time >= at && time < at + step).length)
        )
        assert.strictEqual(steps.reduce((sum, counts) => sum + counts[stage], 0), messages.length)
      }
    },
    checks
  )
})
