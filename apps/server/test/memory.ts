/**
 * The memory that a server process of a test has in use.
 */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import type { Running } from "./processes.ts"

/** In bytes. A small Linux has no `ps`, and other systems have no `/proc`. */
export const memoryOf = ({ child: { pid } }: Running): number => {
  const kilobytes = process.platform === "linux"
    ? /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]
    : execFileSync("ps", ["-o", "rss=", "-p", `${pid}`]).toString()
  return Number(kilobytes) * 1024
}

/** The most that it has while something goes on, in bytes. */
export const mostDuring = async (server: Running, activity: Promise<unknown>): Promise<number> => {
  let most = memoryOf(server)
  const timer = setInterval(() => {
    most = Math.max(most, memoryOf(server))
  }, 100)
  await activity
  clearInterval(timer)
  return Math.max(most, memoryOf(server))
}
