import { assert, it } from "@effect/vitest"
import { CloudApi } from "@wac/simulator"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { connect } from "node:net"
import { call, path, plain, template } from "./CloudApiCalls.ts"

/** How long a caller waits for what does not come: time enough for the call to arrive on a machine that is busy. */
const hung = 1000

/** How a call ended for its caller, who gives up after so many real milliseconds, or never. */
const outcomeOf = (
  api: CloudApi.CloudApi,
  body: object,
  patience?: number
): Effect.Effect<{ readonly http: number; readonly text: string } | "broken" | "hanging"> =>
  Effect.promise(async () => {
    const signal = patience === undefined ? null : AbortSignal.timeout(patience)
    try {
      const response = await fetch(`${api.url}${path(api)}`, {
        method: "POST",
        headers: { authorization: `Bearer ${api.identity.accessToken}` },
        body: JSON.stringify(body),
        signal
      })
      return { http: response.status, text: await response.text() }
    } catch {
      return signal?.aborted === true ? "hanging" : "broken"
    }
  })

const send = (reference: string, rest: object = {}) => ({
  ...template("hello_world", [], { biz_opaque_callback_data: reference }),
  ...rest
})

const parses = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

it.live("a call breaks at the configured point, and its message counts as processed or not", () =>
  Effect.gen(function*() {
    const api = yield* CloudApi.make({ settings: { pairLimit: false } })
    const cases = [
      ["close_before_reading", 0, "broken"],
      ["reset_before", 0, "broken"],
      ["reset_after", 1, "broken"],
      ["cut_answer", 1, "broken"],
      ["hang_before", 0, "hanging"],
      ["hang_after", 1, "hanging"]
    ] as const
    for (const [kind, processed, outcome] of cases) {
      yield* api.fault({ next: [{ kind }] })
      assert.strictEqual(yield* outcomeOf(api, send(kind), outcome === "hanging" ? hung : undefined), outcome, kind)
      assert.strictEqual(yield* api.processed(kind), processed, kind)
      // the fault is over: a caller who sends again doubles what was processed
      assert.deepInclude(yield* outcomeOf(api, send(kind)), { http: 200 }, kind)
      assert.strictEqual(yield* api.processed(kind), processed + 1, kind)
    }
  }))

it.live("a response is spoilt as configured", () =>
  Effect.gen(function*() {
    const api = yield* CloudApi.make({ settings: { pairLimit: false } })
    const spoilt = Effect.fnUntraced(function*(fault: CloudApi.Fault, patience?: number) {
      yield* api.fault({ next: [fault] })
      const outcome = yield* outcomeOf(api, send(JSON.stringify(fault)), patience)
      return { outcome, processed: yield* api.processed(JSON.stringify(fault)) }
    })
    for (const [kind, processed] of [["html_before", 0], ["html_after", 1]] as const) {
      const html = yield* spoilt({ kind, http: 503 })
      assert.strictEqual(html.processed, processed)
      assert.ok(typeof html.outcome === "object")
      assert.strictEqual(html.outcome.http, 503)
      assert.match(html.outcome.text, /^<!DOCTYPE html>/)
    }
    const error = yield* spoilt({ kind: "error", code: 131057 })
    assert.strictEqual(error.processed, 0)
    assert.ok(typeof error.outcome === "object")
    assert.strictEqual(error.outcome.http, 500)
    assert.deepInclude(JSON.parse(error.outcome.text).error, {
      code: 131057,
      message: "(#131057) Account in maintenance mode"
    })
    const unknown = yield* spoilt({ kind: "error", code: 987654, http: 418, details: "odd" })
    assert.ok(typeof unknown.outcome === "object")
    assert.strictEqual(unknown.outcome.http, 418)
    assert.strictEqual(JSON.parse(unknown.outcome.text).error.error_data.details, "odd")
    assert.notProperty(JSON.parse(unknown.outcome.text).error, "is_transient")
    const transient = yield* spoilt({ kind: "error", code: 987654, transient: true })
    assert.ok(typeof transient.outcome === "object")
    assert.strictEqual(JSON.parse(transient.outcome.text).error.is_transient, true)

    const truncated = yield* spoilt({ kind: "truncated_json" })
    assert.strictEqual(truncated.processed, 1)
    assert.ok(typeof truncated.outcome === "object")
    assert.strictEqual(truncated.outcome.http, 200)
    assert.isAbove(truncated.outcome.text.length, 0)
    assert.isFalse(parses(truncated.outcome.text))

    const empty = yield* spoilt({ kind: "empty_body" })
    assert.deepStrictEqual(empty, { outcome: { http: 200, text: "" }, processed: 1 })

    const huge = yield* spoilt({ kind: "huge_body", bytes: 3_000_000 })
    assert.ok(typeof huge.outcome === "object")
    assert.strictEqual(huge.outcome.text.length, 3_000_000)
    assert.isTrue(parses(huge.outcome.text))
    assert.strictEqual(huge.processed, 1)

    const slow = yield* spoilt({ kind: "trickle", every: 50 }, hung)
    assert.deepStrictEqual(slow, { outcome: "hanging", processed: 1 })
    const patient = yield* spoilt({ kind: "trickle", every: 1 }, 20_000)
    assert.ok(typeof patient.outcome === "object")
    assert.isTrue(parses(patient.outcome.text))
  }))

