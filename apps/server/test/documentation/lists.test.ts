/**
 * Lists in documents are complete: decisions, what `deploy` has, and the operator's commands.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { wac } from "../commandLine.ts"

const root = fileURLToPath(new URL("../../../../", import.meta.url))

const text = (path: string) => readFileSync(root + path, "utf8")

const linked = (document: string): ReadonlyArray<string> =>
  [...text(document).matchAll(/\]\(([^()#\s]+)\)/g)].map(([, target]) => target!)

it("the list of decisions names every decision", () => {
  const decisions = readdirSync(`${root}docs/decisions`).filter((name) => /^\d{4}-/.test(name))
  assert.isAbove(decisions.length, 30)
  assert.sameMembers(linked("docs/decisions/README.md").filter((name) => /^\d{4}-/.test(name)), decisions)
})

it("the guide to deploying names everything in its folder", () => {
  const named = new Set(linked("deploy/README.md").map((target) => target.split("/")[0]))
  assert.deepStrictEqual(
    readdirSync(`${root}deploy`).filter((name) => name !== "README.md" && !named.has(name)),
    []
  )
})

/** The commands in a row of the guide's table: what follows a command without `wac` is its sibling. */
const commandsIn = (cell: string): ReadonlyArray<string> => {
  const [first = "", ...others] = [...cell.matchAll(/`([^`]+)`/g)].map(([, command]) => command!)
  const group = first.split(" ").slice(0, -1).join(" ")
  return [first, ...others.map((other) => other.startsWith("wac ") ? other : `${group} ${other}`)]
}

it.live("the operating guide's table has exactly the operator's commands", () =>
  Effect.gen(function*() {
    const leaves = (words: string): Effect.Effect<ReadonlyArray<string>> =>
      Effect.gen(function*() {
        const { stdout } = yield* Effect.orDie(wac({})(`${words.replace("wac", "")} --help`.trim()))
        const names = [...(stdout.split("SUBCOMMANDS\n")[1] ?? "").matchAll(/^ {2}(\S+)/gm)].map(([, name]) => name!)
        const below = yield* Effect.forEach(names, (name) => leaves(`${words} ${name}`))
        return names.length === 0 ? [words] : below.flat()
      })
    const rows = [...text("docs/guides/operating.md").matchAll(/^\| (`wac [^|]*)\|/gm)].map(([, cell]) => cell!)
    assert.isAbove(rows.length, 10)
    assert.sameMembers(rows.flatMap(commandsIn), [...yield* leaves("wac")])
  }))
