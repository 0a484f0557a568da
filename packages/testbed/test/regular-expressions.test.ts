import { globSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { parseSync } from "oxc-parser"
import { analyse } from "scslre"
import { assert, it } from "vitest"

const root = join(import.meta.dirname, "../../..")

interface Expression {
  readonly place: string
  readonly source: string
  readonly flags: string
}

/** The regular expressions of a syntax tree. */
const expressionsIn = (node: unknown, place: string): ReadonlyArray<Expression> => {
  if (typeof node !== "object" || node === null) return []
  if (Array.isArray(node)) return node.flatMap((one) => expressionsIn(one, place))
  if ("regex" in node) {
    const { flags, pattern } = node.regex as { readonly flags: string; readonly pattern: string }
    return [{ place, source: pattern, flags }]
  }
  return Object.values(node).flatMap((one) => expressionsIn(one, place))
}

/** How an expression takes more than linear time for some text. */
const reportsOf = ({ flags, source }: Omit<Expression, "place">): ReadonlyArray<string> =>
  analyse({ source, flags }).reports.map(({ exponential, type }) => `${type}${exponential ? ", exponential" : ""}`)

const expressions = globSync(["packages/*/src/**/*.{ts,tsx}", "apps/*/src/**/*.{ts,tsx}"], { cwd: root }).flatMap((
  file
) => expressionsIn(parseSync(file, readFileSync(join(root, file), "utf8")).program, relative(root, join(root, file))))

it("every regular expression takes time in proportion to the text", () => {
  assert.isAbove(expressions.length, 200)
  const slow = expressions.flatMap((expression) =>
    reportsOf(expression).map((report) => `${expression.place}: /${expression.source}/${expression.flags}: ${report}`)
  )
  assert.deepStrictEqual(slow, [])
})

it("an expression that takes quadratic or exponential time is found", () => {
  for (const source of ["[. ]+$", "\\{\\{\\s*[^{}]+?\\s*\\}\\}", "^(a+)+$"]) {
    assert.isNotEmpty(reportsOf({ source, flags: "" }), source)
  }
})
