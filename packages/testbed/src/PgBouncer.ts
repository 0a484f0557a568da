/**
 * A PgBouncer in front of a test's PostgreSQL server. It must be installed on the machine, since no npm package brings
 * one.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { rmSync, writeFileSync } from "node:fs"
import { chmod, mkdtemp } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as FreePort from "./FreePort.ts"

/** Debian installs it outside of ordinary users' search path. */
const environment = { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin` }

/** Whether it is installed; if not, the run prints a notice. `.ci/run` installs it. */
export const isInstalled = spawnSync("pgbouncer", ["--version"], { env: environment }).status === 0

if (!isInstalled) {
  process.stderr.write(
    "\nNOT TESTED: PostgreSQL behind a pooler, because there is no pgbouncer here.\n" +
      "Install it (apt-get install pgbouncer, brew install pgbouncer) and run the tests again.\n\n"
  )
}

export interface PgBouncer {
  /** The server's URL through the pooler. */
  readonly url: string
  readonly stop: () => Promise<void>
}

/** PgBouncer refuses to run as root, so it then runs as the user that PostgreSQL's packages create. */
const owner = (): { readonly uid: number; readonly gid: number } | undefined => {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }))
  return { uid: idOf("-u"), gid: idOf("-g") }
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy()
      resolve(true)
    }).on("error", () => resolve(false))
  })

/** Starts a pooler in front of a URL's server, for all of its databases. Everything except the mode has its default. */
export const start = async (server: string, mode: "session" | "transaction" = "transaction"): Promise<PgBouncer> => {
  const { hostname, password, port: serverPort, username } = new URL(server)
  const directory = await mkdtemp(join(tmpdir(), "wac-pgbouncer-"))
  await chmod(directory, 0o755)
  const port = await FreePort.find()
  writeFileSync(join(directory, "userlist.txt"), `"${username}" "${decodeURIComponent(password)}"\n`)
  writeFileSync(
    join(directory, "pgbouncer.ini"),
    `[databases]
* = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(directory, "userlist.txt")}
pool_mode = ${mode}
`
  )
  const child = spawn("pgbouncer", [join(directory, "pgbouncer.ini")], {
    env: environment,
    stdio: ["ignore", "ignore", "pipe"],
    ...owner()
  })
  let log = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => log += text)
  const ended = once(child, "close")
  // an aborted run calls no teardown
  const tidy = () => {
    child.kill("SIGKILL")
    rmSync(directory, { recursive: true, force: true })
  }
  process.once("exit", tidy)
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`pgbouncer does not start: ${log}`)
  }
  const url = new URL(server)
  url.port = `${port}`
  return {
    url: url.href,
    stop: async () => {
      process.off("exit", tidy)
      tidy()
      await ended
    }
  }
}
