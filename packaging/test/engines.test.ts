/**
 * What each package says of the Node that it needs, against what it depends on.
 */
import { findPackageJSON } from "node:module"
import { dirname, join } from "node:path"
import { assert, describe, it } from "vitest"
import { folders, type Manifest, manifestOf } from "../Published.ts"

/** The oldest Node that a manifest takes, as a number that sorts; 0 when it does not say. */
const oldest = ({ engines }: Manifest): number => {
  const [, major = "0", minor = "0"] = /^>=\s*v?(\d+)(?:\.(\d+))?/.exec(engines?.node ?? "") ?? []
  return Number(major) * 1000 + Number(minor)
}

describe("the Node that a package needs", () => {
  it.each([...folders])("%s: is none older than what its dependencies need", (_, folder) => {
    const manifest = manifestOf(folder)
    const older = Object.keys(manifest.dependencies ?? {}).filter((dependency) => {
      const found = findPackageJSON(dependency, join(folder, "package.json"))
      assert.isDefined(found, dependency)
      return oldest(manifestOf(dirname(found!))) > oldest(manifest)
    })
    assert.deepStrictEqual(older, [])
  })
})
