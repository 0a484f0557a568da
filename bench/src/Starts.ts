/**
 * The `start` measurement: how long the server's package takes from the command to its first response, and the memory
 * of the idle process, on each storage, beside a bare Node process that listens.
 */
import { Console, Effect, type Scope } from "effect"
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { because, type BenchFailed } from "./BenchFailed.ts"
import * as Database from "./Database.ts"
import * as ProcessUse from "./ProcessUse.ts"
import { decimals, table, verdict, whole } from "./Report.ts"
import { median } from "./Statistics.ts"

export interface Plan {
  readonly rounds: number
  /** How long a process is left alone before its memory is read, in seconds. */
  readonly idle: number
}

const server = fileURLToPath(new URL("../../apps/server/", import.meta.url))

/** The least that listens. */
const bare = "require('node:http').createServer((_, r) => r.end()).listen(0, '127.0.0.1', function () { " +
  "console.log('listening on http://127.0.0.1:' + this.address().port) })"

interface Contestant {
  readonly name: string
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
}

interface Started {
  /** In milliseconds. */
  readonly ready: number
  /** In bytes; NaN where the system does not tell. */
  readonly memory: number
}

const stop = (child: ChildProcess) =>
  Effect.promise(() =>
    new Promise<void>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve()
      child.once("close", () => resolve())
      child.kill("SIGTERM")
    })
  )

/** Resolves to the address that the process writes once it listens. */
const listening = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let output = ""
    child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      output += text
      const found = /listening on (http:\/\/[^\s",]+)/.exec(output)
      if (found !== null) resolve(found[1]!)
    })
    child.once("close", () => reject(new Error(`the process ended: ${output}`)))
  })

/** Starts a process, leaves it alone, and stops it. */
const measured = ({ args, env, name }: Contestant, idle: number): Effect.Effect<Started, BenchFailed> =>
  Effect.scoped(Effect.gen(function*() {
    const begun = performance.now()
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, args, {
          env: { PATH: process.env["PATH"], HOME: process.env["HOME"], PORT: "0", LOG_FORMAT: "json", ...env },
          stdio: ["ignore", "pipe", "inherit"]
        })
      ),
      stop
    )
    yield* Effect.tryPromise({
      try: async () => (await fetch(`${await listening(child)}/readyz`)).arrayBuffer(),
      catch: because(name)
    })
    const ready = performance.now() - begun
    yield* Effect.sleep(`${idle} seconds`)
    return { ready, memory: (yield* Effect.promise(() => ProcessUse.memory(child.pid!))) ?? Number.NaN }
  }))

const contestants: Effect.Effect<ReadonlyArray<Contestant>, BenchFailed, Scope.Scope> = Effect.gen(function*() {
  yield* Effect.tryPromise({
    try: () => promisify(execFile)(process.execPath, [join(server, "build.ts")]),
    catch: because("the server's package was not built")
  })
  const cluster = yield* Database.cluster
  const { url } = yield* cluster.database("wac_bench_start")
  const directory = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "wac-bench-start-"))),
    (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
  )
  const args = [join(server, "dist/dist/wac.js"), "start"]
  const on = (name: string, storage: string, env = {}) => ({ name, args, env: { DATABASE_URL: storage, ...env } })
  return [
    { name: "bare Node", args: ["-e", bare], env: {} },
    on("wac, memory:", "memory:"),
    on("wac, pglite:", `pglite:${join(directory, "data")}`),
    on("wac, postgres:", url, { WAC_MASTER_KEY: randomBytes(32).toString("base64") })
  ]
})

/** From the command to the first response with `memory:`, in milliseconds. */
const goal = 1000

export const run = ({ idle, rounds }: Plan): Effect.Effect<void, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const all = yield* contestants
    // databases are made and code is compiled once, which counts for nobody
    yield* Effect.forEach(all, (contestant) => measured(contestant, 1), { discard: true })
    const turns = yield* Effect.forEach(
      Array.from({ length: rounds }),
      () => Effect.forEach(all, (contestant) => measured(contestant, idle))
    )
    const found = all.map(({ name }, i) => ({
      name,
      ready: median(turns.map((turn) => turn[i]!.ready)),
      memory: median(turns.map((turn) => turn[i]!.memory))
    }))
    const [least] = found
    yield* Console.log(table([
      ["", "ready, ms", "/ bare Node", `memory after ${idle} s, MB`, "/ bare Node"],
      ...found.map(({ memory, name, ready }) => [
        name,
        whole(ready),
        decimals(ready / least!.ready, 1),
        whole(memory / 1e6),
        decimals(memory / least!.memory, 1)
      ])
    ]))
    yield* Console.log(
      `\nready with memory: after ${whole(found[1]!.ready)} ms ${verdict(found[1]!.ready, { most: goal })}`
    )
  })
