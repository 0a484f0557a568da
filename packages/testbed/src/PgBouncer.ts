/**
 * A PgBouncer in front of a test's PostgreSQL server.
 */
import { writeFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import * as Daemon from "./Daemon.ts"
import { deployed } from "./Deployed.ts"
import * as FreePort from "./FreePort.ts"
import * as Program from "./Program.ts"

/** The names of the programs that must be installed. */
export const programs = ["pgbouncer"]

/** The options of tests that start a PgBouncer. */
export const needed = Program.needed({
  programs,
  untested: "PostgreSQL behind a pooler",
  install: "apt-get install pgbouncer, brew install pgbouncer"
})

/**
 * Whether `TEST_POOLER=pgbouncer` asks for a pooler in front of every PostgreSQL server of the run. Without PgBouncer,
 * such a run fails.
 */
export const isEverywhere = process.env["TEST_POOLER"] === "pgbouncer"

export interface PgBouncer {
  /** The server's URL through the pooler. */
  readonly url: string
  readonly stop: () => Promise<void>
}

/**
 * Starts a pooler in front of a URL's server, for all of its databases, with the settings of `deploy/pgbouncer`.
 * `connectQuery` runs in each of its sessions first.
 */
export const start = async (
  server: string,
  mode: "session" | "transaction" = "transaction",
  connectQuery?: string
): Promise<PgBouncer> => {
  const { hostname, password, port: serverPort, username } = new URL(server)
  const directory = await Daemon.directory("wac-pgbouncer-")
  const port = await FreePort.find()
  writeFileSync(join(directory, "userlist.txt"), `"${username}" "${decodeURIComponent(password)}"\n`)
  writeFileSync(
    join(directory, "pgbouncer.ini"),
    // operators start from this file; a test changes only addresses, users and the mode. A second section [pgbouncer]
    // would reset all settings, so these continue the section at the end of the file
    `%include ${deployed("pgbouncer/pgbouncer.ini")}
listen_port = ${port}
auth_file = ${join(directory, "userlist.txt")}
pool_mode = ${mode}
[databases]
* = host=${hostname} port=${serverPort}${connectQuery === undefined ? "" : ` connect_query='${connectQuery}'`}
`
  )
  const daemon = await Daemon.start("pgbouncer", [join(directory, "pgbouncer.ini")], { port })
  const url = new URL(server)
  url.port = `${port}`
  return {
    url: url.href,
    stop: async () => {
      daemon.kill("SIGKILL")
      await daemon.ended
      await rm(directory, { recursive: true, force: true })
    }
  }
}
