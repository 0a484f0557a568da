/**
 * What an instance reports to its operator: through the host's function, or, without one, errors alone on stderr.
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

/** For a host without a log: a mistake in a listener, or a handler that is mounted wrongly, must not stay unseen. */
const toStderr: Log = ({ error, message }) => {
  process.stderr.write(error === undefined ? `wac: ${message}\n` : `wac: ${message}\n${error}\n`)
}

/** Sends every line to this function; without one, only errors are written, to stderr. */
export const layer = (log: Log | undefined) =>
  Layer.mergeAll(
    Logger.layer([telling(log ?? toStderr)]),
    Layer.succeed(References.MinimumLogLevel, log === undefined ? "Error" : "Debug")
  )
