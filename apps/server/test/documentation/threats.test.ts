/**
 * The threat model in `SECURITY.md`: each threat names what stands against it, and tests that there are.
 */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"

const fileOf = (path: string) => new URL(`../../../../${path}`, import.meta.url)

const text = (path: string) => readFileSync(fileOf(path), "utf8")

/** A test, as a cell of the table names it: a link to its file, and its title. */
const named = /^\[[^\]]+\]\(([^)]+)\): (.+)$/

/** The rows of the table of threats. */
const threats = text("SECURITY.md").split("\n").filter((line) => line.startsWith("|"))
  .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()))
  .slice(2).map(([asset, threat, defence, tests]) => ({ asset, threat, defence, tests: tests!.split("<br>") }))

/** Whether a test of this title is in a file's text. */
const isTitleIn = (source: string, title: string): boolean =>
  [JSON.stringify(title), `\`${title}\``].some((literal) => source.includes(literal))

describe("the threat model", () => {
  it("every threat names its asset, what stands against it, and a test", () => {
    assert.isAbove(threats.length, 30)
    for (const { asset, defence, tests, threat } of threats) {
      for (const cell of [asset, threat, defence, ...tests]) assert.isNotEmpty(cell, threat)
    }
    const all = threats.map(({ threat }) => threat)
    assert.deepStrictEqual(all.filter((threat, i) => all.indexOf(threat) !== i), [])
  })

  it("every test that the threat model names exists, under its title", () => {
    const missing = threats.flatMap(({ tests }) => tests).filter((one) => {
      const [, path, title] = named.exec(one) ?? []
      return path === undefined || !path.endsWith(".test.ts") || !existsSync(fileOf(path)) ||
        !isTitleIn(text(path), title!)
    })
    assert.deepStrictEqual(missing, [])
  })
})
