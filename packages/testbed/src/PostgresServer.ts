/**
 * A private PostgreSQL server with a temporary directory and a loopback port of its own.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { chmod, chown, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import * as FreePort from "./FreePort.ts"
import { leash } from "./Leash.ts"
import { type Owner, owner } from "./Owner.ts"
import { postgresBinaries } from "./PostgresBinaries.ts"

/** A PostgreSQL server that can be stopped and restarted at the same address. */
export interface PostgresServer {
  /** The server's URL, with its superuser. */
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

/** How many characters of the server's log are kept, for the error if it does not start. */
const maxLog = 2000

const user = "postgres"

/** The password of a server that only loopback reaches. */
const password = "password"

const cache = fileURLToPath(new URL("../../../node_modules/.cache/wac", import.meta.url))

/** The content with which a new server begins. */
export interface Seed {
  /** Names the content. It is made once per name, so different content needs a different name. */
  readonly name: string
  /** Makes the content on a new server, given its URL. */
  readonly fill: (url: string) => Promise<void>
}

/** How a server is made. */
export interface Options {
  /** The directory of `initdb` and `postgres`; by default that of the install. */
  readonly bin?: string | undefined
  readonly seed?: Seed | undefined
}

/** Where a copy of a new server's files is kept: the same `initdb`, user and seed make the same files each time. */
const templateOf = async (bin: string, as: Owner | undefined, seed: Seed | undefined): Promise<string> => {
  const made = createHash("sha256").update(await readFile(join(bin, "initdb"))).update(String(as?.uid)).digest("hex")
  return join(cache, `postgres-${made.slice(0, 16)}${seed === undefined ? "" : `-${seed.name}`}`)
}

/** Copies a directory with its owner. */
const copy = (from: string, to: string) => promisify(execFile)("cp", ["-a", from, to])

/** Keeps a copy of a new server's files as the template. */
const keep = async (data: string, template: string): Promise<void> => {
  await mkdir(cache, { recursive: true })
  const own = await mkdtemp(`${template}-`)
  try {
    await copy(data, join(own, "data"))
    // processes that do this at the same time do not disturb each other: a folder gets its name when it is complete
    await rename(join(own, "data"), template).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error
    })
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}

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
    stream.setEncoding("utf8").on("data", (text: string) => log = `${log}${text}`.slice(-maxLog))
  }
  const ended = new Promise<void>((resolve) => {
    child.once("error", ({ message }) => log += message).once("close", () => resolve())
  })
  return { child, log: () => log, ended }
}

/**
 * Creates and starts a server by npm's programs, with settings such as `fsync=off`. If it does not start, rejects with
 * the end of its log.
 */
export const start = (...settings: ReadonlyArray<string>): Promise<PostgresServer> => startWith({}, ...settings)

/** Starts a server like {@link start}, with other programs or with a seed. */
export const startWith = async (
  { bin = postgresBinaries(), seed }: Options,
  ...settings: ReadonlyArray<string>
): Promise<PostgresServer> => {
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
  // PostgreSQL's immediate shutdown ends all of its processes where they are
  const crash = () => end("SIGQUIT")
  const remove = async () => {
    await crash()
    release()
    await rm(directory, { recursive: true, force: true })
  }
  const init = async () => {
    // some tests read the data as a user who does not own it
    await chmod(directory, 0o755)
    if (as !== undefined) await chown(directory, as.uid, as.gid)
    const template = await templateOf(bin, as, seed)
    if (existsSync(template)) return copy(template, data)
    if (seed !== undefined) {
      const first = await startWith({ bin }, ...settings)
      try {
        await seed.fill(first.url)
        await first.stop()
        await keep(first.data, template)
      } finally {
        await first.remove()
      }
      return copy(template, data)
    }
    await mkdir(data, { mode: 0o700 })
    const passwordFile = join(directory, "password")
    await writeFile(passwordFile, `${password}\n`)
    if (as !== undefined) {
      for (const path of [data, passwordFile]) await chown(path, as.uid, as.gid)
    }
    const args = ["--auth=password", `--username=${user}`, `--pwfile=${passwordFile}`, "--encoding=UTF8", "--no-sync"]
    const { child, ended, log } = run(join(bin, "initdb"), [`--pgdata=${data}`, ...args], directory, as)
    await ended
    if (child.exitCode !== 0) throw new Error(`PostgreSQL cannot make its files: ${log()}`)
    await keep(data, template)
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
    crash,
    start: startIt,
    remove
  }
}
