import { globSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { parseSync } from "oxc-parser"
import { analyse } from "scslre"
import { assert, beforeAll, it, vi } from "vitest"

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

/** The expressions that our modules make as they are loaded, which no syntax tree has. */
const made: Array<Expression> = []

beforeAll(async () => {
  vi.stubGlobal(
    "RegExp",
    new Proxy(RegExp, {
      construct: (target, args: ConstructorParameters<typeof RegExp>) => {
        const expression = new target(...args)
        const place = /(?:packages|apps)\/\w+\/src\/[\w/.]+/.exec(new Error().stack!.split("\n")[2]!)?.[0]
        if (place !== undefined) made.push({ place, source: expression.source, flags: expression.flags })
        return expression
      }
    })
  )
  const modules = globSync(
    "packages/{api,client,core,http,memory,postgres,receivers,sandbox,verifier,whatsapp}/src/index.ts",
    {
      cwd: root
    }
  )
  try {
    for (const module of modules) await import(join(root, module))
  } finally {
    vi.unstubAllGlobals()
  }
})

it("every regular expression takes time in proportion to the text", () => {
  assert.isAbove(expressions.length, 200)
  assert.isAbove(made.length, 10)
  const slow = [...expressions, ...made].flatMap((expression) =>
    reportsOf(expression).map((report) => `${expression.place}: /${expression.source}/${expression.flags}: ${report}`)
  )
  assert.deepStrictEqual(slow, [])
})

it("an expression that takes quadratic or exponential time is found", () => {
  for (const source of ["[. ]+$", "\\{\\{\\s*[^{}]+?\\s*\\}\\}", "^(a+)+$"]) {
    assert.isNotEmpty(reportsOf({ source, flags: "" }), source)
  }
})
