/**
 * The standard output of an operator's command, as a process.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn, type StdioOptions } from "node:child_process"
import { closeSync, openSync } from "node:fs"
import * as programs from "../programs.ts"

/** Runs a command whose output goes to a file or, without one, to a reader that is gone. */
const carryOut = (output: number | undefined) =>
  Effect.promise(async () => {
    const stdio: StdioOptions = ["ignore", output ?? "pipe", "pipe"]
    const program = await programs.path("wac")
    const env = { DATABASE_URL: "memory:", NODE_COMPILE_CACHE: await programs.compiled() }
    const child = spawn(process.execPath, [program, "doctor", "--json"], { stdio, env })
    child.stdout?.destroy()
    let stderr = ""
    child.stderr!.setEncoding("utf8").on("data", (text: string) => stderr += text)
    const code = await new Promise((resolve) => child.on("close", resolve))
    return { code, stderr }
  })

it.live("a command whose result cannot be written fails, and says why", () =>
  Effect.gen(function*() {
    const full = yield* Effect.acquireRelease(
      Effect.sync(() => openSync("/dev/full", "w")),
      (file) => Effect.sync(() => closeSync(file))
    )
    for (const [output, why] of [[full, "ENOSPC"], [undefined, "EPIPE"]] as const) {
      assert.deepStrictEqual(yield* carryOut(output), {
        code: 1,
        stderr: `{"error":{"message":"the result could not be written: ${why}"}}\n`
      })
    }
  }).pipe(Effect.scoped))
