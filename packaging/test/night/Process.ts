/**
 * A process of the packed server as a supervisor runs it: always at the same address, its output appended to a file.
 */
import { leash } from "@wac/testbed/Leash"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync, readFileSync } from "node:fs"
import { call } from "../Caller.ts"
import type { PackedServer, Variables } from "../PackedServer.ts"
import { until } from "../Surroundings.ts"

/** What runs, and how. */
export interface Setting {
  readonly packed: PackedServer
  readonly variables: Variables
}

/** A process that is not started yet. */
export const make = (name: string, port: number, log: string) => {
  const url = `http://127.0.0.1:${port}`
  let child: ChildProcess | undefined
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child === undefined) return null
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    const closed = once(child, "close")
    child.kill(signal)
    child = undefined
    return (await closed)[0]
  }
  return {
    name,
    url,
    /** Starts it, and waits until it is ready. */
    start: async ({ packed, variables }: Setting): Promise<void> => {
      const output = openSync(log, "a")
      const started = spawn(process.execPath, [packed.program, "start"], {
        cwd: packed.directory,
        env: { PATH: process.env["PATH"], HOME: packed.directory, ...variables, PORT: `${port}`, HOST: "127.0.0.1" },
        stdio: ["ignore", output, output]
      })
      closeSync(output)
      child = started
      started.once("close", leash({ pids: [started.pid!] }))
      await until(`${name} becomes ready`, async () => {
        if (started.exitCode !== null) throw new Error(`${name} ended: ${readFileSync(log, "utf8").slice(-4000)}`)
        return await call(`${url}/readyz`).then(({ status }) => status === 200 || undefined, () => undefined)
      })
    },
    /** Ends it as a supervisor does; rejects unless it exits with 0. */
    stop: async (): Promise<void> => {
      const code = await end("SIGTERM")
      if (code !== 0) throw new Error(`${name} ended with ${code}: ${readFileSync(log, "utf8").slice(-4000)}`)
    },
    /** Ends it as a crash does. */
    kill: () => end("SIGKILL"),
    /** The lines of its log so far. A torn one, as a crash or a full disk leaves it, has no fields. */
    lines: (): ReadonlyArray<Readonly<Record<string, unknown>>> =>
      readFileSync(log, "utf8").split("\n").filter((line) => line !== "").map((line) => {
        try {
          return JSON.parse(line)
        } catch {
          return {}
        }
      })
  }
}

export type Process = ReturnType<typeof make>
