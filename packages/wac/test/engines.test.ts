/**
 * What each package says of the Node that it needs, against what it depends on.
 */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { findPackageJSON } from "node:module"
import { fileURLToPath } from "node:url"

const packages = fileURLToPath(new URL("../..", import.meta.url))

interface Manifest {
  readonly engines?: { readonly node?: string }
  readonly dependencies?: { readonly [name: string]: string }
}

const read = (path: string): Manifest => JSON.parse(readFileSync(path, "utf8"))

/** The oldest Node that a manifest takes, as a number that sorts; 0 when it does not say. */
const oldest = ({ engines }: Manifest): number => {
  const [, major = "0", minor = "0"] = /^>=\s*v?(\d+)(?:\.(\d+))?/.exec(engines?.node ?? "") ?? []
  return Number(major) * 1000 + Number(minor)
}

describe("the Node that a package needs", () => {
  it.each(readdirSync(packages))("%s: is none older than what its dependencies need", (name) => {
    const path = `${packages}${name}/package.json`
    const manifest = read(path)
    const older = Object.keys(manifest.dependencies ?? {}).filter((dependency) => {
      const found = findPackageJSON(dependency, path)
      assert.isDefined(found, dependency)
      return oldest(read(found!)) > oldest(manifest)
    })
    assert.deepStrictEqual(older, [])
  })
})
