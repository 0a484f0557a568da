import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { assert, it } from "vitest"

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

it("a killed process leaves no PostgreSQL server and no data behind", async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "postgres-process.ts")], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const [line] = await once(child.stdout.setEncoding("utf8"), "data")
  const data = String(line).trim()
  const server = Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n", 1)[0])
  assert.isTrue(isAlive(server))
  child.kill("SIGKILL")
  while (isAlive(server) || existsSync(dirname(data))) await setTimeout(20)
})
