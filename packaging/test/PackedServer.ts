/**
 * The packed server in a project of its own, and its processes: only what its package brings, and what the operator
 * installs for a feature, can be loaded.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as tar from "tar"
import { tarballOf } from "../Packed.ts"
import { manifestOf, root, server } from "../Published.ts"

/** Variables of a process. */
export type Variables = Readonly<Record<string, string>>

/** What a command did. */
interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A server that listens. */
export interface Listening {
  readonly url: string
  /** Stops it as a supervisor does; rejects unless it exits with 0. */
  readonly stop: () => Promise<void>
  /** Ends it at once, if it runs. */
  readonly kill: () => void
}

/** An installed server. */
export interface PackedServer {
  /** An empty directory, in which its processes run. */
  readonly directory: string
  /** The program `wac`. */
  readonly program: string
  /** Carries out one command line. */
  readonly run: (node: string, words: ReadonlyArray<string>, variables: Variables, input?: string) => Promise<Ended>
  /** Starts it; rejects with its output if it ends instead. */
  readonly start: (node: string, variables: Variables) => Promise<Listening>
  /** Ends what still runs, and deletes everything. */
  readonly remove: () => Promise<void>
}

const outputOf = (child: ChildProcess, stream: "stdout" | "stderr") => {
  let text = ""
  child[stream]!.setEncoding("utf8").on("data", (chunk: string) => text += chunk)
  return () => text
}

/** Waits until a server listens; rejects with its output if it ends instead. */
const listen = async (child: ChildProcess): Promise<Listening> => {
  const [stdout, stderr] = [outputOf(child, "stdout"), outputOf(child, "stderr")]
  const closed = once(child, "close")
  // the log has it at every start; the summary is of the first alone
  const listening = () => /listening on (http:\/\/[^\s,"]+), /.exec(stdout())?.[1]
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout!.on("data", () => {
      const url = listening()
      if (url !== undefined) resolve(url)
    })
    void closed.then(() => reject(new Error(`the server ended: ${stdout()}${stderr()}`)))
  })
  return {
    url,
    stop: async () => {
      child.kill("SIGTERM")
      const [code] = await closed
      if (code !== 0) throw new Error(`the server ended with ${code}: ${stdout()}${stderr()}`)
    },
    kill: () => void child.kill("SIGKILL")
  }
}

/** Starts an installed server by its command, in a directory. */
export const startBy = (command: string, directory: string, variables: Variables): Promise<Listening> =>
  listen(spawn(command, ["start", "--json"], {
    cwd: directory,
    env: { PORT: "0", ...variables },
    stdio: ["ignore", "pipe", "pipe"]
  }))

/** Installs the packed server, with its dependencies and the optional ones as they are installed here. */
export const install = (packed: string): PackedServer => {
  const project = mkdtempSync(join(tmpdir(), "wac-features-"))
  const directory = join(project, "data")
  mkdirSync(directory)
  const modules = join(project, "node_modules")
  const place = join(modules, server.name)
  mkdirSync(place, { recursive: true })
  tar.extract({ file: tarballOf(packed, server.name), cwd: place, strip: 1, sync: true })
  const { dependencies, peerDependencies } = manifestOf(place)
  for (const name of Object.keys({ ...dependencies, ...peerDependencies })) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, "node_modules", name), join(modules, name), "dir")
  }
  const program = join(place, "dist/wac.js")
  const running = new Set<ChildProcess>()
  const spawned = (node: string, words: ReadonlyArray<string>, variables: Variables) => {
    const child = spawn(node, [program, ...words], {
      cwd: directory,
      env: { PATH: process.env["PATH"], HOME: directory, ...variables },
      stdio: "pipe"
    })
    running.add(child)
    child.once("close", () => running.delete(child))
    return child
  }
  return {
    directory,
    program,
    run: async (node, words, variables, input = "") => {
      const child = spawned(node, words, variables)
      const [stdout, stderr] = [outputOf(child, "stdout"), outputOf(child, "stderr")]
      child.stdin.end(input)
      const [code] = await once(child, "close")
      return { code, stdout: stdout(), stderr: stderr() }
    },
    start: (node, variables) => listen(spawned(node, ["start", "--json"], { PORT: "0", ...variables })),
    remove: async () => {
      await Promise.all([...running].map((child) => {
        const closed = once(child, "close")
        child.kill("SIGKILL")
        return closed
      }))
      rmSync(project, { recursive: true })
    }
  }
}
