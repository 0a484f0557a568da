/**
 * A Redis for tests: the `redis-server` of the machine, since npm has no package that brings one.
 */
import * as FreePort from "@wac/testbed/FreePort"
import * as Program from "@wac/testbed/Program"
import { Effect, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"

/** The options of tests that start one. */
export const needed = Program.needed({
  programs: ["redis-server"],
  untested: "rate limits in Redis",
  install: "apt-get install redis-server, brew install redis"
})

export interface RedisServer {
  readonly url: string
  /** Ends it with all that it holds. */
  readonly stop: Effect.Effect<void>
  readonly start: Effect.Effect<void>
}

/** A server in memory alone, for as long as the scope is open. */
export const redisServer: Effect.Effect<RedisServer, never, Scope.Scope> = Effect.gen(function*() {
  const port = yield* Effect.promise(FreePort.find)
  let child: ChildProcess | undefined
  const start = Effect.promise(() =>
    new Promise<void>((resolve, reject) => {
      child = spawn("redis-server", ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
      let output = ""
      child.stdout!.setEncoding("utf8").on("data", (text: string) => {
        output += text
        if (/ready to accept connections/i.test(output)) resolve()
      })
      child.once("close", () => reject(new Error(`redis-server ended: ${output}`)))
    })
  )
  const stop = Effect.promise(() =>
    new Promise<void>((resolve) => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return resolve()
      child.once("close", () => resolve())
      child.kill("SIGKILL")
    })
  )
  yield* Effect.acquireRelease(start, () => stop)
  return { url: `redis://127.0.0.1:${port}`, stop, start }
})
