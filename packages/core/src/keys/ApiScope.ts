/**
 * Scopes of API keys (specification §5). Pure.
 */
import { Schema } from "effect"
import { Forbidden } from "../Errors.ts"

/** `messages:send` authorizes everything on the public API so far. Every key has it. */
export const ApiScope = Schema.Literals(["messages:send"])
export type ApiScope = typeof ApiScope.Type

/** The scopes of a new key. */
export const issued: ReadonlyArray<ApiScope> = ["messages:send"]

/** The error for a key that lacks `scope`; `undefined` if it has it. */
export const missing = (scopes: ReadonlyArray<ApiScope>, scope: ApiScope): Forbidden | undefined =>
  scopes.includes(scope)
    ? undefined
    : new Forbidden({ reason: "missing_scope", message: `the API key lacks the scope ${scope}` })
