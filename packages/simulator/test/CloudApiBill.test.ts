import { assert, it } from "@effect/vitest"
import { CloudApi } from "@wac/simulator"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { call, path, plain, template } from "./CloudApiCalls.ts"

it.effect("each message that reached its customer is charged once, by the number's market, unless it is free", () =>
  Effect.gen(function*() {
    const rates: ReadonlyArray<CloudApi.Rate> = [
      { market: "elsewhere", prefix: "", category: "utility", price: 9 },
      { market: "DE", prefix: "49", category: "utility", price: 55_000 },
      { market: "DE", prefix: "49", category: "marketing", price: 136_500 }
    ]
    const api = yield* CloudApi.make({ settings: { rates, duplicates: 1, pairLimit: false } })
    const [german, indian, free, failing, waiting] = [
      "+4915112341000",
      "+919876541000",
      "+4915112341001",
      "+4915112341002",
      "+4915112341003"
    ] as const
    yield* api.receive({ from: free, text: "Hello" })
    yield* api.behave(failing, { fail: { code: 131026, afterSent: true } })
    yield* api.behave(waiting, { until: "sent" })
    for (const to of [german, german, indian, free, failing, waiting]) {
      assert.strictEqual((yield* call(api, path(api), { ...template("hello_world"), to })).http, 200)
    }
    yield* call(api, path(api), { ...plain, to: free })
    assert.deepStrictEqual(yield* api.bill, [])
    yield* TestClock.adjust("1 second")
    assert.sameDeepMembers([...yield* api.bill], [
      { market: "DE", category: "utility", messages: 2, amount: 110_000 },
      { market: "elsewhere", category: "utility", messages: 1, amount: 9 }
    ])
  }))
