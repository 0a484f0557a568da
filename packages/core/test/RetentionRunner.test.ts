import { assert, describe, it } from "@effect/vitest"
import { MemoryStorage } from "@wac/memory"
import { Duration, Effect, Layer, Metric } from "effect"
import { TestClock } from "effect/testing"
import { AuditStore } from "../src/audit/AuditStore.ts"
import { EventStore } from "../src/events/EventStore.ts"
import * as Message from "../src/messages/Message.ts"
import { MessageStore } from "../src/messages/MessageStore.ts"
import { RequestStore } from "../src/requests/RequestStore.ts"
import * as Retention from "../src/Retention.ts"
import * as RetentionRunner from "../src/RetentionRunner.ts"
import { StoreError } from "../src/StoreError.ts"
import type { Instant } from "../src/Time.ts"
import { DeliveryStore } from "../src/webhooks/DeliveryStore.ts"
import { day } from "./checks.ts"

/** A metric by the kind of record. */
const byKind = (name: string) =>
  Effect.map(
    Metric.snapshot,
    (metrics) =>
      new Map(metrics.flatMap((metric) =>
        metric.id !== name || (metric.type !== "Gauge" && metric.type !== "Counter")
          ? []
          : [
            [
              metric.attributes?.["kind"],
              Number(metric.type === "Gauge" ? metric.state.value : metric.state.count)
            ] as const
          ]
      ))
  )

/**
 * The ages beyond which each kind is deleted in the first round, in days, and what the metrics report after it. The log
 * of requests cannot be deleted.
 */
const firstRound = (retention: Retention.Retention) =>
  Effect.gen(function*() {
    const ages: Array<readonly [kind: string, days: number]> = []
    const now = Duration.toMillis(Duration.days(1000))
    const noting = (kind: string, steps = 1) => (before: Instant) =>
      Effect.sync(() => {
        ages.push([kind, (now - before) / day])
        return { removed: 7, isMore: ages.filter(([other]) => other === kind).length < steps }
      })
    const noted = Layer.mergeAll(
      Layer.effect(
        DeliveryStore,
        Effect.map(DeliveryStore, (store) => ({ ...store, forgetAttempts: noting("attempts") }))
      ),
      Layer.effect(EventStore, Effect.map(EventStore, (store) => ({ ...store, forget: noting("events", 3) }))),
      Layer.effect(
        MessageStore,
        Effect.map(MessageStore, (store) => ({
          ...store,
          forget: noting("messages"),
          forgetBodies: noting("bodies")
        }))
      ),
      Layer.effect(
        RequestStore,
        Effect.map(RequestStore, (store) => ({
          ...store,
          forget: () => Effect.fail(new StoreError({ operation: "RequestStore.forget" }))
        }))
      ),
      Layer.effect(AuditStore, Effect.map(AuditStore, (store) => ({ ...store, forget: noting("audit") })))
    )
    yield* TestClock.setTime(now)
    yield* Layer.build(RetentionRunner.layer.pipe(
      Layer.provide(noted),
      Layer.provide(MemoryStorage.layer),
      Layer.provide(Layer.succeed(Retention.CurrentRetention, retention))
    ))
    yield* TestClock.adjust("1 second")
    return {
      ages: ages.map(([kind, days]) => [kind, Math.round(days)] as const),
      exactAges: ages,
      began: now / 1000,
      completed: yield* byKind("wac_retention_completed_timestamp_seconds"),
      failures: yield* byKind("wac_retention_failures_total"),
      removed: yield* byKind("wac_retention_removed_total")
    }
  }).pipe(Effect.scoped, Effect.provideService(Metric.MetricRegistry, new Map()))

const agesOf = (retention: Retention.Retention) => Effect.map(firstRound(retention), ({ ages }) => ages)

describe("the deletion of old records", () => {
  it.effect("each kind is deleted at its own age, step by step, and a kind that fails leaves the others alone", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* agesOf({ ...Retention.standard, events: 3, audit: 100 }), [
        ["attempts", 30],
        ["events", 3],
        ["events", 3],
        ["events", 3],
        ["messages", 400],
        ["audit", 100]
      ])
    }))

  it.effect("a kind's round deletes what was old when it began, not what becomes old meanwhile", () =>
    Effect.gen(function*() {
      const { exactAges } = yield* firstRound(Retention.standard)
      const ofEvents = exactAges.filter(([kind]) => kind === "events").map(([, age]) => age)
      assert.deepStrictEqual(ofEvents, [30, 30, 30])
    }))

  it.effect("each kind reports when none was left, and a kind that fails still reports the start", () =>
    Effect.gen(function*() {
      const { began, completed, failures } = yield* firstRound(Retention.standard)
      // two pauses between the steps of the events before it
      assert.isAbove(completed.get("audit")!, began)
      assert.strictEqual(completed.get("requests"), began)
      assert.deepStrictEqual([failures.get("requests"), failures.get("audit")], [1, 0])
      assert.includeMembers([...completed.keys()], [
        "attempts",
        "events",
        "messages",
        "sessions",
        "kept_answers",
        "usage"
      ])
    }))

  it.effect("each kind counts what was deleted, from 0", () =>
    Effect.gen(function*() {
      const { completed, removed } = yield* firstRound(Retention.standard)
      assert.deepStrictEqual([removed.get("events"), removed.get("audit"), removed.get("requests")], [21, 7, 0])
      assert.includeMembers([...removed.keys()], [...completed.keys()])
    }))

  it.effect("what messages said is deleted by itself only if it is kept for a shorter time than they are", () =>
    Effect.gen(function*() {
      const ages = new Map((yield* agesOf({ ...Retention.standard, bodies: 5 })).map(([kind, age]) => [kind, age]))
      assert.strictEqual(ages.get("bodies"), 5)
    }))
})

describe("what a message said", () => {
  it("of a template, the name and language stay, and nothing of its values", () => {
    const message: Message.OutboundMessage = {
      type: "template",
      to: "+14155550123",
      from: "+14155550100",
      clientReference: "order-7",
      template: { name: "order", language: "en_US", bodyParams: ["Ada"] }
    }
    assert.deepStrictEqual(Message.withoutBody(message), {
      ...message,
      template: { name: "order", language: "en_US" }
    })
  })

  it("of every other kind, only the addresses stay", () => {
    const message: Message.OutboundMessage = {
      type: "text",
      to: "+14155550123",
      context: { message_id: "msg_00000000000000000000000000" as never },
      text: { body: "Ada" }
    }
    assert.deepStrictEqual<unknown>(Message.withoutBody(message), { type: "text", to: "+14155550123", text: {} })
  })
})
