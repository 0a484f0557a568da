/**
 * The simulated Cloud API, with the wire going wrong at every point of a call: what the provider says became of a send
 * is so.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Id, Provider } from "@wac/core"
import { CloudApi } from "@wac/simulator"
import { Duration, Effect, References } from "effect"
import { send, text } from "./samples.ts"
import { simulated } from "./simulation.ts"

const sends = 1_000

/** So often one who is told that nothing was sent tries again. */
const attempts = 4

const messageOf = (i: number) => `msg_01ARZ3NDEKTSV4RRFFQ6${String(i).padStart(6, "0")}` as Id.MessageId
const recipientOf = (i: number) => `+1202555${String(i).padStart(4, "0")}`

describe("sends over a wire that breaks", () => {
  it.live("over a failing connection, exactly the sends that are reported as sent reach the customer, and none twice", () =>
    Effect.gen(function*() {
      const { api, number, provider } = yield* simulated({ sendTimeout: Duration.millis(300) })
      // a crash of ours is not among these: what follows from that is the core's
      yield* api.fault({ random: { rate: 0.5, faults: CloudApi.faults } })

      /** As a caller does it who goes by the answers: once more only after "not sent". */
      const sendWithRetries = Effect.fnUntraced(function*(i: number) {
        const command = send({ ...text, to: recipientOf(i) }, { sender: number, messageId: messageOf(i) })
        for (let attempt = 1;; attempt++) {
          const outcome = yield* provider.send(command)
          const processed = yield* api.processed(messageOf(i))
          if (outcome._tag === "Accepted") assert.strictEqual(processed, 1, messageOf(i))
          else if (outcome._tag !== "Unknown") assert.strictEqual(processed, 0, `${messageOf(i)}: ${outcome.error}`)
          if (outcome._tag !== "NotSent" || attempt === attempts) return outcome
        }
      })

      const outcomes = yield* Effect.forEach(Array.from({ length: sends }, (_, i) => i), sendWithRetries, {
        concurrency: 32
      })

      const processed = yield* api.allProcessed
      assert.deepStrictEqual([...processed].filter(([, times]) => times !== 1), [])
      // the run is worth something: every end was there, and of the unknown ones both kinds
      const of = (tag: Provider.ProviderOutcome["_tag"]) =>
        outcomes.flatMap((outcome, i) => outcome._tag === tag ? [processed.has(messageOf(i))] : [])
      assert.deepStrictEqual(new Set(of("Unknown")), new Set([true, false]))
      for (const tag of ["Accepted", "Refused", "Unknown"] as const) assert.isAtLeast(of(tag).length, 20, tag)
      const calls = yield* api.calls
      assert.isAtLeast(calls.length, sends)
      for (const { kind } of CloudApi.faults) assert.isTrue(calls.some(({ fault }) => fault === kind), kind)
    }).pipe(Effect.provideService(References.MinimumLogLevel, "None")))
})
