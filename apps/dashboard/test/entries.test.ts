import { assert, it } from "vitest"
import { entriesIn, lineOf, textsOf } from "../src/ui/Entries.ts"

it("the entries of a list are those of its lines, without empty ones", () => {
  const words = entriesIn("\nSchluss jetzt \r\n\n  genug")
  assert.deepStrictEqual(words, [{ text: "Schluss jetzt", line: 2 }, { text: "genug", line: 4 }])
  assert.deepStrictEqual(textsOf(words), ["Schluss jetzt", "genug"])
  assert.deepStrictEqual(entriesIn(" \n"), [])
  assert.deepStrictEqual(entriesIn("::1, 10.0.0.0/8\n\n192.0.2.1", /[\s,]+/), [
    { text: "::1", line: 1 },
    { text: "10.0.0.0/8", line: 1 },
    { text: "192.0.2.1", line: 3 }
  ])
})

it("the line of an error is found by the entry that it names, and only in its own list", () => {
  const words = entriesIn("one\n\ntwo")
  assert.strictEqual(lineOf("words[0]", "words", words), 1)
  assert.strictEqual(lineOf("words[1]", "words", words), 3)
  for (const place of ["words", "words[2]", "words[x]", "words.1", "others[0]", "words2[0]"]) {
    assert.isUndefined(lineOf(place, "words", words), place)
  }
})
