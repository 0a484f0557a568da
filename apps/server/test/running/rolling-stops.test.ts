/**
 * Processes that are replaced one after the other while callers go on sending over connections that they keep: a stop
 * costs no caller more than a refused or closed idle connection, and what that met was not done (contract §8
 * *SIGTERM*).
 */
import { assert, describe, it } from "@effect/vitest"
import * as Extent from "@wac/testbed/Extent"
import { Effect, Fiber } from "effect"
import { setTimeout } from "node:timers/promises"
import { isUnanswered, post, steadily, type Target, target } from "../balancer.ts"
import { hello } from "../harness.ts"
import { freshDatabase, masterKey, postgres, signedIn, start, stop } from "../processes.ts"

const stops = Extent.of(2, 20)

const perSecond = 50

/** Every so many sends goes to a recipient whose answer the provider takes 3 s for: a stop finds those in flight. */
const slowEvery = 5

/** How long the load runs before each stop. */
const before = "1 second"

describe("rolling stops under load", () => {
  it.live(
    "rolling stops cost callers at most a refused or closed idle connection, and nothing happens twice",
    () =>
      Effect.gen(function*() {
        const env = {
          DATABASE_URL: yield* Effect.flatMap(postgres, freshDatabase),
          WAC_MASTER_KEY: masterKey(),
          LOG_LEVEL: "warn"
        }
        const begin = Effect.flatMap(start({ ...env, LOG_LEVEL: "info" }), target)
        let targets: ReadonlyArray<Target> = [yield* begin]
        const { key: { apiKey } } = yield* signedIn(targets[0]!.process)

        const wrong: Array<string> = []
        const failures: Array<string> = []
        let sent = 0
        /** A caller's send: as its balancer does, to one process, and to the next where there is no answer. */
        const send = async (i: number) => {
          const key = crypto.randomUUID()
          const to = i % slowEvery === 0 ? "+15005550010" : "+15005550003"
          let isHeard = false
          for (let tries = 0;; tries++) {
            const outcome = await post(targets[(i + tries) % targets.length]!, apiKey, key, hello(to))
            if (isUnanswered(outcome)) {
              failures.push(outcome.code)
              if (tries === 5) return void wrong.push(outcome.code)
              continue
            }
            if (outcome.status === 503 && outcome.text.includes("storage_unavailable") && tries < 5) {
              // a busy machine's storage may be late, which the log tells: the same request is repeated
              isHeard = true
              await setTimeout(1000)
              continue
            }
            // whoever was not answered was not heard either
            if (outcome.status !== 200 || (outcome.replayed && !isHeard)) wrong.push(JSON.stringify(outcome))
            else sent++
            return
          }
        }
        const all: Array<Promise<void>> = []
        const load = steadily(perSecond, () => void all.push(send(all.length)))

        for (let i = 0; i < stops; i++) {
          const [old] = targets
          const next = yield* begin
          targets = [old!, next]
          const loading = yield* Effect.forkChild(load, { startImmediately: true })
          yield* Effect.sleep(before)
          const from = performance.now()
          yield* stop(old!.process)
          assert.isBelow(performance.now() - from, 10_000)
          targets = [next]
          yield* Fiber.interrupt(loading)
          assert.strictEqual(old!.process.output.stderr, "")
          const warnings = old!.process.output.stdout.split("\n").filter((line) => /"level":"(ERROR|WARN)"/.test(line))
          // a busy machine's storage may be late
          const isLate = warnings.some((line) => line.includes("no response within"))
          const others = warnings.filter((line) =>
            !isLate || !/no response within|"reason":"storage_unavailable"/.test(line)
          )
          assert.deepStrictEqual(others, [])
        }
        yield* Effect.promise(() => Promise.all(all))
        assert.deepStrictEqual(wrong, [])
        assert.strictEqual(sent, all.length)
        assert.includeMembers(["ECONNREFUSED", "ECONNRESET", "EPIPE"], [...new Set(failures)])
        yield* stop(targets[0]!.process)
      }).pipe(Effect.scoped)
  )
})
