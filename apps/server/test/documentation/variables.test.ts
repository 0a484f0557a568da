/**
 * Every variable that the server reads is in the operating guide and in the contract.
 */
import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"

const text = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8")

/** What the source names in capitals is a variable. */
const variables = [
  ...new Set(
    [...text("apps/server/src/ServerConfig.ts").matchAll(/"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)"/g)].map(([, name]) => name!)
  )
].sort()

/** Those of WhatsApp are written below one name, `WHATSAPP_…`; `AWS_…` are those that AWS documents. */
const isIn = (document: string, name: string): boolean =>
  new RegExp(`\`${name}\``).test(document) ||
  (name.startsWith("AWS_") && document.includes("`AWS_…`")) ||
  (name.startsWith("WHATSAPP_") && new RegExp(`\`(?:WHATSAPP)?_?${name.slice("WHATSAPP_".length)}\``).test(document))

it("every documented environment variable is read by its name", () => {
  assert.includeMembers(variables, ["PORT", "DATABASE_URL", "WHATSAPP_APP_SECRET", "OIDC_ROLE_CLAIM", "PORTAL_ORIGINS"])
})

it.each(["docs/guides/operating.md", "docs/contract.md"])("%s names every variable", (path) => {
  const document = text(path)
  assert.deepStrictEqual(variables.filter((name) => !isIn(document, name)), [])
})
