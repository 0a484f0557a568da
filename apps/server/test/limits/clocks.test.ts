/**
 * Two server processes over one database whose clocks differ by 10 s (by Debian's `faketime`), and of which one stands
 * still again and again: limits are those of the workspace, whoever is asked.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Extent from "@wac/testbed/Extent"
import * as Program from "@wac/testbed/Program"
import { Clock, Effect, Fiber } from "effect"
import { execFileSync } from "node:child_process"
import { hello, send } from "../harness.ts"
import { freshDatabase, type Listening, masterKey, postgres, signedIn, start } from "../processes.ts"

const needed = Program.needed({
  programs: ["faketime"],
  untested: "processes whose clocks differ",
  install: "apt-get install faketime"
})

/** What `faketime` has a program load. */
const library = () => execFileSync("faketime", ["-f", "+0s", "printenv", "LD_PRELOAD"], { encoding: "utf8" }).trim()

/** Sends a second, with a burst of twice as many. */
const rate = 20
const burst = 2 * rate

/** How long a process stands still, and how often. */
const stall = Extent.of(1500, 10_000)
const stalls = Extent.of(2, 12)

let recipients = 0

/**
 * Sends. A process that has stood still may turn away what waited in it, or have closed a connection that it took for
 * idle: then it is asked again with the same key, as a client does.
 */
const sends = (key: { readonly apiKey: string }, of: ReadonlyArray<Listening>, hasStoodStill = false) =>
  Effect.forEach(
    of,
    ({ url }) =>
      Effect.suspend(() => {
        const body = hello(`+1202555${String(1000 + recipients++ % 9000)}`)
        const headers = { "idempotency-key": crypto.randomUUID() }
        const once = send({ url, key }, body, headers)
        if (!hasStoodStill) return once
        return Effect.catchDefect(
          Effect.flatMap(once, (answer) => answer.status === 503 ? once : Effect.succeed(answer)),
          () => once
        )
      }),
    { concurrency: "unbounded" }
  )

const statuses = (answers: ReadonlyArray<{ readonly status: number }>) => answers.map(({ status }) => status)

const all200 = (answers: ReadonlyArray<{ readonly status: number; readonly text: string }>) =>
  assert.deepStrictEqual(answers.filter(({ status }) => status !== 200).map(({ text }) => text), [])

/** So long takes a bucket to fill. */
const full = Effect.sleep("2100 millis")

describe("two processes", needed, () => {
  it.live(
    "two processes whose clocks differ by 10 s together allow exactly the workspace's limit, even if one is stopped",
    () =>
      Effect.gen(function*() {
        const env = {
          DATABASE_URL: yield* Effect.flatMap(postgres, freshDatabase),
          WAC_MASTER_KEY: masterKey(),
          WAC_LIMITS: JSON.stringify({
            workspaceTiers: { standard: rate },
            phoneNumberTiers: { standard: 1000 },
            pair: { everySeconds: 0.01, burst: 1000 }
          })
        }
        const right = yield* start(env)
        const ahead = yield* start({
          ...env,
          LD_PRELOAD: library(),
          FAKETIME: "+10s",
          FAKETIME_DONT_FAKE_MONOTONIC: "1"
        })
        const { key } = yield* signedIn(right)
        const [date] = yield* sends(key, [ahead])
        const skew = Date.parse(date!.headers.get("date")!) - (yield* Clock.currentTimeMillis)
        assert.isAbove(skew, 8000)

        yield* full
        // the one that is ahead first: what it spends is not spent for the other's next ten seconds
        for (let i = 0; i < burst / 2; i++) all200(yield* sends(key, [ahead, right]))

        yield* full
        const begun = performance.now()
        const flood = statuses(
          yield* sends(key, Array.from({ length: 4 * burst }, (_, i) => i % 2 === 0 ? ahead : right))
        )
        const meanwhile = (performance.now() - begun) / 1000
        const allowed = flood.filter((status) => status === 200).length
        assert.sameMembers([...new Set(flood)], [200, 429])
        assert.isAtLeast(allowed, burst)
        assert.isAtMost(allowed, burst + Math.ceil(meanwhile * rate) + 1)

        for (let i = 0; i < stalls; i++) {
          yield* full
          const stalled = i % 2 === 0 ? ahead : right
          const other = stalled === ahead ? right : ahead
          const crowd = yield* Effect.forkChild(
            sends(key, Array.from({ length: burst / 4 }, () => stalled), true),
            { startImmediately: true }
          )
          yield* Effect.sleep("5 millis")
          stalled.child.kill("SIGSTOP")
          yield* Effect.ensuring(
            Effect.gen(function*() {
              all200(yield* sends(key, Array.from({ length: burst / 4 }, () => other)))
              yield* Effect.sleep(stall)
              // it comes back while the other is in the middle of its own
              yield* Effect.forkChild(sends(key, Array.from({ length: burst / 4 }, () => other)))
            }),
            Effect.sync(() => stalled.child.kill("SIGCONT"))
          )
          all200(yield* Fiber.join(crowd))
        }
      }).pipe(Effect.scoped),
    Extent.of(600_000, 600_000)
  )
})
