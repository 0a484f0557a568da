/**
 * The guide *Write a provider*, as its reader follows it: in a project of its own, from the packages as they are
 * published. The example is the guide's code.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { root } from "../Published.ts"
import * as GuideProject from "./GuideProject.ts"

const { commands, files, guide, vitest, write } = GuideProject.of("write-a-provider")

const example = join(root, "examples/sms-provider")

describe("the guide Write a provider", () => {
  it("the guide's commands run the conformance suite, and its provider passes", async () => {
    write()
    for (const command of commands) {
      const { code, output } = await vitest(...command)
      assert.strictEqual(code, 0, output)
      assert.isAtLeast(Number(/Tests +(\d+) passed/.exec(output)?.[1]), 13, output)
    }
    assert.lengthOf(commands, 1)
  })

  it("the test that the guide names fails once the provider is broken as the guide says", async () => {
    const [, from, to, title] = /change `(.+?)` above to `(.+?)`, and "(.+?)" fails/.exec(guide)!
    write((code) => code.replace(from!, to!))
    const { code, output } = await vitest("run")
    assert.strictEqual(code, 1, output)
    assert.match(output, new RegExp(`FAIL .*${title}`))
  })

  it("the example has the guide's files, word for word", () => {
    assert.sameMembers(files.map(([name]) => name), readdirSync(example).filter((name) => name.endsWith(".ts")))
    for (const [name, code] of files) assert.strictEqual(readFileSync(join(example, name), "utf8"), code, name)
  })
})
