/**
 * Starts programs that a test runs on loopback, such as a pooler. No npm package contains them, so they must be
 * installed on the machine, for example from Debian's packages.
 */
import { spawn } from "node:child_process"
import { chown, mkdtemp } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { leash } from "./Leash.ts"
import { owner } from "./Owner.ts"
import * as Program from "./Program.ts"

/** Creates a temporary directory that belongs to {@link owner}. */
export const directory = async (prefix: string): Promise<string> => {
  const created = await mkdtemp(join(tmpdir(), prefix))
  const user = owner()
  if (user !== undefined) await chown(created, user.uid, user.gid)
  return created
}

/** A running program. */
export interface Daemon {
  readonly pid: number
  /** The end of its output: the last 4,000 characters. */
  readonly log: () => string
  readonly kill: (signal: NodeJS.Signals) => void
  /** Resolves when it has ended. */
  readonly ended: Promise<unknown>
}

/** How many characters of a program's output are kept, for the error if it does not start. */
const maxLog = 4000

/** How long a program may take to start on the slowest machine, in milliseconds. */
const startTimeout = 60_000

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
    env: { PATH: Program.searchPath, ...options.env },
    cwd: options.cwd ?? tmpdir(),
    stdio: ["ignore", "pipe", "pipe"],
    ...owner()
  })
  let log = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => log = `${log}${text}`.slice(-maxLog))
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
    if (isOver || performance.now() - begun > startTimeout) throw new Error(`${program} does not start: ${log}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return { pid: child.pid!, log: () => log, kill: (signal) => child.kill(signal), ended }
}
