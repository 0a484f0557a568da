/**
 * The `verify` measurement: what it costs to verify a delivery and parse its event. Compares `@wac/verifier` with
 * `stripe`, `standardwebhooks` and `svix` on the same bodies in one process.
 */
import { receive, sign, SIGNATURE_HEADER, signStandardWebhook, STANDARD_WEBHOOK_HEADERS, verify } from "@wac/verifier"
import { Console, Effect } from "effect"
import { randomBytes } from "node:crypto"
import { cpus } from "node:os"
import { Webhook as StandardWebhook } from "standardwebhooks"
import Stripe from "stripe"
import { Webhook as SvixWebhook } from "svix"
import { because, type BenchFailed } from "./BenchFailed.ts"
import { decimals, table, verdict } from "./Report.ts"
import { median } from "./Statistics.ts"
import { now } from "./Time.ts"

interface Contestant {
  readonly name: string
  /** Runs `times` times in a row. Returns false if a delivery was refused. */
  readonly run: (times: number) => boolean | Promise<boolean>
}

/** The pairs to compare; both sides of a pair do the same work. */
const pairs = [
  ["verify and parse", "receive", "stripe constructEvent"],
  ["verify alone", "verify", "stripe verifyHeader"],
  ["verify and parse", "receive", "standardwebhooks"],
  ["verify and parse", "receive", "svix"]
] as const

/** An event in combined form, padded to about `bytes` bytes. */
const bodyOf = (bytes: number): Buffer => {
  const body = (reference: string) =>
    JSON.stringify({
      id: "evt_01KDZ8J3M5Q2V7XWBN4T6R9GHC",
      object: "event",
      type: "message.delivered",
      created_at: "2026-01-02T03:04:05.000Z",
      tenant_id: "ws_01KDZ8J3M5Q2V7XWBN4T6R9GHC",
      data: { message_id: "msg_01KDZ8J3M5Q2V7XWBN4T6R9GHC", status: "delivered", client_reference: reference }
    })
  return Buffer.from(body("x".repeat(Math.max(0, bytes - body("").length))))
}

const contestantsOf = async (body: Buffer): Promise<ReadonlyArray<Contestant>> => {
  const secret = `whsec_${randomBytes(30).toString("hex").slice(0, 40)}`
  const id = "evt_01KDZ8J3M5Q2V7XWBN4T6R9GHC"
  const timestamp = Math.floor(now() / 1000)
  const header = await sign(body, secret, timestamp)
  const headers = {
    "content-type": "application/json",
    "content-length": `${body.length}`,
    [SIGNATURE_HEADER.toLowerCase()]: header,
    [STANDARD_WEBHOOK_HEADERS.id]: id,
    [STANDARD_WEBHOOK_HEADERS.timestamp]: `${timestamp}`,
    [STANDARD_WEBHOOK_HEADERS.signature]: await signStandardWebhook({ id, timestamp, body, secret })
  }
  const { webhooks } = new Stripe("sk_test_unused")
  const standardWebhook = new StandardWebhook(secret)
  const svixWebhook = new SvixWebhook(secret)
  const each = (once: () => unknown) => (times: number) => {
    let all = true
    for (let i = 0; i < times; i++) all = Boolean(once()) && all
    return all
  }
  const eachOf = (once: () => Promise<{ readonly ok: boolean }>) => async (times: number) => {
    let all = true
    for (let i = 0; i < times; i++) all = (await once()).ok && all
    return all
  }
  return [
    { name: "receive", run: eachOf(() => receive(body, headers, secret)) },
    { name: "stripe constructEvent", run: each(() => webhooks.constructEvent(body, header, secret)) },
    { name: "verify", run: eachOf(() => verify(body, header, secret)) },
    { name: "stripe verifyHeader", run: each(() => webhooks.signature!.verifyHeader(body, header, secret)) },
    { name: "standardwebhooks", run: each(() => standardWebhook.verify(body, headers)) },
    { name: "svix", run: each(() => svixWebhook.verify(body, headers)) }
  ]
}

export interface Plan {
  readonly rounds: number
  /** The length of one contestant's turn in a round. */
  readonly milliseconds: number
}

const sizes = [["small", 0], ["1 KiB", 1024], ["16 KiB", 16_384]] as const

/**
 * Microseconds per delivery, by contestant and round. It counts the process's processor time over all threads, which
 * the machine's other work disturbs less than wall-clock time.
 */
const measure = async ({ milliseconds, rounds }: Plan, contestants: ReadonlyArray<Contestant>) => {
  const measured = contestants.map(() => [] as Array<number>)
  // the first two rounds warm up the compiler and find out how many calls fit into a turn
  const times = contestants.map(() => 100)
  for (let round = -2; round < rounds; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      const i = (turn + round + 2) % contestants.length
      const { name, run } = contestants[i]!
      const start = process.cpuUsage()
      if (!(await run(times[i]!))) {
        throw new Error(`${name} refused a good delivery`)
      }
      const { system, user } = process.cpuUsage(start)
      const taken = (system + user) / 1000
      if (round < 0) {
        times[i] = Math.max(1, Math.round(times[i]! * milliseconds / taken))
      } else {
        measured[i]!.push(taken * 1000 / times[i]!)
      }
    }
  }
  return new Map(contestants.map(({ name }, i) => [name, measured[i]!]))
}

/** Measures and prints the results. Fails if a valid delivery is refused. */
export const run = (plan: Plan): Effect.Effect<void, BenchFailed> =>
  Effect.gen(function*() {
    yield* Console.log(
      `Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? "?"}\n` +
        `${plan.rounds} interleaved rounds of ${plan.milliseconds} ms each; bodies as bytes; µs of processor time per delivery, medians\n`
    )
    const bySize: Array<readonly [string, ReadonlyMap<string, ReadonlyArray<number>>]> = []
    for (const [size, bytes] of sizes) {
      bySize.push([
        size,
        yield* Effect.tryPromise({
          try: async () => measure(plan, await contestantsOf(bodyOf(bytes))),
          catch: because("the verifications")
        })
      ])
    }
    const names = [...bySize[0]![1].keys()]
    yield* Console.log(table([
      ["", ...bySize.map(([size]) => size)],
      ...names.map((name) => [name, ...bySize.map(([, measured]) => decimals(median(measured.get(name)!), 2))])
    ]))
    for (const [work, ours, theirs] of pairs) {
      yield* Console.log(`\n${ours} over ${theirs} (${work}), in deliveries per second`)
      for (const [size, measured] of bySize) {
        const [mine, other] = [measured.get(ours)!, measured.get(theirs)!]
        const each = mine.map((time, i) => other[i]! / time)
        const ratio = median(other) / median(mine)
        yield* Console.log(
          `${size.padEnd(6)}  ${decimals(ratio, 2)}  rounds ${decimals(Math.min(...each), 2)} to ${
            decimals(Math.max(...each), 2)
          }${verdict(ratio, { least: 1 })}`
        )
      }
    }
  })
