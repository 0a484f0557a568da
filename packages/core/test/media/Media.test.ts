import { assert, it } from "@effect/vitest"
import { vi } from "vitest"
import * as Media from "../../src/media/Media.ts"

it("a file's name is the last part of its path, without dots and spaces around it", () => {
  const names: ReadonlyArray<readonly [given: string | undefined, kept: string | null]> = [
    ["a.pdf", "a.pdf"],
    ["C:\\files\\a.pdf", "a.pdf"],
    ["../../a.pdf", "a.pdf"],
    ["...a. b.. ", "a. b"],
    [" . . ", null],
    ["a\u0000\u202eb.pdf", "ab.pdf"],
    ["\ud800.pdf", "pdf"],
    [undefined, null]
  ]
  for (const [given, kept] of names) assert.strictEqual(Media.nameOf(given), kept, JSON.stringify(given))
})

it("of a very long name, only the beginning of its last part is cleaned", () => {
  const normalize = vi.spyOn(String.prototype, "normalize")
  try {
    for (const given of [`a${" ".repeat(1_000_000)}b`, `${"x/".repeat(500_000)}${"é".repeat(1_000_000)}`]) {
      const name = Media.nameOf(given)!
      assert.isAtMost(name.length, 240)
    }
    for (const text of normalize.mock.contexts) assert.isAtMost(String(text).length, 1000)
    assert.lengthOf(normalize.mock.contexts, 2)
  } finally {
    normalize.mockRestore()
  }
})
