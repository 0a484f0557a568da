/**
 * The generated files are those that the API definition gives. `npx vitest run --project api generated -u` writes them.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, expect, it } from "vitest"
import { files } from "../generate/GeneratedFiles.ts"

const dashboard = join(import.meta.dirname, "../../../apps/dashboard/src")

describe("generated files", () => {
  it("the dashboard has the roles of endpoints and the lengths of texts from them alone", () => {
    const sources = readdirSync(dashboard, { recursive: true, encoding: "utf8" }).filter((name) =>
      /\.tsx?$/u.test(name)
    )
    assert.isAbove(sources.length, 80)
    const literal = /useRefusal\(\s*["'`]|maxLength=\{?\s*["\d]/u
    assert.deepStrictEqual(sources.filter((name) => literal.test(readFileSync(join(dashboard, name), "utf8"))), [])
  })

  it.each(files)("$path is what the API definition gives", async ({ path, text }) => {
    await expect(text).toMatchFileSnapshot(`../../../${path}`)
  })
})
