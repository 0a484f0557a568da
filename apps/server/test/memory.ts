/**
 * The memory that a server process of a test has in use.
 */
import { execFileSync } from "node:child_process"
import type { Running } from "./processes.ts"

/** In bytes. */
export const memoryOf = ({ child: { pid } }: Running): number =>
  Number(execFileSync("ps", ["-o", "rss=", "-p", `${pid}`]).toString()) * 1024

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
