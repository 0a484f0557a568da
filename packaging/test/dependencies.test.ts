import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "vitest"
import { root } from "../Published.ts"

interface Manifest {
  readonly name: string
  readonly workspaces?: ReadonlyArray<string>
  readonly [kind: string]: unknown
}

const manifestAt = (folder: string): Manifest => JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"))

const manifests = ["", ...manifestAt("").workspaces!]
  .flatMap((folder) => globSync(join(folder, "package.json"), { cwd: root }))
  .map((file) => manifestAt(dirname(file)))

const ours = new Set(manifests.map(({ name }) => name))

/** Packages that are not ours, each with the workspaces that depend on it. */
const dependencies = new Map<string, Array<string>>()
for (const manifest of manifests) {
  for (const kind of ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"]) {
    for (const name of Object.keys(manifest[kind] ?? {})) {
      if (!ours.has(name)) dependencies.set(name, [...dependencies.get(name) ?? [], manifest.name])
    }
  }
}

/** The names in the first columns of the tables; `*` stands for any text. */
const lines = [
  ...readFileSync(join(root, "docs/decisions/dependencies.md"), "utf8").matchAll(/^\| (?!-|Package )([^|]+?) +\|/gm)
].flatMap(([, cell]) => cell!.split(", ")).filter((name) => name !== "none" && !ours.has(name))

const covers = (line: string) => {
  const [before, after] = line.split("*") as [string, string?]
  return (name: string) => after === undefined ? name === line : name.startsWith(before) && name.endsWith(after)
}

describe("the list of dependencies", () => {
  it("the list has a line for every dependency of every workspace", () => {
    const missing = [...dependencies].filter(([name]) => !lines.some((line) => covers(line)(name)))
    assert.deepEqual(missing.map(([name, by]) => `${name} of ${by.join(", ")}`), [])
  })

  it("the list has one line for each dependency, and none for another package", () => {
    assert.deepEqual(lines.filter((line) => ![...dependencies.keys()].some(covers(line))), [])
    assert.deepEqual(lines.filter((line, i) => lines.indexOf(line) !== i), [])
  })
})
