/**
 * How the process ends: its exit code, and the form in which an error is printed.
 */
import { Cause, Effect, Exit, Logger, Predicate, type Runtime } from "effect"
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

/** Exits with 0 after a signal; after an error, prints one line to standard error, and exits with 1. */
export const teardown = (form: Form): Runtime.Teardown => (exit, onExit) => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return onExit(0)
  print[form](messageOf(Cause.squash(exit.cause)))
  onExit(1)
}
