import * as FreePort from "@wac/testbed/FreePort"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { rmSync } from "node:fs"
import { chown, mkdir, mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** PostgreSQL refuses to run as root, so it then runs as the user that its packages create. */
const owner = (): { readonly uid: number; readonly gid: number } | undefined => {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }))
  return { uid: idOf("-u"), gid: idOf("-g") }
}

const environment = { PATH: process.env["PATH"], LC_MESSAGES: "C" }

/** Creates and starts a server from the binaries in a directory of this machine. */
export const startInstalled = async (
  bin: string,
  ...settings: ReadonlyArray<string>
): Promise<{ readonly url: string; readonly remove: () => Promise<void> }> => {
  const user = owner()
  const directory = await mkdtemp(join(tmpdir(), "wac-postgres-"))
  const data = join(directory, "data")
  await mkdir(data, { mode: 0o700 })
  if (user !== undefined) {
    for (const path of [directory, data]) await chown(path, user.uid, user.gid)
  }
  const options = { env: environment, cwd: directory, ...user }
  execFileSync(
    join(bin, "initdb"),
    [`--pgdata=${data}`, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-sync"],
    { ...options, stdio: ["ignore", "ignore", "pipe"] }
  )
  const port = await FreePort.find()
  const all = ["listen_addresses=127.0.0.1", "unix_socket_directories=", ...settings]
  const server = spawn(
    join(bin, "postgres"),
    ["-D", data, "-p", String(port), ...all.flatMap((setting) => ["-c", setting])],
    { ...options, stdio: ["ignore", "ignore", "pipe"] }
  )
  // an aborted run calls no teardown
  const tidy = () => {
    server.kill("SIGQUIT")
    rmSync(directory, { recursive: true, force: true })
  }
  process.once("exit", tidy)
  const ended = once(server, "exit")
  await new Promise<void>((resolve, reject) => {
    let log = ""
    server.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text
      if (log.includes("ready to accept connections")) resolve()
    })
    void ended.then(() => reject(new Error(`${bin}/postgres does not start: ${log}`)))
  })
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    remove: async () => {
      server.kill("SIGINT")
      await ended
      process.off("exit", tidy)
      tidy()
    }
  }
}
