import { readFileSync } from "node:fs"
import { assert, it } from "vitest"
import { version } from "../src/Version.ts"

it("the version in the code is that of the manifest", () => {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
  assert.strictEqual(version, manifest.version)
})
