/**
 * Checks the options of a call, which are also those of calls of `createClient()`. An unknown option is refused by
 * name: a misspelt `signal` must not become a send that cannot be aborted.
 */
import { Errors, type Idempotency } from "@wac/core"
import { Predicate, Result } from "effect"
import type { CallOptions } from "./generated/Messaging.ts"
import * as Input from "./Input.ts"

/** The longest time that a timer accepts, in milliseconds. */
const longest = 2 ** 31 - 1

const invalid = (param: string, message: string, reason: "invalid_field" | "unknown_field" = "invalid_field") =>
  Result.fail(new Errors.InvalidBody({ reason, param, message }))

/** Checks the options of a call; `names` are those that it has besides `signal` and `timeout`. */
export const check = (
  options: unknown,
  names: ReadonlyArray<string> = []
): Result.Result<CallOptions, Errors.InvalidBody> => {
  if (options === undefined) return Result.succeed({})
  if (!Predicate.isObject(options)) return invalid("options", "options must be an object")
  const { signal, timeout, ...others } = options as CallOptions
  const unknown = Object.keys(others).find((name) => !names.includes(name))
  if (unknown !== undefined) return invalid(unknown, `there is no option ${unknown}`, "unknown_field")
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    return invalid("signal", "signal must be an AbortSignal")
  }
  if (timeout !== undefined && !(typeof timeout === "number" && timeout > 0 && timeout <= longest)) {
    return invalid("timeout", `timeout must be a number of milliseconds above 0, at most ${longest}`)
  }
  return Result.succeed({ ...(signal === undefined ? {} : { signal }), ...(timeout === undefined ? {} : { timeout }) })
}

/** The idempotency key of a call: the one in its options, else a random one. */
export const keyOf = (
  options: { readonly idempotencyKey?: string } | undefined
): Result.Result<Idempotency.IdempotencyKey, Errors.InvalidBody> =>
  Input.idempotencyKey(options?.idempotencyKey === undefined ? crypto.randomUUID() : options.idempotencyKey)
