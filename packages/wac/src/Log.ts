/**
 * What an instance has to say to who runs it: told to a function of the host, never to the console.
 */
import { Cause, Layer, Logger, References } from "effect"

/** One line of the log. It carries no secret and no payload. */
export interface LogEntry {
  readonly level: "debug" | "info" | "warn" | "error"
  readonly message: string
  readonly at: Date
  /** What went wrong, with its stack, where something did. */
  readonly error?: string
}

/** Takes a line of the log; what it throws is ignored. */
export type Log = (entry: LogEntry) => void

const levels = {
  All: "debug",
  Trace: "debug",
  Debug: "debug",
  Info: "info",
  Warn: "warn",
  Error: "error",
  Fatal: "error",
  None: "debug"
} as const

const textOf = (message: unknown): string =>
  Array.isArray(message)
    ? message.map(textOf).join(" ")
    : typeof message === "string"
    ? message
    : JSON.stringify(message)

const telling = (log: Log) =>
  Logger.make<unknown, void>(({ cause, date, logLevel, message }) => {
    const error = cause.reasons.length === 0 ? {} : { error: Cause.pretty(cause) }
    try {
      log({ level: levels[logLevel], message: textOf(message), at: date, ...error })
    } catch {
      // a log that fails must not fail what is logged
    }
  })

/** Has everything within tell this function; nothing is told when there is none. */
export const layer = (log: Log | undefined) =>
  log === undefined
    ? Logger.layer([])
    : Layer.mergeAll(Logger.layer([telling(log)]), Layer.succeed(References.MinimumLogLevel, "Debug"))
