/** What keys may do, in words. Pure. */
import type { ApiScope } from "@wac/client/internal"

const words: { readonly [Scope in ApiScope]: string } = { "messages:send": "Send messages" }

export const scopesInWords = (scopes: ReadonlyArray<ApiScope>): string => scopes.map((scope) => words[scope]).join(", ")
