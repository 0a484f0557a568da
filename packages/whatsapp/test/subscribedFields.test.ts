/**
 * The webhook fields that the guide and the README name: those that are read, and the same in both.
 */
import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { change, entry, post, readPost } from "./posts.ts"

const part = (document: string, from: string, to: string): string => {
  const text = readFileSync(new URL(`../../../${document}`, import.meta.url), "utf8")
  const start = text.indexOf(from)
  assert.isAtLeast(start, 0, `${document} has no "${from}"`)
  return text.slice(start, text.indexOf(to, start + from.length))
}

const fieldsIn = (text: string) => [...text.matchAll(/`([a-z_]+)`/g)].map(([, field]) => field!).toSorted()

const inReadme = () =>
  fieldsIn(
    part("packages/whatsapp/README.md", "## Fields to subscribe to", "\n## What is passed over")
      .split("\n").filter((line) => line.startsWith("|")).map((line) => line.split("|")[1]).join("\n")
  )

it("the guide and the README name the same fields to subscribe to", () => {
  const inGuide = [...new Set(fieldsIn(part("docs/guides/whatsapp.md", "Then subscribe to these fields.", "\nLast,")))]
  assert.isAbove(inGuide.length, 10)
  assert.deepStrictEqual(inGuide, inReadme())
})

it("every field that the README names is read", () => {
  for (const field of inReadme()) {
    for (const item of readPost(post(entry([change(field, {})])))) {
      assert.notStrictEqual(item._tag === "Skipped" ? item.kind : "", `field:${field}`)
    }
  }
  assert.deepInclude(readPost(post(entry([change("follows", {})]))), { _tag: "Skipped", kind: "field:follows" })
})