it.live("faults apply by script, by recipient and a number of times, and not to other calls", () =>
  Effect.gen(function*() {
    const api = yield* CloudApi.make({ settings: { pairLimit: false } })
    const http = (reference: string, rest: object = {}) =>
      Effect.map(
        outcomeOf(api, send(reference, rest)),
        (outcome) => typeof outcome === "object" ? outcome.http : outcome
      )
    yield* api.fault({ next: [null, { kind: "reset_after" }] })
    assert.strictEqual((yield* call(api, `/v25.0/${api.identity.account}`)).http, 200)
    assert.deepStrictEqual([yield* http("a"), yield* http("b"), yield* http("c")], [200, "broken", 200])

    const struck = "+5531987654321"
    yield* api.fault({ recipients: [{ to: struck, fault: { kind: "html_before" }, times: 2 }] })
    // the same customer, under the name that upstream gives them
    const told = [yield* http("d", { to: struck }), yield* http("e"), yield* http("f", { to: "+553187654321" })]
    assert.deepStrictEqual(told, [502, 200, 502])
    assert.strictEqual(yield* http("g", { to: struck }), 200)

    yield* api.fault({ target: "reads", next: [{ kind: "error", code: 80007 }] })
    assert.strictEqual(yield* http("h"), 200)
    assert.strictEqual((yield* call(api, `/v25.0/${api.identity.account}`)).json.error.code, 80007)

    // some numbers behave so by themselves: refused twice; carried out and never answered
    const codes = yield* Effect.replicateEffect(http("i", { to: "+15005550008" }), 3)
    assert.deepStrictEqual(codes, [400, 400, 200])
    assert.strictEqual(yield* outcomeOf(api, send("j", { to: "+15005550010" }), hung), "hanging")
    assert.strictEqual(yield* api.processed("j"), 1)
  }))

it.live("random faults depend on the seed and the message, however the calls race", () =>
  Effect.gen(function*() {
    const struck = (seed: number, references: ReadonlyArray<string>) =>
      Effect.scoped(Effect.gen(function*() {
        const api = yield* CloudApi.make({ seed, settings: { throughput: 1000, pairLimit: false, window: false } })
        yield* api.fault({ random: { rate: 0.5, faults: [{ kind: "html_before" }, { kind: "html_after" }] } })
        yield* Effect.forEach(
          references,
          (reference) => outcomeOf(api, { ...plain, biz_opaque_callback_data: reference }),
          {
            concurrency: 8
          }
        )
        return {
          faults: Object.fromEntries((yield* api.calls).map(({ fault, reference }) => [reference, fault])),
          processed: Object.fromEntries(yield* api.allProcessed)
        }
      }))
    const references = Array.from({ length: 60 }, (_, i) => `msg_${i}`)
    const one = yield* struck(5, references)
    assert.deepStrictEqual(yield* struck(5, references.toReversed()), one)
    assert.notDeepEqual((yield* struck(6, references)).faults, one.faults)
    const kinds = Object.values(one.faults)
    for (const kind of [undefined, "html_before", "html_after"]) {
      assert.isAbove(kinds.filter((fault) => fault === kind).length, 5)
    }
    for (const reference of references) {
      assert.strictEqual(one.processed[reference] ?? 0, one.faults[reference] === "html_before" ? 0 : 1)
    }
  }))

it.live("refused connections are accepted again on the same port", () =>
  Effect.gen(function*() {
    const api = yield* CloudApi.make()
    const connects = Effect.callback<boolean>((resume) => {
      const socket = connect(api.port, "127.0.0.1")
      socket.on("connect", () => resume(Effect.succeed(true)))
      socket.on("error", () => resume(Effect.succeed(false)))
      return Effect.sync(() => socket.destroy())
    })
    assert.isTrue(yield* connects)
    yield* api.refuseConnections
    assert.isFalse(yield* connects)
    assert.strictEqual(yield* outcomeOf(api, send("a")), "broken")
    yield* api.acceptConnections
    assert.deepInclude(yield* outcomeOf(api, send("a")), { http: 200 })
    assert.strictEqual(yield* api.processed("a"), 1)
  }))

it.effect("a late call is carried out after its caller may have gone", () =>
  Effect.gen(function*() {
    const api = yield* CloudApi.make({ settings: { deliveredAfter: null, readAfter: null } })
    yield* api.fault({ next: [{ kind: "late", after: 9000 }] })
    assert.strictEqual(yield* outcomeOf(api, send("a"), hung), "hanging")
    yield* TestClock.adjust("8999 millis")
    assert.strictEqual(yield* api.processed("a"), 0)
    yield* TestClock.adjust("1 millis")
    assert.strictEqual(yield* api.processed("a"), 1)
    yield* TestClock.adjust("1 second")
    assert.strictEqual(api.courier.told().length, 1)
  }))

it.live("calls for a recipient count as repeated after an accepted or lost call, but not after a refusal", () =>
  Effect.gen(function*() {
    const api = yield* CloudApi.make({ settings: { pairLimit: false } })
    const cases: ReadonlyArray<readonly [CloudApi.Fault | null, calls: number, accepted: number, repeated: number]> = [
      [{ kind: "error", code: 130429 }, 2, 1, 0],
      [null, 2, 2, 1],
      [{ kind: "reset_before" }, 2, 1, 1],
      [{ kind: "reset_after" }, 2, 2, 1],
      [{ kind: "html_before" }, 2, 1, 1]
    ]
    for (const [i, [fault, calls, accepted, repeated]] of cases.entries()) {
      const to = `+1555000000${i}`
      yield* api.fault({ next: [fault] })
      for (const n of [1, 2]) yield* outcomeOf(api, send(`${to} ${n}`, { to }))
      const tally = [...yield* api.recipients].find(([name]) => to.endsWith(name.replace("+", "")))?.[1]
      assert.deepStrictEqual(tally, { calls, accepted, repeated }, JSON.stringify(fault))
    }
  }))
