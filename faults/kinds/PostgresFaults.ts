/**
 * PostgreSQL that dies, stands still, or has no room.
 */
import * as Disk from "@wac/testbed/Disk"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Fault } from "../Fault.ts"
import type { Stage } from "../Stage.ts"
import { holds } from "../Time.ts"

/** PostgreSQL's first process, and those that it started. */
const pids = ({ postgres }: Stage): ReadonlyArray<number> => {
  const first = Number(readFileSync(join(postgres.data, "postmaster.pid"), "utf8").split("\n", 1)[0])
  const children = readFileSync(`/proc/${first}/task/${first}/children`, "utf8").trim().split(" ").filter(Boolean)
  return [first, ...children.map(Number)]
}

const signal = (stage: Stage, name: NodeJS.Signals): void => {
  for (const pid of pids(stage)) {
    try {
      process.kill(pid, name)
    } catch (error) {
      // a connection may end meanwhile
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error
    }
  }
}

const killed: Fault = {
  name: "postgres-killed",
  about: "All processes of PostgreSQL get `kill -9`; it starts again at the end",
  begin: async (stage) => {
    signal(stage, "SIGKILL")
    await stage.postgres.crash()
    return stage.postgres.start
  }
}

const restarted: Fault = {
  name: "postgres-restarted",
  about: "PostgreSQL is stopped, and starts again at the end",
  begin: async ({ postgres }) => {
    await postgres.stop()
    return postgres.start
  }
}

const frozen: Fault = {
  name: "postgres-frozen",
  about: "All processes of PostgreSQL stand still (`SIGSTOP`)",
  begin: (stage) => {
    signal(stage, "SIGSTOP")
    return Promise.resolve(() => signal(stage, "SIGCONT"))
  }
}

const full: Fault = {
  name: "postgres-full",
  about: "The disk with PostgreSQL's tables is full",
  programs: [[...Disk.check], "psql"],
  setting: { onDisk: "database" },
  begin: async ({ disk, load }) => {
    const { fill, free } = disk!
    // PostgreSQL has room in its files before it needs more of the disk
    const refills = setInterval(fill, 500)
    fill()
    await holds(10_000, () => load.sends.some(({ last }) => last.startsWith("5")))
    return () => {
      clearInterval(refills)
      free()
    }
  }
}

/** The faults of PostgreSQL. */
export const all: ReadonlyArray<Fault> = [killed, restarted, frozen, full]
