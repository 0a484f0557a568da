/**
 * The `clock` measurement (`npm run bench -- clock`): how long a fake hour, day and week take in memory, with one
 * listener and one message sent.
 */
import { Console, Effect } from "effect"
import { createWac, fakeClock, memory, sandbox } from "wac"
import { decimals, table } from "./Report.ts"
import { median } from "./Statistics.ts"
import * as Workload from "./Workload.ts"

export interface Plan {
  readonly rounds: number
}

const spans = ["1 hour", "24 hours", "7 days"] as const

/** The real time in seconds that a span takes in a new instance. */
const taken = async (span: typeof spans[number]): Promise<number> => {
  const clock = fakeClock()
  await using wac = await createWac({ storage: memory(), provider: sandbox(), clock })
  wac.on("message.read", () => {})
  await wac.messages.send(
    { to: "+15551234567", type: "template", template: { name: "hello_world", language: Workload.template.language } },
    { idempotencyKey: "1" }
  )
  const begin = performance.now()
  await clock.advance(span)
  return (performance.now() - begin) / 1000
}

export const run = ({ rounds }: Plan) =>
  Effect.gen(function*() {
    yield* Effect.promise(() => taken("1 hour"))
    const rows = yield* Effect.forEach(spans, (span) =>
      Effect.map(
        Effect.forEach(Array.from({ length: rounds }), () => Effect.promise(() => taken(span))),
        (seconds) => [span, decimals(median(seconds), 2)]
      ))
    yield* Console.log(table([["span", "seconds"], ...rows]))
  })
