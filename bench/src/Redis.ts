/**
 * Starts Redis on loopback for as long as the scope, with the usual durability: an append-only file that is flushed to
 * disk every second.
 */
import * as FreePort from "@wac/testbed/FreePort"
import { Effect, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { because, BenchFailed } from "./BenchFailed.ts"

/** The settings that differ from Redis's defaults. */
export const settings: { readonly [name: string]: string } = { appendonly: "yes", appendfsync: "everysec", save: "" }

export interface Redis {
  readonly version: string
  readonly port: number
  readonly pid: number
}

export const start: Effect.Effect<Redis, BenchFailed, Scope.Scope> = Effect.gen(function*() {
  const directory = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "wac-bench-redis-"))),
    (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
  )
  const port = yield* Effect.promise(FreePort.find)
  const server = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(
        "redis-server",
        Object.entries({ bind: "127.0.0.1", port: String(port), dir: directory, ...settings })
          .flatMap(([name, value]) => [`--${name}`, value]),
        { stdio: ["ignore", "pipe", "ignore"] }
      )
    ),
    stop
  )
  const version = yield* Effect.tryPromise({ try: () => ready(server), catch: because("Redis does not start") }).pipe(
    Effect.mapError((error) =>
      error.message.includes("ENOENT")
        ? new BenchFailed({
          message: "redis-server is not installed: `apt-get install redis-server`, or leave BullMQ out by `--no-bullmq`"
        })
        : error
    )
  )
  return { version, port, pid: server.pid! }
})

const ready = (server: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let log = ""
    server.once("error", reject).once("exit", () => reject(new Error(log.slice(-500))))
    server.stdout!.on("data", (chunk: Buffer) => {
      log += chunk.toString()
      if (log.includes("Ready to accept connections")) resolve(/Redis version=([\d.]+)/.exec(log)?.[1] ?? "?")
    })
  })

const stop = (server: ChildProcess): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (server.pid === undefined || server.exitCode !== null) return resume(Effect.void)
    server.once("exit", () => resume(Effect.void))
    server.kill()
  })
