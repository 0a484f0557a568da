/**
 * A durable subscription in three processes, one of which is killed again and again: every event is handled, in order
 * for each message, by one process at a time, and what is handled again is told as such (contract §16).
 */
import { assert, it } from "@effect/vitest"
import * as Extent from "@wac/testbed/Extent"
import { Effect, Fiber } from "effect"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createWac, postgres as storage, sandbox, WacError } from "wac"
import * as checks from "../checks.ts"
import { freshDatabase, kill, launch, masterKey, postgres, type Running } from "../processes.ts"

const messages = Extent.of(200, 6000)
const kills = Extent.of(4, 50)
const processCount = 3

/** One handler of so many rejects. */
const failEvery = 100

/** How many events a process handles at the same time: no more can be repeated because of a kill. */
const concurrency = 3

/** How many of the events may be handled again where there are many. */
const mostRepeats = 0.005

interface Line {
  readonly what: string
  readonly event: string
  readonly message: string
  readonly type: string
  readonly attempt: number
  readonly pid: number
}

const linesOf = (text: string): ReadonlyArray<Line> =>
  text.split("\n").filter((line) => line !== "").map((line) => {
    const [what = "", event = "", message = "", type = "", attempt, pid] = line.split(" ")
    return { what, event, message, type, attempt: Number(attempt), pid: Number(pid) }
  })

const steps = ["message.sent", "message.delivered", "message.read"]

it.live(
  "kill -9 of subscribers loses no event, keeps the order of each message, and tells what is repeated",
  () =>
    Effect.gen(function*() {
      const database = yield* Effect.flatMap(postgres, freshDatabase)
      const key = masterKey()
      const folder = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "wac-subscriptions-"))),
        (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
      )
      const file = join(folder, "handled")
      const wac = yield* Effect.acquireRelease(
        Effect.promise(() => createWac({ storage: storage(database), provider: sandbox(), masterKey: key })),
        (wac) => Effect.promise(wac.close)
      )
      const begin = Effect.gen(function*() {
        const running = yield* launch({}, "subscriber", [database, key, file, `${failEvery}`, `${concurrency}`])
        yield* checks.until(
          Effect.sync(() => running.output.stdout + (running.child.exitCode === null ? "" : running.output.stderr)),
          (text) => text !== ""
        )
        assert.include(running.output.stdout, "subscribed", running.output.stderr)
        return running
      })
      const alive: Array<Running> = [...yield* Effect.all(Array.from({ length: processCount }, () => begin))]
      const lines = Effect.map(Effect.promise(() => readFile(file, "utf8").catch(() => "")), linesOf)

      let killed = 0
      const isKilling = () => killed < kills
      const dead = new Set<number>()
      const killing = yield* Effect.forkScoped(
        Effect.gen(function*() {
          // the process that handles events now, where there is one
          const last = (yield* lines).at(-1)?.pid
          const victim = alive.find(({ child }) => child.pid === last) ?? alive[0]!
          alive.splice(alive.indexOf(victim), 1)
          yield* kill(victim)
          dead.add(victim.child.pid!)
          killed++
          alive.push(yield* begin)
        }).pipe(Effect.delay("500 millis"), Effect.repeat({ while: isKilling }))
      )
      const sent: Array<string> = []
      /** Sends a message. As a host does, it repeats a send that a busy machine had no time to store. */
      const send = async (n: number): Promise<string> => {
        const to = `+49151${10_000_000 + n}`
        const message = { to, type: "template", template: { name: "hello_world", language: "en_US" } } as const
        for (;;) {
          try {
            return (await wac.messages.send(message, { idempotencyKey: `m-${n}` })).messageId
          } catch (error) {
            if (!(error instanceof WacError && error.reason === "storage_unavailable")) throw error
          }
        }
      }
      yield* Effect.promise(async () => {
        for (let n = 0; n < messages || isKilling(); n++) {
          sent.push(await send(n))
          await new Promise((resolve) => setTimeout(resolve, 15))
        }
      })
      yield* Fiber.join(killing)
      const all = yield* checks.until(
        Effect.delay(lines, "500 millis"),
        (all) => new Set(all.filter(({ what }) => what === "end").map(({ event }) => event)).size >= sent.length * 3
      )

      const ended = new Map<string, number>()
      const reached = new Map<string, number>()
      const begun = new Map<string, number>()
      for (const { attempt, event, message, type, what } of all) {
        const place = steps.indexOf(type)
        if (what === "begin") {
          const before = begun.get(event) ?? 0
          assert.isAbove(attempt, before, `${event} was begun again without being told so`)
          begun.set(event, attempt)
          assert.isAtLeast(reached.get(message) ?? 0, place, `${message} ${type} came too early`)
        }
        if (what === "end") {
          ended.set(event, (ended.get(event) ?? 0) + 1)
          reached.set(message, Math.max(reached.get(message) ?? 0, place + 1))
        }
      }
      for (const id of sent) assert.strictEqual(reached.get(id), 3, id)
      assert.strictEqual(ended.size, sent.length * 3)
      const repeated = [...ended.values()].filter((times) => times > 1).length
      assert.isAtMost(repeated, kills * concurrency)
      if (Extent.of(false, true)) assert.isAtMost(repeated, ended.size * mostRepeats)
      assert.strictEqual(killed, kills)
      // one process at a time: what another one began has ended, or its process was killed
      const open = new Map<string, number>()
      for (const { event, pid, what } of all) {
        if (what === "begin") {
          const others = [...open.values()].filter((other) => other !== pid && !dead.has(other))
          assert.deepStrictEqual(others, [], `${pid} began ${event} beside another process`)
          open.set(event, pid)
        } else open.delete(event)
      }
      yield* Effect.logInfo(`${ended.size} events, ${killed} kills, ${repeated} handled twice`)
    }).pipe(Effect.scoped),
  Extent.of(600_000, 3_600_000)
)
