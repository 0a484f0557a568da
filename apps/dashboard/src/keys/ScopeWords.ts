/** What keys may do, in words. Pure. */
import type { ApiScope } from "@wac/client/internal"

const words: { readonly [Scope in ApiScope]: string } = {
  "messages:send": "Send messages",
  "messages:read": "Read messages",
  "media:write": "Store files",
  "contacts:write": "Change opt-outs",
  "campaigns:write": "Run campaigns"
}

/** The scopes that a person chooses from, each with its words; every key may send. */
export const choices: ReadonlyArray<readonly [scope: ApiScope, name: string, hint: string]> = [
  ["messages:read", words["messages:read"], "With their text and files, and the events of all customers."],
  ["media:write", words["media:write"], "Upload the files that messages send, and delete files."],
  ["contacts:write", words["contacts:write"], "Record that a customer wants no messages, or wants them again."],
  ["campaigns:write", words["campaigns:write"], "Send a template to all customers of a file, and read who got it."]
]

/** What a new key may do unless a person chooses otherwise. */
export const preset: ReadonlyArray<ApiScope> = ["messages:read", "media:write"]

export const scopesInWords = (scopes: ReadonlyArray<ApiScope>): string => scopes.map((scope) => words[scope]).join(", ")
