#!/usr/bin/env node
/**
 * `npm run simulator`: runs the simulated Cloud API for a service beside it with `PROVIDER=whatsapp`. `SIMULATOR_PORT`
 * sets the port, `SIMULATOR_SEED` the random seed and `SIMULATOR_CALLBACK` the webhook URL. SIGTERM and SIGINT stop it.
 */
import { Clock, Effect, Fiber } from "effect"
import * as CloudApi from "./CloudApi.ts"
import * as CloudApiClock from "./control/CloudApiClock.ts"

const defaultPort = 8090
const defaultCallback = "http://127.0.0.1:8080/providers/whatsapp/webhook"

/** The value of a variable, or its default. An invalid value ends the process with an error that names the variable. */
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
  `A simulated WhatsApp Cloud API is running at ${url}. Start the service with

  ${Object.entries(environment).map(([name, value]) => `${name}=${value}`).join(" \\\n  ")} npm start

It posts webhooks to ${callback} once that URL is verified. To control it:

  curl ${url}/_sim                                                          # lists all commands
  curl ${url}/_sim/log                                                      # received calls, sent webhooks
  curl ${url}/_sim/inbound -d '{"from":"+16505551234","text":"Hello"}'      # a customer writes
  curl ${url}/_sim/faults -d '{"next":[{"kind":"reset_after"}]}'            # the next send fails
  curl ${url}/_sim/settings -d '{"duplicates":0.5,"jitter":2000}'           # doubled and late webhooks
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
        yield* say(`Not verified yet: ${problem}`)
        told = problem
      }
      yield* Effect.sleep("1 second")
    }
    yield* say(`Verified: ${callback}`)
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
