/**
 * Scopes of API keys (specification §5, contract §14). Pure.
 */
import { Schema } from "effect"
import { Forbidden } from "../Errors.ts"

/** A scope. Each endpoint declares the scope that it requires. */
export const ApiScope = Schema.Literals([
  "messages:send",
  "messages:read",
  "media:write",
  "contacts:write",
  "campaigns:write"
]).annotate({
  identifier: "ApiScope",
  description:
    "The permissions of a key. `messages:send` also lists templates; `messages:read` reads messages, events and media."
})
export type ApiScope = typeof ApiScope.Type

/** All scopes, in the order in which keys list theirs. */
export const all: ReadonlyArray<ApiScope> = ApiScope.literals

/** The scope that every key has. */
export const ofAll: ApiScope = "messages:send"

/** The scopes of a key that was created without a choice. */
export const defaults: ReadonlyArray<ApiScope> = [ofAll, "messages:read", "media:write"]

/**
 * The scopes of a new key for which `asked` was requested: each once, in the order of {@link all}, always with
 * {@link ofAll}; the {@link defaults} if `undefined`.
 */
export const granted = (asked: ReadonlyArray<ApiScope> | undefined): ReadonlyArray<ApiScope> =>
  asked === undefined ? defaults : all.filter((scope) => scope === ofAll || asked.includes(scope))

/** Whether scopes are the default scopes. */
export const isDefault = (scopes: ReadonlyArray<ApiScope>): boolean => scopes.join() === defaults.join()

/** The error for a key that lacks `scope`; `undefined` if it has it. */
export const missing = (scopes: ReadonlyArray<ApiScope>, scope: ApiScope): Forbidden | undefined =>
  scopes.includes(scope)
    ? undefined
    : new Forbidden({ reason: "missing_scope", message: `the API key lacks the scope ${scope}` })
