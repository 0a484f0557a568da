/**
 * A server process as an operator runs it, bundled from the sources, always at the same port.
 */
import * as FreePort from "@wac/testbed/FreePort"
import { leash } from "@wac/testbed/Leash"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync, readFileSync } from "node:fs"
import * as programs from "../apps/server/test/programs.ts"
import { holds } from "./Time.ts"

/** How long it may take to be ready on a slow machine, in milliseconds. */
const patience = 120_000

/** A process that does not become ready. */
class NotReady extends Error {
  override readonly name = "NotReady"
}

/** Makes one whose output goes to a file; it does not run yet. */
export const make = async (name: string, env: Readonly<Record<string, string>>, log: string) => {
  const port = await FreePort.find()
  const url = `http://127.0.0.1:${port}`
  let child: ChildProcess | undefined

  const isReady = (): Promise<boolean> =>
    fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5000) }).then(({ ok }) => ok, () => false)

  /** Starts it, and waits until it is ready or has ended; returns whether it is ready. */
  const startOnce = async (): Promise<boolean> => {
    const output = openSync(log, "a")
    const started = spawn(process.execPath, ["--max-semi-space-size=64", await programs.path("wac"), "start"], {
      env: { PATH: process.env["PATH"], ...env, PORT: `${port}`, HOST: "127.0.0.1" },
      stdio: ["ignore", output, output]
    })
    closeSync(output)
    child = started
    started.once("close", leash({ pids: [started.pid!] }))
    const hasEnded = () => started.exitCode !== null || started.signalCode !== null
    await holds(patience, async () => hasEnded() || await isReady())
    return !hasEnded()
  }

  return {
    name,
    url,
    isReady,
    /** Starts it, again and again as a supervisor does, until it is ready. */
    start: async (): Promise<void> => {
      const begun = performance.now()
      while (!(await startOnce())) {
        if (performance.now() - begun > patience) {
          throw new NotReady(`${name} does not start: ${readFileSync(log, "utf8").slice(-4000)}`)
        }
      }
    },
    /** Ends it as a crash does. */
    kill: async (): Promise<void> => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
      const closed = once(child, "close")
      child.kill("SIGKILL")
      await closed
    }
  }
}

/** A server process. */
export type Server = Awaited<ReturnType<typeof make>>
