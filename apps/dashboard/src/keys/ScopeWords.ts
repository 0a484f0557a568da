/** The scopes of keys, in words. Pure. */
import type { ApiScope } from "@wac/client/internal"
import { defaultScopes, scopeOfAll, scopes } from "../generated/Names.ts"

const words: { readonly [Scope in ApiScope]: readonly [name: string, hint: string] } = {
  "messages:send": ["Send messages", ""],
  "messages:read": ["Read messages", "With their text and files, and the events of all customers."],
  "media:write": ["Store files", "Upload the files that messages send, and delete files."],
  "contacts:write": ["Change opt-outs", "Record that a customer wants no messages, or wants them again."],
  "campaigns:write": ["Run campaigns", "Send a template to all customers of a file, and read who got it."]
}

/** The scopes that a person chooses from, each with its words. */
export const choices = scopes.filter((scope) => scope !== scopeOfAll).map((scope) => [scope, ...words[scope]] as const)

/** The scopes of a new key unless a person chooses others. */
export const preset: ReadonlyArray<ApiScope> = defaultScopes.filter((scope) => scope !== scopeOfAll)

export const scopesInWords = (scopes: ReadonlyArray<ApiScope>): string =>
  scopes.map((scope) => words[scope][0]).join(", ")
