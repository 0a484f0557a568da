/**
 * How long after their times queued messages come to the provider.
 */
import { Time as Timestamp } from "@wac/core"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { because, BenchFailed } from "./BenchFailed.ts"
import type { Arrival, Question } from "./CloudApiProcess.ts"
import type * as Simulated from "./Simulated.ts"
import * as Time from "./Time.ts"
import * as Workload from "./Workload.ts"

export interface World extends Simulated.Simulated {
  readonly target: Workload.Target
}

/** How many messages are due in a second. */
export const perSecond = 200

/** How long after its time a message may be sent at the 99th percentile, in milliseconds. */
export const soon = 1000

/** How long all messages are queued before the first is due, in seconds: some, and more for each batch. */
const lead = { some: 5, batch: 1 }

/** How long the last messages have to be sent, in seconds. */
const arriveWithin = 60

/** The template that is sent. */
export const template = { name: "hello_world", language: "en_US" }

/** A message as callers ask for it. */
export const messageTo = (to: string): object => ({ to, type: "template", template })

/** The customers of a measurement, which the provider tells apart by their country and the first of their digits. */
const recipient = (n: number) => `+49152${String(n).padStart(8, "0")}`

export const digits = (phoneNumber: string): string => phoneNumber.replace("+", "")

/** All calls to the provider so far. */
export const arrivals = (world: World): Effect.Effect<ReadonlyArray<Arrival>, BenchFailed> =>
  world.provider.ask<ReadonlyArray<Arrival>>("arrivals" satisfies Question)

/** Queues messages in one batch. Fails unless each is queued. */
const queue = (target: Workload.Target, messages: ReadonlyArray<object>): Effect.Effect<void, BenchFailed> =>
  Effect.tryPromise({
    try: async (signal) => {
      const { headers, path } = Workload.calls.Batch
      const response = await fetch(target.url + path, {
        method: "POST",
        headers: { ...Workload.headersOf(target, randomUUID()), ...headers },
        body: Workload.batchOf(messages.map((message) => ({ idempotency_key: randomUUID(), ...message }))),
        signal
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`${response.status} ${text}`)
      const refused = (JSON.parse(text) as { readonly results: ReadonlyArray<{ readonly status: string }> }).results
        .find(({ status }) => status !== "queued")
      if (refused !== undefined) throw new Error(JSON.stringify(refused))
    },
    catch: because("a batch")
  })

/**
 * Has messages sent at their times for so many seconds, to customers counted from `first`. Returns how late they came,
 * in milliseconds and sorted; the run is invalid if one came early, never or twice.
 */
export const measure = Effect.fnUntraced(function*(
  world: World,
  { first, seconds }: { readonly first: number; readonly seconds: number }
): Effect.fn.Return<ReadonlyArray<number>, BenchFailed> {
  const { target } = world
  const count = perSecond * seconds
  const batches = Math.ceil(count / Workload.perBatch)
  const begins = Time.now() + (lead.some + lead.batch * batches) * 1000
  const sendAt = (n: number) => begins + n * 1000 / perSecond
  for (let batch = 0; batch < batches; batch++) {
    const from = batch * Workload.perBatch
    yield* queue(
      target,
      Array.from({ length: Math.min(Workload.perBatch, count - from) }, (_, i) => ({
        ...messageTo(recipient(first + from + i)),
        send_at: Timestamp.iso(sendAt(from + i))
      }))
    )
  }
  if (Time.now() >= begins) return yield* new BenchFailed({ message: "messages were due before all were queued" })
  yield* Effect.sleep(Math.max(0, sendAt(count) - Time.now()))
  const own = Effect.map(
    arrivals(world),
    (all) => Map.groupBy(all, ({ to }) => digits(to!))
  )
  const last = Time.now() + arriveWithin * 1000
  const isThere = (came: ReadonlyMap<string, unknown>) =>
    Array.from({ length: count }, (_, n) => came.has(digits(recipient(first + n)))).every((has) => has)
  let came = yield* own
  while (!isThere(came) && Time.now() < last) {
    yield* Effect.sleep("500 millis")
    came = yield* own
  }
  const late: Array<number> = []
  for (let n = 0; n < count; n++) {
    const times = came.get(digits(recipient(first + n))) ?? []
    if (times.length !== 1) {
      return yield* new BenchFailed({ message: `a queued message came ${times.length} times to the provider` })
    }
    late.push(times[0]!.at - sendAt(n))
  }
  late.sort((a, b) => a - b)
  return late[0]! < 0
    ? yield* new BenchFailed({ message: `a message was sent ${-late[0]!} ms before its time` })
    : late
})
