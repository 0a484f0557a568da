import { assert, it } from "vitest"
import * as OptionalPackage from "../src/OptionalPackage.ts"

const failing = (code: string | undefined, message = "no") => Object.assign(new Error(message), { code })

it("a package is missing if Node or a bundler reports so, and not if it fails for another reason", async () => {
  const missing = await import(`${"no-such-package"}`).catch((error) => error)
  const errors: ReadonlyArray<readonly [error: unknown, isMissing: boolean]> = [
    [missing, true],
    [failing("ERR_MODULE_NOT_FOUND"), true],
    [failing("MODULE_NOT_FOUND"), true],
    [failing(undefined, "Could not resolve \"a\" imported by \"b\". Is it installed?"), true],
    [failing(undefined, "it could not start"), false],
    [failing("ENOENT"), false],
    [undefined, false]
  ]
  for (const [error, expected] of errors) assert.strictEqual(OptionalPackage.isMissing(error), expected, `${error}`)
})
