/**
 * The guide *Write a storage*, as its reader follows it: in a project of its own, from the packages as they are
 * published.
 */
import { assert, describe, it } from "vitest"
import * as GuideProject from "./GuideProject.ts"

const { commands, guide, vitest, write } = GuideProject.of("write-a-storage")

describe("the guide Write a storage", () => {
  it("the guide's storage of one port passes that port's suite", async () => {
    write()
    const { code, output } = await vitest("run", "limits.test.ts")
    assert.strictEqual(code, 0, output)
    assert.isAtLeast(Number(/Tests +(\d+) passed/.exec(output)?.[1]), 8, output)
  })

  it("the guide's whole storage passes every suite", async () => {
    write()
    const { code, output } = await vitest("run", "storage.test.ts")
    assert.strictEqual(code, 0, output)
    assert.isAbove(Number(/Tests +(\d+) passed/.exec(output)?.[1]), 400, output)
  })

  it("the guide's commands run tests, which pass", async () => {
    write()
    for (const command of commands) {
      const { code, output } = await vitest(...command)
      assert.strictEqual(code, 0, output)
      assert.match(output, /Tests +\d+ passed/)
    }
    assert.lengthOf(commands, 2)
  })

  it("the test that the guide names fails once a method is broken as the guide says", async () => {
    const [, from, to, title] = /change `(.+?)` above to `(.+?)`, and "(.+?)" fails/.exec(guide)!
    write((code) => code.replace(from!, to!))
    const { code, output } = await vitest("run", "limits.test.ts")
    assert.strictEqual(code, 1, output)
    assert.match(output, new RegExp(`FAIL .*${title}`))
  })
})
