/** The names and hints of the scopes of keys, in the reader's language. */
import type { ApiScope } from "@wac/client/internal"
import { defaultScopes, scopeOfAll, scopes } from "../generated/Names.ts"
import { t } from "../ui/Language.ts"

/** Every key has it, so nobody chooses it. */
const isImplied = (scope: ApiScope): boolean => scope === scopeOfAll

const words: { readonly [Scope in ApiScope]: readonly [name: string, hint: string] } = {
  "messages:send": [t("Send messages"), ""],
  "messages:read": [t("Read messages"), t("With their text and files, and the events of all customers.")],
  "media:write": [t("Store files"), t("Upload the files that messages send, and delete files.")],
  "contacts:write": [t("Change opt-outs"), t("Record that a customer wants no messages, or wants them again.")],
  "campaigns:write": [t("Run campaigns"), t("Send a template to all customers of a file, and read who got it.")]
}

/** The scopes that a person chooses from, each with its words. */
export const choices = scopes.filter((scope) => !isImplied(scope)).map((scope) => [scope, ...words[scope]] as const)

/** The scopes of a new key unless a person chooses others. */
export const preset: ReadonlyArray<ApiScope> = defaultScopes.filter((scope) => !isImplied(scope))

/** The names of scopes. */
export const scopesInWords = (scopes: ReadonlyArray<ApiScope>): string =>
  scopes.map((scope) => words[scope][0]).join(", ")
