import { globSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { parseSync } from "oxc-parser"
import { assert, describe, it } from "vitest"
import { texts as es } from "../src/texts/es.ts"
import { texts as pt } from "../src/texts/pt.ts"
import type { Catalogue } from "../src/ui/Language.ts"

const src = join(import.meta.dirname, "../src")

interface Node {
  readonly type: string
  readonly [property: string]: unknown
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

/** A call that translates a text. */
interface Call {
  readonly place: string
  readonly function: "t" | "rich" | "plural"
  /** The texts of its arguments; `undefined` for what is no literal. */
  readonly texts: ReadonlyArray<string | undefined>
  /** Whether it runs when its module is loaded. */
  readonly isEarly: boolean
}

const literal = (node: unknown): string | undefined =>
  isNode(node) && node.type === "Literal" && typeof node["value"] === "string" ? node["value"] : undefined

/** The calls in a syntax tree. */
const callsIn = (value: unknown, place: string, isEarly: boolean): ReadonlyArray<Call> => {
  if (Array.isArray(value)) return value.flatMap((one) => callsIn(one, place, isEarly))
  if (typeof value !== "object" || value === null) return []
  const within = isEarly && !(isNode(value) && /Function/.test(value.type))
  const inside = Object.values(value).flatMap((one) => callsIn(one, place, within))
  if (!isNode(value) || value.type !== "CallExpression") return inside
  const { arguments: given, callee } = value as Node & { readonly arguments: ReadonlyArray<unknown> }
  const name = isNode(callee) && callee.type === "Identifier" ? callee["name"] : undefined
  if (name === "t" || name === "rich") {
    return [...inside, { place, function: name, isEarly, texts: [literal(given[0])] }]
  }
  return name === "plural"
    ? [...inside, { place, function: name, isEarly, texts: [literal(given[1]), literal(given[2])] }]
    : inside
}

interface Module {
  readonly calls: ReadonlyArray<Call>
  /** The modules that are loaded with it. */
  readonly imports: ReadonlyArray<string>
}

const moduleOf = (path: string): Module => {
  const { module, program } = parseSync(path, readFileSync(path, "utf8"))
  const imports = module.staticImports
    .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
    .map(({ moduleRequest }) => moduleRequest.value).filter((name) => /^\..*\.tsx?$/.test(name))
  return {
    calls: callsIn(program, relative(src, path), true),
    imports: imports.map((name) => join(dirname(path), name))
  }
}

const modules = new Map(
  globSync("**/*.{ts,tsx}", { cwd: src }).map((path) => [join(src, path), moduleOf(join(src, path))])
)

const calls = [...modules.values()].flatMap(({ calls }) => calls)

/** The texts that a catalogue is asked for. */
const asked = new Set(calls.flatMap(({ texts }) => texts.at(-1) ?? []))
const plurals = new Set(calls.flatMap(({ function: name, texts }) => name === "plural" ? texts.at(-1) ?? [] : []))

const placeholders = (text: string): ReadonlyArray<string> => text.match(/\{\w+\}/g) ?? []

it("each text that is translated stands in its call, so that it can be found", () => {
  const missing = calls.filter(({ texts }) => texts.includes(undefined))
  assert.deepStrictEqual(missing.map((call) => `${call.function} in ${call.place}`), [])
  assert.isAbove(calls.length, 100)
})

it("what is loaded before the catalogue is asks it for nothing as it is loaded", () => {
  const early = new Set<string>()
  const load = (path: string): void => {
    if (early.has(path)) return
    early.add(path)
    modules.get(path)!.imports.forEach(load)
  }
  load(join(src, "main.tsx"))
  assert.isAbove(early.size, 30)
  const tooEarly = [...early].flatMap((path) => modules.get(path)!.calls).filter(({ isEarly }) => isEarly)
  assert.deepStrictEqual(tooEarly.map(({ place, texts }) => `${texts} in ${place}`), [])
})

describe.each<readonly [string, Catalogue]>([["Spanish", es], ["Portuguese", pt]])("%s", (_, texts) => {
  it("each text has a translation, and no translation is without its text", () => {
    assert.deepStrictEqual([...asked].filter((text) => texts[text] === undefined), [])
    assert.deepStrictEqual(Object.keys(texts).filter((text) => !asked.has(text)), [])
  })

  it("a text about a number has a form for one and one for many, and each other text has one form", () => {
    const wrong = [...asked].filter((text) => texts[text] !== undefined)
      .filter((text) => plurals.has(text) !== (typeof texts[text] !== "string"))
    assert.deepStrictEqual(wrong, [])
  })

  it("a translation has no placeholder that its text lacks, and ends its sentences as the text does", () => {
    for (const [text, translation] of Object.entries(texts)) {
      const known = [...placeholders(text), "{count}"]
      for (const form of [translation].flat()) {
        assert.includeMembers(known, [...placeholders(form)], text)
        assert.strictEqual(/[.:?…]$/.exec(form)?.[0], /[.:?…]$/.exec(text)?.[0], text)
      }
    }
  })
})
