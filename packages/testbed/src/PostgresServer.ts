/**
 * A private PostgreSQL server with a temporary directory and a loopback port of its own.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as FreePort from "./FreePort.ts"
import { leash } from "./Leash.ts"
import { type Owner, owner } from "./Owner.ts"
import { postgresBinaries } from "./PostgresBinaries.ts"

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

const user = "postgres"

/** For what only loopback reaches. */
const password = "password"

interface Running {
  readonly child: ChildProcess
  readonly log: () => string
  readonly ended: Promise<void>
}

/** Runs a program with no environment that could change the server, such as a locale or `PGDATA`. */
const run = (program: string, args: ReadonlyArray<string>, cwd: string, as: Owner | undefined): Running => {
  const child = spawn(program, args, {
    cwd,
    env: { PATH: process.env["PATH"], LC_MESSAGES: "C" },
    stdio: ["ignore", "pipe", "pipe"],
    ...as
  })
  let log = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => log = `${log}${text}`.slice(-told))
  }
  const ended = new Promise<void>((resolve) => {
    child.once("error", ({ message }) => log += message).once("close", () => resolve())
  })
  return { child, log: () => log, ended }
}

/**
 * Creates and starts a server from the install, with settings such as `fsync=off`. If it does not start, rejects with
 * the end of its log.
 */
export const start = (...settings: ReadonlyArray<string>): Promise<PostgresServer> =>
  startFrom(postgresBinaries(), ...settings)

/** The same with the programs `initdb` and `postgres` of a directory. */
export const startFrom = async (bin: string, ...settings: ReadonlyArray<string>): Promise<PostgresServer> => {
  const as = owner()
  const directory = await mkdtemp(join(tmpdir(), "wac-postgres-"))
  const data = join(directory, "data")
  const release = leash({ directory, pidFiles: [join(data, "postmaster.pid")] })
  let server: Running | undefined
  const end = async (signal: NodeJS.Signals) => {
    server?.child.kill(signal)
    await server?.ended
    server = undefined
  }
  const stop = () => end("SIGINT")
  const remove = async () => {
    await stop()
    release()
    await rm(directory, { recursive: true, force: true })
  }
  const init = async () => {
    // some tests read the data as another user than the one that owns it
    await chmod(directory, 0o755)
    await mkdir(data, { mode: 0o700 })
    const passwordFile = join(directory, "password")
    await writeFile(passwordFile, `${password}\n`)
    if (as !== undefined) {
      for (const path of [directory, data, passwordFile]) await chown(path, as.uid, as.gid)
    }
    const args = ["--auth=password", `--username=${user}`, `--pwfile=${passwordFile}`, "--encoding=UTF8", "--no-sync"]
    const { child, ended, log } = run(join(bin, "initdb"), [`--pgdata=${data}`, ...args], directory, as)
    await ended
    if (child.exitCode !== 0) throw new Error(`PostgreSQL cannot make its files: ${log()}`)
  }
  const port = await FreePort.find()
  const all = ["listen_addresses=127.0.0.1", "unix_socket_directories=", ...settings]
  const args = ["-D", data, "-p", String(port), ...all.flatMap((setting) => ["-c", setting])]
  const startIt = async () => {
    const running = run(join(bin, "postgres"), args, directory, as)
    const { child, ended, log } = running
    await new Promise<void>((resolve, reject) => {
      child.stderr!.on("data", () => {
        if (log().includes("ready to accept connections")) resolve()
      })
      void ended.then(() => reject(new Error(`PostgreSQL does not start: ${log()}`)))
    })
    server = running
  }
  try {
    await init()
    await startIt()
  } catch (error) {
    await remove()
    throw error
  }
  return {
    url: `postgres://${user}:${password}@127.0.0.1:${port}/postgres`,
    data,
    stop,
    // PostgreSQL's immediate shutdown ends all of its processes where they are
    crash: () => end("SIGQUIT"),
    start: startIt,
    remove
  }
}
