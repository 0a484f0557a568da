/**
 * The command `start`: the standalone server, until a signal stops it.
 */
import { MediaLibrary } from "@wac/core"
import { Documentation } from "@wac/http"
import { Console, Duration, Effect, Logger } from "effect"
import { Command } from "effect/cli"
import * as Guide from "./Guide.ts"
import * as Heap from "./Heap.ts"
import * as LogOutput from "./LogOutput.ts"
import * as OperatorCommand from "./OperatorCommand.ts"
import { orphaned } from "./Orphaned.ts"
import { run } from "./Run.ts"
import * as Signals from "./Signals.ts"
import * as StopDeadline from "./StopDeadline.ts"
import { formOf } from "./Teardown.ts"

/** How long after the start the documentation is prepared: waiting requests are served first. */
const documentationAfter = Duration.seconds(1)

export const start = Command.make(
  "start",
  {},
  Effect.fnUntraced(function*() {
    Heap.bounded()
    const output = LogOutput.make()
    const isJson = yield* OperatorCommand.Json
    const variables = yield* OperatorCommand.Variables
    const form = formOf(variables, { isJson, isServer: true })
    const main = Effect.gen(function*() {
      const { guide, summary } = yield* run(isJson ? { ...variables, LOG_FORMAT: "json" } : variables)
      if (guide !== undefined) yield* Console.log(Guide.text(guide))
      if (isJson && summary !== undefined) yield* Console.log(JSON.stringify(summary))
      yield* Effect.forkScoped(Effect.delay(Documentation.prepare, documentationAfter))
      yield* Effect.forkScoped(Heap.settled)
      return yield* orphaned(variables)
    })
    return yield* Effect.scoped(StopDeadline.enforced(Signals.obeyed(main), form)).pipe(
      Effect.provideService(Console.Console, output.console),
      Effect.provideService(Logger.LogToStderr, false),
      Effect.provideService(LogOutput.Output, output),
      Effect.provideService(MediaLibrary.PassageObserver, Heap.filePassage())
    )
  })
).pipe(
  Command.withDescription(
    "Run the server, which migrates its database first. Environment variables configure it; SIGTERM stops it " +
      "within 10 seconds"
  ),
  Command.withShortDescription("Run the server")
)
