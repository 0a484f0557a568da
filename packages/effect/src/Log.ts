/**
 * An instance's log for its operator, which goes to the host's function. By default, only errors are logged, to stderr.
 */
import { Cause, Layer, Logger, References } from "effect"

/** One log line. It holds no secret and no payload. */
export interface LogEntry {
  readonly level: "debug" | "info" | "warn" | "error"
  readonly message: string
  readonly at: Date
  /** The error with its stack, if there is one. */
  readonly error?: string
}

/** Receives a log line. It is not waited for, and exceptions and rejections are ignored. */
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

/** The text of an error. Reading an error of a provider or a listener may throw again. */
const shown = (cause: Cause.Cause<unknown>): string => {
  try {
    return Cause.pretty(cause)
  } catch {
    return "an error that cannot be shown"
  }
}

/** Calls a log, which may be an async function. Never rejects. */
const tell = async (call: () => unknown): Promise<void> => {
  try {
    await call()
  } catch {
    // a failing log must neither make the logged operation fail nor end the process
  }
}

const loggerOf = (log: Log) =>
  Logger.make<unknown, void>(({ cause, date, logLevel, message }) => {
    const error = cause.reasons.length === 0 ? {} : { error: shown(cause) }
    void tell(() => log({ level: levels[logLevel], message: textOf(message), at: date, ...error }))
  })

/** The log of a host that has none: a mistake in a listener, or a wrongly mounted handler, must still be visible. */
const toStderr: Log = ({ error, message }) => {
  process.stderr.write(error === undefined ? `wac: ${message}\n` : `wac: ${message}\n${error}\n`, (failure) => {
    // emitted next, which ends a process that does not listen; `console.error` ignores only the first failure
    if (failure) process.stderr.once("error", () => {})
  })
}

/** Sends every line to this function. Without one, only errors are logged, to stderr. */
export const layer = (log: Log | undefined) =>
  Layer.mergeAll(
    Logger.layer([loggerOf(log ?? toStderr)]),
    Layer.succeed(References.MinimumLogLevel, log === undefined ? "Error" : "Debug")
  )
