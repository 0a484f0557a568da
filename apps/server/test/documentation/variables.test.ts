/**
 * Every variable that the server reads is in the operating guide and in the contract, and so is which of them are
 * secret.
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

/** The rows of the table of variables: the names in each, and its default. */
const rowsOf = (document: string) =>
  [...document.matchAll(/^\| (`[A-Z][^|]*?) +\|[^\n]*\| ([^|\n]*?) +\|$/gm)].map(([, names, value]) => ({
    names: [...names!.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
    value: value!
  }))

it.each(["docs/guides/operating.md", "docs/contract.md"])("%s names no variable that is not there", (path) => {
  const named = rowsOf(text(path)).flatMap(({ names }) => names)
  assert.isAbove(named.length, 40)
  assert.deepStrictEqual(named.filter((name) => ![...Variable.known, ...Variable.gone].includes(name)), [])
})

it("the guide's table has the defaults that apply", () => {
  const described = new Map<string, Variable.Description>(
    Object.values<{ readonly [name: string]: Variable.Description }>(Variable.groups).flatMap(Object.entries)
  )
  const rows = rowsOf(text("docs/guides/operating.md")).filter(({ names, value }) =>
    names.length === 1 && /^`[^`]*`$/.test(value) && !described.has(value.slice(1, -1))
  )
  assert.isAtLeast(rows.length, 8)
  for (const { names: [name], value } of rows) {
    if (name !== "PUBLIC_URL") assert.strictEqual(value, `\`${described.get(name!)?.default}\``, name)
  }
})
