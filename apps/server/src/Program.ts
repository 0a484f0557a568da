/**
 * Runs one `wac` command and ends the process.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import * as CommandOutput from "./CommandOutput.ts"
import { formOf, teardown, teardownOfCommand } from "./Teardown.ts"
import type { Environment } from "./VariableText.ts"
import * as WacCommand from "./WacCommand.ts"

/** The commands that run until they are stopped. What they write is for who listens to them, and is no result. */
const lasting: ReadonlyArray<string | undefined> = ["start", "mcp"]

/** Runs the command line `argv`, whose first two entries are Node and the program, and ends the process. */
export const main = (environment: Environment, argv: ReadonlyArray<string>): void => {
  const args = argv.slice(2)
  const command = args.find((arg) => !arg.startsWith("-"))
  const program = Effect.gen(function*() {
    process.exitCode = yield* WacCommand.run(environment, args)
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  const form = formOf(environment, { isJson: args.includes("--json"), isServer: command === "start" })
  if (lasting.includes(command)) {
    NodeRuntime.runMain(program, { disableErrorReporting: true, teardown: teardown(form) })
  } else {
    NodeRuntime.runMain(CommandOutput.written(program), {
      disableErrorReporting: true,
      teardown: teardownOfCommand(form)
    })
  }
}
