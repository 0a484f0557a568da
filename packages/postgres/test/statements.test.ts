/**
 * No statement counts its parameters: two of them could be exchanged, and the compiler would not notice.
 */
import { assert, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"

const sources = `${import.meta.dirname}/../src`

/** Where parameters are numbered for all. */
const numbering = "Statement.ts"

/** A parameter by its number. What follows a letter is the end of a quotation in dollars. */
const numbered = /(?<!\w)\$(?:\d|\$\{)/

it("statements outside migrations name their parameters", () => {
  const counting = globSync("**/*.ts", { cwd: sources })
    .filter((file) => !file.startsWith("migrations/") && numbered.test(readFileSync(`${sources}/${file}`, "utf8")))
  assert.deepStrictEqual(counting, [numbering])
})
