/**
 * Runs a program of this package in a child process, so that contestants share neither an event loop nor a heap. The
 * child receives its options, reports that it is ready, and then answers one question at a time over IPC.
 */
import { Effect, type Scope } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { because, type BenchFailed } from "./BenchFailed.ts"

type Reply = { readonly answer: unknown } | { readonly failure: string }

export interface Child<Ready> {
  readonly pid: number
  readonly ready: Ready
  /** The child's program decides the type of the answer. */
  readonly ask: <Answer>(question: unknown) => Effect.Effect<Answer, BenchFailed>
}

/** Starts `src/<program>.ts` in the current scope, with the Node.js options of this process. */
export const start = <Ready>(
  program: string,
  options: unknown
): Effect.Effect<Child<Ready>, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        fork(fileURLToPath(new URL(`./${program}.ts`, import.meta.url)), {
          env: { ...process.env, NODE_ENV: "production" },
          stdio: ["ignore", "inherit", "inherit", "ipc"]
        })
      ),
      stop
    )
    const ask = <Answer>(question: unknown): Effect.Effect<Answer, BenchFailed> =>
      Effect.tryPromise({ try: () => exchange(child, question), catch: because(program) }) as Effect.Effect<
        Answer,
        BenchFailed
      >
    return { pid: child.pid!, ready: yield* ask<Ready>(options), ask }
  })

const exchange = (child: ChildProcess, question: unknown): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const done = () => {
      child.off("message", replied)
      child.off("exit", exited)
    }
    const replied = (reply: unknown) => {
      done()
      const told = reply as Reply
      if ("failure" in told) reject(new Error(told.failure))
      else resolve(told.answer)
    }
    const exited = (code: number | null) => {
      done()
      reject(new Error(`the process ended (exit status ${code})`))
    }
    child.once("message", replied).once("exit", exited)
    if (child.connected) child.send(question as object)
    else exited(child.exitCode)
  })

/**
 * Disconnects and waits for the child to exit by itself, so that `--cpu-prof` can write its profile; kills it after a
 * timeout.
 */
const stop = (child: ChildProcess): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    if (child.connected) child.disconnect()
  }).pipe(Effect.timeoutOrElse({
    duration: "5 seconds",
    orElse: () => Effect.sync(() => void child.kill("SIGKILL"))
  }))

/**
 * The child's side: calls `start` with the options, sends `ready` to the parent, and answers its questions with
 * `answer`.
 */
export const serve = <Options, Question>(
  start: (options: Options) => Promise<{
    readonly ready: unknown
    readonly answer?: (question: Question) => Promise<unknown>
  }>
): void => {
  const reply = (outcome: Promise<unknown>) =>
    outcome.then(
      (answer): Reply => ({ answer }),
      (error): Reply => ({ failure: error instanceof Error ? error.message : String(error) })
    ).then((told) => process.send?.(told))
  process.once("disconnect", () => process.exit())
  process.once("message", (options: Options) => {
    const started = start(options)
    void reply(started.then(({ answer, ready }) => {
      if (answer !== undefined) process.on("message", (question: Question) => void reply(answer(question)))
      return ready
    }))
  })
}
