/**
 * An operator's command line, carried out in this process.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert } from "@effect/vitest"
import { Effect, Layer, Result, Stdio, Stream } from "effect"
import { TestConsole } from "effect/testing"
import { run } from "../src/WacCommand.ts"

/** What came on standard input, and variables besides those of every line. */
export interface Given {
  readonly input?: string
  readonly env?: Record<string, string>
}

/**
 * Runs lines of `wac` with these variables, each after the same words. `code` is the process's exit code, or the
 * error's line if the command could not be carried out.
 */
export const wac = (variables: Record<string, string>, ...words: ReadonlyArray<string>) =>
(
  line: string,
  { env, input = "" }: Given = {}
) =>
  Effect.gen(function*() {
    const end = yield* Effect.result(
      run({ ...variables, ...env }, [...words, ...line.split(" ").filter((word) => word !== "")])
    )
    return {
      code: Result.isSuccess(end) ? end.success : (end.failure as Error).message,
      stdout: (yield* TestConsole.logLines).join("\n"),
      stderr: (yield* TestConsole.errorLines).join("\n")
    }
  }).pipe(
    Effect.scoped,
    Effect.provide([
      Layer.fresh(TestConsole.layer),
      Stdio.layerTest({ stdin: Stream.make(new TextEncoder().encode(input)) }).pipe(
        Layer.provideMerge(NodeServices.layer)
      )
    ])
  )

/** The end of a line. */
export type Ended = Effect.Success<ReturnType<ReturnType<typeof wac>>>

/** The result of a command that succeeded, for programs. */
export const resultOf = ({ code, stderr, stdout }: Ended) => {
  assert.deepStrictEqual([code, stderr], [0, ""])
  assert.notInclude(stdout, "\n")
  return JSON.parse(stdout)
}
