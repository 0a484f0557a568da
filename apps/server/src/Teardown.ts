/**
 * How the process ends: its exit code, and the form in which an error is printed.
 */
import { Cause, Effect, Exit, Logger, Predicate, type Runtime } from "effect"
import { constants } from "node:os"
import type { Environment } from "./VariableText.ts"

/**
 * How an error is printed: `text` for people, `json` as the result of a command, `log` as a line of the server's log in
 * JSON.
 */
export type Form = "text" | "json" | "log"

/** The form that the command line and the environment choose, even if the rest of the configuration is invalid. */
export const formOf = (
  environment: Environment,
  { isJson, isServer }: { readonly isJson: boolean; readonly isServer: boolean }
): Form => isJson ? "json" : isServer && environment["LOG_FORMAT"] === "json" ? "log" : "text"

/** The message for the operator. If the storage cannot be opened, the message names its variable. */
const messageOf = (error: unknown): string =>
  !(error instanceof Error)
    ? "could not start"
    : Predicate.isTagged(error, "OpenError")
    ? `DATABASE_URL: ${error.message}`
    : error.message

const print: { readonly [form in Form]: (message: string) => void } = {
  text: (message) => void process.stderr.write(`wac: ${message}\n`),
  json: (message) => void process.stderr.write(`${JSON.stringify({ error: { message } })}\n`),
  // the server's own log ended with the server
  log: (message) =>
    Effect.runSync(
      Effect.provide(Effect.logError(message), Logger.layer([Logger.withConsoleError(Logger.formatJson)]))
    )
}

/**
 * The end of a process that runs until a signal stops it: exits with 0 then; after an error, prints one line to standard
 * error, and exits with 1.
 */
export const teardown = (form: Form): Runtime.Teardown => (exit, onExit) => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return onExit(0)
  print[form](messageOf(Cause.squash(exit.cause)))
  onExit(1)
}

/**
 * The end of a process that has something to do, which a signal interrupts: says so, and exits with 128 and the number
 * of SIGINT or SIGTERM, as a shell does. Otherwise like {@link teardown}. Notices signals from when it is created.
 */
export const teardownOfCommand = (form: Form): Runtime.Teardown => {
  let number = 0
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => number ||= constants.signals[signal])
  return (exit, onExit) => {
    if (Exit.isSuccess(exit) || !Cause.hasInterruptsOnly(exit.cause)) return teardown(form)(exit, onExit)
    print[form]("interrupted: what it had not done yet is not done")
    onExit(number === 0 ? 1 : 128 + number)
  }
}
