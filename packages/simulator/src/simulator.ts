#!/usr/bin/env node
/**
 * `npm run simulator`: the simulated Cloud API by itself, for a service that runs beside it with
 * `PROVIDER=whatsapp`. `SIMULATOR_PORT`, `SIMULATOR_SEED` and `SIMULATOR_CALLBACK` change where it listens, its chance
 * and where it posts; SIGTERM and SIGINT stop it.
 */
import { Clock, Effect, Fiber } from "effect"
import * as CloudApi from "./CloudApi.ts"
import * as CloudApiClock from "./control/CloudApiClock.ts"

const defaultPort = 8090
const defaultCallback = "http://127.0.0.1:8080/providers/whatsapp/webhook"

/** A variable, or else what it is without; one that is of no use ends the process and is named. */
const variable = (name: string, without: string | number, isUseful: (value: string) => boolean, expected: string) => {
  const value = process.env[name] || `${without}`
  if (isUseful(value)) return value
  console.error(`${name} must be ${expected}`)
  return process.exit(1)
}

const upTo = (most: number) => (value: string) => /^\d{1,16}$/.test(value) && Number(value) <= most

const port = Number(variable("SIMULATOR_PORT", defaultPort, upTo(65_535), "a port, or 0 for a free one"))
const seed = Number(variable("SIMULATOR_SEED", 1, upTo(Number.MAX_SAFE_INTEGER), "a whole number"))
const callback = variable(
  "SIMULATOR_CALLBACK",
  defaultCallback,
  (value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ""),
  "an http or https URL"
)

const say = (line: string) => Effect.sync(() => console.log(line))

const introduction = ({ environment, url }: CloudApi.CloudApi): string =>
  `A simulated WhatsApp Cloud API at ${url}. Start the service beside it with

  ${Object.entries(environment).map(([name, value]) => `${name}=${value}`).join(" \\\n  ")} npm start

It posts to ${callback}, once the handshake there has succeeded. To steer it:

  curl ${url}/_sim                                                          # all that there is, and its numbers
  curl ${url}/_sim/log                                                      # what came, what was posted
  curl ${url}/_sim/inbound -d '{"from":"+16505551234","text":"Hello"}'      # a customer writes
  curl ${url}/_sim/faults -d '{"next":[{"kind":"reset_after"}]}'            # the next send breaks
  curl ${url}/_sim/settings -d '{"duplicates":0.5,"jitter":2000}'           # bad habits
  curl ${url}/_sim/clock -d '{"advance":86400000}'                          # a day passes
`

const main = Effect.gen(function*() {
  const movable = CloudApiClock.make(yield* Clock.Clock)
  yield* Effect.gen(function*() {
    const api = yield* CloudApi.make({ port, seed, advance: movable.advance })
    yield* say(introduction(api))
    const subscribe = api.courier.subscribe(callback, api.identity.verifyToken)
    let told = ""
    while (true) {
      const { problem, subscribed } = yield* subscribe
      if (subscribed) break
      if (problem !== undefined && problem !== told) {
        yield* say(`Not subscribed yet: ${problem}`)
        told = problem
      }
      yield* Effect.sleep("1 second")
    }
    yield* say(`Subscribed: ${callback}`)
    return yield* Effect.never
  }).pipe(
    Effect.scoped,
    Effect.provideService(Clock.Clock, movable.clock),
    Effect.catch((problem) =>
      Effect.sync(() => {
        console.error(`The simulator cannot listen: ${problem}`)
        process.exitCode = 1
      })
    )
  )
})

const running = Effect.runFork(main)
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void Effect.runFork(Fiber.interrupt(running)))
}
