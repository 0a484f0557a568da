/**
 * The guide *Write a storage*, as its reader follows it: in a project of its own, from the packages as they are
 * published.
 */
import { assert, describe, it } from "vitest"
import * as GuideProject from "./GuideProject.ts"

const { commands, guide, vitest, write } = GuideProject.of("write-a-storage")

describe("the guide Write a storage", () => {
  it("the guide's commands run every suite, which its storage passes, and one alone", async () => {
    write()
    const [all, one] = commands
    const ran = await vitest(...all!)
    assert.strictEqual(ran.code, 0, ran.output)
    assert.isAtLeast(Number(/✓ limits\.test\.ts \((\d+) tests/.exec(ran.output)?.[1]), 8, ran.output)
    assert.isAbove(Number(/✓ storage\.test\.ts \((\d+) tests/.exec(ran.output)?.[1]), 400, ran.output)
    const { code, output } = await vitest(...one!)
    assert.strictEqual(code, 0, output)
    assert.match(output, /Tests +\d+ passed/)
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
