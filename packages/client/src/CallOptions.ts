/**
 * The options of calls, their defaults and their validation.
 */
import { badOption } from "./ClientError.ts"
import type { CallOptions as OptionsOfCall } from "./generated/Messaging.ts"
import type { Hooks } from "./Hooks.ts"

/**
 * The settings of a client that gives none: a timeout that suits an interactive caller, and as many retries as fit into
 * it with waits of half a second to eight seconds.
 */
export const standard = { retries: 7, timeout: 30_000 }

/** The longest time that timers take, in milliseconds. */
const longestTimeout = 2 ** 31 - 1

/** Time and randomness. */
export interface Clock {
  readonly now: () => number
  /** Rejects when the signal is aborted. */
  readonly sleep: (millis: number, signal: AbortSignal) => Promise<void>
  /** From 0 to below 1. */
  readonly random: () => number
}

/** How requests are made. */
export interface TransportOptions {
  /** The timeout of a call, retries and waits included, in milliseconds; 30,000 by default. */
  readonly timeout?: number
  /** The maximum number of retries of a failed request; 7 by default, 0 for none. */
  readonly retries?: number
  /** Called around each request. */
  readonly hooks?: Hooks
  /** Makes the requests; defaults to the runtime's own. */
  readonly fetch?: typeof fetch
  /** Time and randomness, for tests. */
  readonly clock?: Clock
}

/** Options of every call; in a list they apply to each page. */
export interface CallOptions extends OptionsOfCall {
  /** Overrides the client's setting. */
  readonly retries?: number
}

/** The given options, or none if they are omitted. Throws a {@link WacError} for what cannot be options. */
export const given = <Options extends object>(options: Options | undefined): Partial<Options> => {
  if (options === undefined) return {}
  if (Object(options) !== options) throw badOption("options", "options must be an object")
  return options
}

/** Throws a {@link WacError} for the first option that is not one of these. */
export const onlyKnown = (options: object, names: ReadonlyArray<string>): void => {
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) throw badOption(name, `there is no option ${name}`, "unknown_field")
  }
}

/**
 * Returns the retries and the timeout of a client or of a call, with these defaults. Throws a {@link WacError} for the
 * first invalid option.
 */
export const limitsOf = (
  defaults: Required<Pick<TransportOptions, "retries" | "timeout">>,
  { retries = defaults.retries, signal, timeout = defaults.timeout }: TransportOptions & CallOptions
) => {
  if (typeof timeout !== "number" || !(timeout > 0 && timeout <= longestTimeout)) {
    throw badOption("timeout", `timeout must be a number of milliseconds above 0, at most ${longestTimeout}`)
  }
  if (!(Number.isInteger(retries) && retries >= 0)) throw badOption("retries", "retries must be a whole number from 0")
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw badOption("signal", "signal must be an AbortSignal")
  }
  return { retries, timeout }
}
