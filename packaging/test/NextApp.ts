/**
 * An application of Next with the packed packages, built and started. Next is downloaded for it, since it is larger than
 * all other tools together.
 */
import * as FreePort from "@wac/testbed/FreePort"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { onTestFinished } from "vitest"
import { installedWith } from "./Packages.ts"

const run = promisify(execFile)

/** What is built. */
export interface Application {
  /** Next's major version. */
  readonly version: string
  /** Files by their paths in the application. */
  readonly files: Readonly<Record<string, string>>
  /** The project that has packed packages, and those of them that the application needs. */
  readonly packed: { readonly project: string; readonly names: ReadonlyArray<string> }
  /** What `next start` is given besides the path. */
  readonly env?: Readonly<Record<string, string>>
}

/** A started application. It ends with the test. */
export interface Started {
  readonly ask: (path: string, init?: RequestInit) => Promise<Response>
  /** Sends SIGTERM, and gives how the process ended. */
  readonly stop: () => Promise<readonly [code: number | null, signal: NodeJS.Signals | null]>
}

/** Builds and starts it. */
export const start = async ({ env = {}, files, packed, version }: Application): Promise<Started> => {
  const app = mkdtempSync(join(tmpdir(), "wac-next-"))
  onTestFinished(() => rmSync(app, { recursive: true }))
  writeFileSync(join(app, "package.json"), JSON.stringify({ private: true }))
  const flags = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"]
  const others = [`next@${version}`, "react", "react-dom", "typescript@5", "@types/react", "@types/node"]
  await run("npm", ["install", ...flags, ...others], { cwd: app })
  // Next follows no link out of the application
  for (const { name, place } of packed.names.flatMap((name) => installedWith(packed.project, name))) {
    cpSync(place, join(app, "node_modules", name), { recursive: true, dereference: true })
  }
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(app, file)), { recursive: true })
    writeFileSync(join(app, file), text)
  }
  const given = { PATH: process.env["PATH"], HOME: app, NEXT_TELEMETRY_DISABLED: "1" }
  const next = join(app, "node_modules/next/dist/bin/next")
  await run(process.execPath, [next, "build"], { cwd: app, env: given })
  const port = await FreePort.find()
  const child = spawn(process.execPath, [next, "start", "--hostname", "127.0.0.1", "--port", `${port}`], {
    cwd: app,
    env: { ...given, ...env },
    stdio: "ignore"
  })
  const ended = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>
  onTestFinished(async () => {
    child.kill("SIGKILL")
    await ended
  })
  return {
    ask: (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init),
    stop: () => {
      child.kill("SIGTERM")
      return ended
    }
  }
}
