/** The scopes of API keys: their names and hints in the reader's language, and which a person can choose. */
import type { ApiScope } from "@wac/client/internal"
import { defaultScopes, scopeOfAll, scopes } from "../generated/Names.ts"
import { t } from "../ui/Language.ts"

/** Whether every key has the scope, so that it cannot be chosen. */
const isImplied = (scope: ApiScope): boolean => scope === scopeOfAll

const words: { readonly [Scope in ApiScope]: readonly [name: string, hint: string] } = {
  "messages:send": [t("Send messages"), ""],
  "messages:read": [t("Read messages"), t("With their text and files, and the events of all customers.")],
  "media:write": [t("Store files"), t("Upload the files that messages send, and delete files.")],
  "contacts:write": [t("Change opt-outs"), t("Record that a customer wants no messages, or wants them again.")],
  "campaigns:write": [t("Run campaigns"), t("Send a template to all customers of a file, and read who got it.")]
}

/** The scopes that a person can choose, each with its name and hint. */
export const choices = scopes.filter((scope) => !isImplied(scope)).map((scope) => [scope, ...words[scope]] as const)

/** The scopes that are chosen by default for a new key. */
export const preset: ReadonlyArray<ApiScope> = defaultScopes.filter((scope) => !isImplied(scope))

/** The names of scopes, as one text. */
export const scopesInWords = (scopes: ReadonlyArray<ApiScope>): string =>
  scopes.map((scope) => words[scope][0]).join(", ")
