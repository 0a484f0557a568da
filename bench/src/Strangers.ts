/**
 * The `strangers` measurement: how long a caller with an API key waits for `GET /v1/templates` while hundreds of
 * unauthenticated connections send requests to public endpoints.
 */
import { Console, Effect, Fiber } from "effect"
import { cpus } from "node:os"
import { because, type BenchFailed } from "./BenchFailed.ts"
import * as Child from "./Child.ts"
import * as Dashboard from "./Dashboard.ts"
import * as ProcessUse from "./ProcessUse.ts"
import { decimals, table, whole } from "./Report.ts"
import { percentile } from "./Statistics.ts"
import type { Question, Told } from "./StrangersProcess.ts"

export interface Plan {
  /** The number of unauthenticated connections. */
  readonly connections: number
  /** The duration of each kind of request. */
  readonly seconds: number
}

/** The goal for the 99th percentile of the caller's requests, in milliseconds. */
const soon = 100

/** The goal for the growth of the server's memory, in bytes. */
const mostMemory = 100_000_000

/** The rate of the caller's requests. The schedule is fixed and does not wait for responses. */
const perSecond = 20

const key = `Bearer wac_live_${"x".repeat(36)}`
const json = { "content-type": "application/json", "sec-fetch-site": "same-origin" }

type Kind = Pick<Question, "method" | "path" | "headers" | "body" | "spread">

const kind = (method: string, path: string, body: unknown = undefined, headers = {}, spread = false): Kind => ({
  method,
  path,
  headers: { "accept-encoding": "gzip", ...body === undefined ? {} : json, ...headers },
  body: body === undefined ? "" : JSON.stringify(body),
  spread
})

const guess = { email: "owner@example.com", password: "a password, guessed" }
const setUp = { ...guess, token: "x", workspaceName: "x" }

const kinds: ReadonlyArray<readonly [name: string, kind: Kind]> = [
  ["/docs", kind("GET", "/docs")],
  ["/openapi.json", kind("GET", "/openapi.json")],
  ["sign-in, one address", kind("POST", "/internal/session", guess)],
  ["sign-in, many addresses and accounts", kind("POST", "/internal/session", guess, {}, true)],
  ["/setup", kind("GET", "/setup")],
  ["set-up with a wrong token", kind("POST", "/internal/setup", setUp, {}, true)],
  ["refused sends", kind("POST", "/v1/messages", { to: "+15551234567" }, { authorization: key })]
]

const ask = (url: string, apiKey: string): Effect.Effect<number, BenchFailed> =>
  Effect.tryPromise({
    try: async () => {
      const from = performance.now()
      const response = await fetch(`${url}/v1/templates`, { headers: { authorization: `Bearer ${apiKey}` } })
      await response.arrayBuffer()
      if (response.status !== 200) throw new Error(`answered with ${response.status}`)
      return performance.now() - from
    },
    catch: because("the caller with a key")
  })

/** The duration in milliseconds of each of the caller's requests within `seconds`, sorted. */
const waits = Effect.fnUntraced(function*(url: string, apiKey: string, seconds: number) {
  const asked: Array<Fiber.Fiber<number, BenchFailed>> = []
  for (let i = 0; i < seconds * perSecond; i++) {
    asked.push(yield* Effect.forkChild(ask(url, apiKey), { startImmediately: true }))
    yield* Effect.sleep(1000 / perSecond)
  }
  return (yield* Fiber.joinAll(asked)).toSorted((a, b) => a - b)
})

const row = (name: string, times: ReadonlyArray<number>, grown: number, told: string) => [
  name,
  decimals(percentile(times, 0.5), 1),
  decimals(percentile(times, 0.99), 1),
  decimals(times.at(-1) ?? Number.NaN, 1),
  whole(grown / 1e6),
  told
]

/** Measures and prints the results. Fails if the caller's requests fail. */
export const run = Effect.fnUntraced(function*({ connections, seconds }: Plan) {
  const server = yield* Child.start<{ readonly url: string }>("ServerProcess", {
    ...Dashboard.environment,
    PORT: "0",
    DATABASE_URL: "memory:",
    LOG_LEVEL: "error",
    TRUST_PROXY: "127.0.0.0/8"
  })
  const { url } = server.ready
  const strangers = yield* Child.start<null>("StrangersProcess", { url })
  const dashboard = yield* Dashboard.signIn(url)
  const { body } = yield* dashboard.ask("POST", "/internal/api-keys", { name: "bench" }, { "idempotency-key": "bench" })
  const apiKey = String(body["apiKey"])
  yield* Console.log(
    `Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? "?"}\n` +
      `${connections} connections of strangers for ${seconds} s each, beside ${perSecond} requests a second with a key\n`
  )
  const memory = Effect.promise(() => ProcessUse.memory(server.pid))
  yield* waits(url, apiKey, 2)
  // warm-up with a few connections
  for (const [, what] of kinds) {
    yield* strangers.ask<Told>({ ...what, connections: 4, seconds: 0.5 } satisfies Question)
  }
  const rows = [
    ["beside", "p50 ms", "p99 ms", "most ms", "memory MB", "their answers"],
    row("nobody", yield* waits(url, apiKey, Math.min(seconds, 5)), 0, "")
  ]
  const before = (yield* memory) ?? 0
  const missed: Array<string> = []
  for (const [name, what] of kinds) {
    const coming = yield* Effect.forkChild(
      strangers.ask<Told>({ ...what, connections, seconds } satisfies Question),
      { startImmediately: true }
    )
    const times = yield* waits(url, apiKey, seconds)
    const grown = Math.max(0, ((yield* memory) ?? before) - before)
    const told = Object.entries(yield* Fiber.join(coming)).map(([status, count]) => `${whole(count)} × ${status}`)
    rows.push(row(name, times, grown, told.join(", ")))
    if (percentile(times, 0.99) > soon) missed.push(`${name}: p99 over ${soon} ms`)
    if (grown > mostMemory) missed.push(`${name}: more than ${mostMemory / 1e6} MB`)
  }
  yield* Console.log(table(rows))
  yield* Console.log(missed.length === 0 ? "\nboth goals are met" : `\nmissed: ${missed.join("; ")}`)
})
