/**
 * Scopes of API keys (specification §5).
 */
import { Schema } from "effect"
import { Forbidden } from "../Errors.ts"

/** `messages:send` authorizes everything on the public API so far; every key is issued with it. */
export const ApiScope = Schema.Literals(["messages:send"])
export type ApiScope = typeof ApiScope.Type

/** The scopes that a new key gets. */
export const issued: ReadonlyArray<ApiScope> = ["messages:send"]

/** The error for a key that lacks `scope`, or nothing. */
export const missing = (scopes: ReadonlyArray<ApiScope>, scope: ApiScope): Forbidden | undefined =>
  scopes.includes(scope)
    ? undefined
    : new Forbidden({ reason: "missing_scope", message: `the API key lacks the scope ${scope}` })
