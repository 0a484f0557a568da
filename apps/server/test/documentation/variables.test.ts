/**
 * Every variable that the server reads is in the operating guide and in the contract, and so is which of them are secret.
 */
import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import * as Variable from "../../src/Variable.ts"

const text = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8")

/** Those of WhatsApp are written below one name, `WHATSAPP_…`; `AWS_…` are those that AWS documents. */
const isIn = (document: string, name: string): boolean =>
  new RegExp(`\`${name}\``).test(document) ||
  (name.startsWith("AWS_") && document.includes("`AWS_…`")) ||
  (name.startsWith("WHATSAPP_") && new RegExp(`\`(?:WHATSAPP)?_?${name.slice("WHATSAPP_".length)}\``).test(document))

it.each(["docs/guides/operating.md", "docs/contract.md"])("%s names every variable", (path) => {
  const document = text(path)
  assert.deepStrictEqual(Variable.names.filter((name) => !isIn(document, name)), [])
})

it.each(["docs/guides/operating.md", "docs/contract.md"])("%s names the variables that files may contain", (path) => {
  const [, list] = /Each variable that holds a secret \(([^)]*)\)/.exec(text(path))!
  assert.sameMembers([...list!.matchAll(/`(\w+)`/g)].map(([, name]) => name), [...Variable.secrets])
})
