/**
 * Programs from Debian that a test runs on loopback, such as a pooler. No npm package brings them, so they must be
 * installed on the machine.
 */
import { spawn, spawnSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { chown, mkdtemp } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { leash } from "./Leash.ts"
import { owner } from "./Owner.ts"

const packages = "/usr/lib/postgresql"

/**
 * The directory of the newest PostgreSQL from Debian's packages. The one from the install has the server and `initdb`
 * only.
 */
export const postgresBin: string = (existsSync(packages) ? readdirSync(packages) : [])
  .sort((one, other) => Number(other) - Number(one))
  .map((version) => join(packages, version, "bin"))
  .find((directory) => existsSync(join(directory, "postgres"))) ?? join(packages, "15/bin")

/** Debian installs some programs outside of ordinary users' search path. */
export const searchPath = `${postgresBin}:${process.env["PATH"] ?? ""}:/usr/sbin`

/**
 * Whether all of these programs are installed. If not, the run prints what is not tested and how to install them;
 * `.ci/run` installs them.
 */
export const areInstalled = (
  programs: ReadonlyArray<string>,
  without: { readonly untested: string; readonly install: string }
): boolean => {
  const missing = programs.filter((program) =>
    spawnSync(program, ["--version"], { env: { PATH: searchPath } }).error !== undefined
  )
  if (missing.length === 0) return true
  process.stderr.write(
    `\nNOT TESTED: ${without.untested}, because there is no ${missing.join(", no ")} here.\n` +
      `Install it (${without.install}) and run the tests again.\n\n`
  )
  return false
}

/** Creates a temporary directory that belongs to {@link owner}. */
export const directory = async (prefix: string): Promise<string> => {
  const created = await mkdtemp(join(tmpdir(), prefix))
  const user = owner()
  if (user !== undefined) await chown(created, user.uid, user.gid)
  return created
}

/** A program that runs. */
export interface Daemon {
  readonly pid: number
  /** The end of what it has written. */
  readonly log: () => string
  readonly kill: (signal: NodeJS.Signals) => void
  /** Resolves when it has ended. */
  readonly ended: Promise<unknown>
}

/** How many characters of the log an error contains if a program does not start. */
const told = 4000

/** How long a program may take to start on the slowest machine, in milliseconds. */
const patience = 60_000

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy()
      resolve(true)
    }).on("error", () => resolve(false))
  })

/** Starts a program as {@link owner}, with no environment but the given one, and waits until it listens on the port. */
export const start = async (
  program: string,
  args: ReadonlyArray<string>,
  options: { readonly port: number; readonly cwd?: string; readonly env?: Readonly<Record<string, string>> }
): Promise<Daemon> => {
  const child = spawn(program, args, {
    env: { PATH: searchPath, ...options.env },
    cwd: options.cwd ?? tmpdir(),
    stdio: ["ignore", "pipe", "pipe"],
    ...owner()
  })
  let log = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => log = `${log}${text}`.slice(-told))
  }
  const release = child.pid === undefined ? () => {} : leash({ pids: [child.pid] })
  const ended = new Promise<void>((resolve) => {
    child.once("error", ({ message }) => log += message).once("close", () => {
      release()
      resolve()
    })
  })
  const begun = performance.now()
  while (!(await answers(options.port))) {
    const isOver = child.exitCode !== null || child.signalCode !== null
    if (isOver || performance.now() - begun > patience) throw new Error(`${program} does not start: ${log}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return { pid: child.pid!, log: () => log, kill: (signal) => child.kill(signal), ended }
}
