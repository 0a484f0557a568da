/**
 * The address with which the links begin that operator's commands print.
 */
import { Console, Effect } from "effect"
import * as OperatorCommand from "./OperatorCommand.ts"
import { publicUrlFromEnvironment } from "./ServerConfig.ts"

/** `PUBLIC_URL` without a slash at its end; a guess if it is not set. */
export const base = Effect.gen(function*() {
  const url = yield* publicUrlFromEnvironment(yield* OperatorCommand.Variables)
  return url.href.replace(/\/$/, "")
})

/** Says on standard error, after a link was printed, that its address is a guess. */
export const guessed = Effect.gen(function*() {
  const variables = yield* OperatorCommand.Variables
  if ((variables["PUBLIC_URL"] ?? "") !== "") return
  yield* Console.error(`PUBLIC_URL is not set: the link leads to ${yield* base}`)
})
