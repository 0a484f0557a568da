/**
 * Server processes that die, at any moment or at a point.
 */
import type { Fault } from "../Fault.ts"
import type { Stage } from "../Stage.ts"
import { pass, repeatedly } from "../Time.ts"

const kill = async ({ processes }: Stage, number: number): Promise<void> => {
  const process = processes[number % processes.length]!
  await process.kill()
  await process.start()
}

const named = (stage: Stage, name: string) => stage.processes.find((process) => process.name === name)!

/** One process after the other dies, and is started again. */
const atRandom: Fault = {
  name: "process-killed",
  about: "One process after the other gets `kill -9` at a random moment, and starts again",
  begin: async (stage) => {
    let kills = 0
    return repeatedly(async () => {
      await pass(Math.random() * 1000)
      await kill(stage, kills++)
    })
  }
}

/** A process dies when the provider has accepted its call, and before it learns of that. */
const afterTheCall: Fault = {
  name: "process-killed-after-call",
  about: "A process gets `kill -9` when the provider has accepted its call and has not answered, and starts again",
  begin: async (stage) => {
    return repeatedly(async () => {
      const caller = await new Promise<string>((resolve) =>
        stage.provider.whenAccepted(async (process) => {
          stage.provider.whenAccepted(undefined)
          // the call ends with its caller
          await named(stage, process).kill()
          resolve(process)
        })
      )
      await named(stage, caller).start()
    })
  }
}

/** The statements that accept a message and that record what the provider answered. */
const changes = ["with settled as", "insert into wac.messages ("]

/** A process dies when PostgreSQL has committed one of its statements, and before it learns of that. */
const afterTheCommit: Fault = {
  name: "process-killed-after-commit",
  about: "A process gets `kill -9` when PostgreSQL has committed a change of a message and has not answered",
  begin: async (stage) => {
    let kills = 0
    return repeatedly(async () => {
      const process = stage.processes[kills % stage.processes.length]!
      await process.proxy.stopAt(changes[kills++ % changes.length]!, "committed")
      await process.kill()
      await process.start()
    })
  }
}

/** The faults of processes. */
export const all: ReadonlyArray<Fault> = [atRandom, afterTheCall, afterTheCommit]
