import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { AlertStore } from "../../src/alerts/AlertStore.ts"
import { attemptOutcomes, groupOf, type Kind, type Occurrence, spans } from "../../src/usage/Timing.ts"
import { UsageRecorder } from "../../src/usage/UsageRecorder.ts"
import { UsageStore } from "../../src/usage/UsageStore.ts"
import { AttemptOutcome } from "../../src/webhooks/Delivery.ts"
import { outcomeOf } from "../../src/webhooks/ReceiverOutcome.ts"
import { attempts, ReceiverReports } from "../../src/webhooks/ReceiverReports.ts"
import { Webhooks } from "../../src/webhooks/Webhooks.ts"
import { hour, minute, second } from "../checks.ts"
import { advance } from "../clock.ts"
import { start } from "../samples.ts"
import { after, answered, answerWith, receiver, scheduling } from "../scheduling.ts"
import { newId, world } from "../world.ts"

const reporting = ReceiverReports.layer

const report = (...asked: Parameters<ReceiverReports["Service"]["report"]>) =>
  ReceiverReports.use((reports) => reports.report(...asked)).pipe(Effect.provide(reporting))

describe("the outcome of an attempt", () => {
  it("each outcome is told apart, and a status that is not 200 by its class", () => {
    const found = AttemptOutcome.literals.flatMap((outcome) =>
      outcome === "status"
        ? [204, 400, 503, 304, 600].map((statusCode) => outcomeOf({ outcome, statusCode }))
        : [outcomeOf({ outcome, statusCode: null })]
    )
    assert.sameMembers([...new Set(found)], [...attemptOutcomes])
    assert.deepStrictEqual(
      [204, 404, 500, 304].map((statusCode) => outcomeOf({ outcome: "status", statusCode })),
      ["status2xx", "status4xx", "status5xx", "statusOther"]
    )
  })
})

describe("attempts", () => {
  const count = (kind: Kind, durationMs: number) => ({ at: 0, kind, durationGroup: groupOf(durationMs), count: 1 })

  it("attempts that ended without a connection do not make the receiver look fast, and a timeout is at most the timeout", () => {
    const { outcomes, p50Ms, p95Ms } = attempts([
      count("connect", 1),
      count("dns", 1),
      count("tls", 1),
      count("blockedAddress", 1),
      count("timeout", 5003),
      count("arrival", 1)
    ])
    assert.deepStrictEqual([p50Ms, p95Ms], [5000, 5000])
    assert.strictEqual(Object.values(outcomes).reduce((a, b) => a + b), 5)
    assert.deepStrictEqual(attempts([count("connect", 1)]).p50Ms, null)
  })
})

describe("a report", () => {
  it.effect(
    "an attempt is counted with its outcome and its duration",
    () => {
      const counted: Array<Occurrence> = []
      return Effect.provideService(
        scheduling(() =>
          Effect.gen(function*() {
            const { workspace } = yield* receiver()
            yield* answerWith(after("1 second", answered(503)))
            const testing = yield* Effect.forkChild(Webhooks.use((webhooks) => webhooks.test(workspace.id)))
            yield* advance("1 second")
            yield* Effect.yieldNow
            assert.deepStrictEqual(testing.pollUnsafe()?._tag, "Success")
            assert.deepStrictEqual(counted, [{
              workspaceId: workspace.id,
              at: start,
              activity: "attemptsFailed",
              timed: { kind: "status5xx", durationMs: second }
            }])
          })
        )(),
        UsageRecorder,
        (happened) => counted.push(happened)
      )
    }
  )

  it.effect(
    "the report has the steps of its range, and when the webhook was failing or paused",
    scheduling(() =>
      Effect.gen(function*() {
        const { webhook, workspace } = yield* receiver()
        const at = start - start % hour
        const timed = (at: number, kind: Kind, durationMs: number, count: number) =>
          [spans.short, spans.hour].map((span) => ({
            workspaceId: workspace.id,
            span,
            at: at - at % span,
            kind,
            durationGroup: groupOf(durationMs),
            count
          }))
        yield* UsageStore.use((store) =>
          store.add({
            activities: [],
            timings: [
              ...timed(at, "delivered", 100, 19),
              ...timed(at, "timeout", 5001, 1),
              ...timed(at - 3 * hour, "delivered", 2, 1),
              ...timed(at, "arrival", 2, 5)
            ]
          })
        )
        const observe = (kind?: "webhook_failing" | "webhook_paused") =>
          Effect.gen(function*() {
            const ids = [yield* newId("alr"), yield* newId("alr")]
            const now = yield* Clock.currentTimeMillis
            yield* AlertStore.use((alerts) =>
              alerts.observe({
                now,
                workspaceId: workspace.id,
                problems: kind === undefined ? [] : [
                  { kind, subject: webhook.id, message: "so" },
                  { kind: "webhook_pausing", subject: webhook.id, message: "so" }
                ],
                ids
              })
            )
          })
        yield* observe("webhook_failing")
        yield* TestClock.setTime(start + minute)
        yield* observe("webhook_paused")
        const day = yield* report(workspace.id, {})
        assert.deepStrictEqual([day.step, day.steps.length], [hour, 24])
        assert.deepStrictEqual([day.outcomes.delivered, day.outcomes.timeout], [20, 1])
        assert.deepStrictEqual(day.steps.map(({ outcomes: { delivered } }) => delivered).slice(-4), [1, 0, 0, 19])
        assert.isAtLeast(day.p50Ms!, 100)
        assert.isAtMost(day.p95Ms!, 125)
        assert.deepStrictEqual(day.steps.at(-2)!.p50Ms, null)
        assert.deepStrictEqual(day.outages, [
          { kind: "failing", since: start, until: start + minute },
          { kind: "paused", since: start + minute, until: null }
        ])
        const last = yield* report(workspace.id, { period: "hour" })
        assert.deepStrictEqual([last.step, last.steps.length, last.outcomes.delivered], [5 * minute, 12, 19])
        assert.deepStrictEqual(last.outages, day.outages)
        const before = yield* report(workspace.id, { since: at - 5 * minute, until: at })
        assert.deepStrictEqual([before.steps.length, before.outcomes.delivered, before.outages], [1, 0, []])
      })
    )
  )

  it.effect(
    "without a webhook, a report has no outage",
    scheduling(() =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const { outages, p50Ms, steps } = yield* report(workspace.id, {})
        assert.deepStrictEqual([outages, p50Ms, steps.length], [[], null, 24])
      })
    )
  )
})
