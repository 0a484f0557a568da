import { assert, describe, it } from "@effect/vitest"
import { changed, ended, inForce, type Suppression } from "../../src/contacts/Suppression.ts"
import { id } from "../samples.ts"

const [one, other] = [id("pn", 1), id("pn", 2)]

const suppression = (fields: Partial<Suppression>): Suppression => ({
  workspaceId: id("ws"),
  hash: "h",
  phoneNumberId: null,
  optedOut: true,
  name: { key: "+12025550123", at: 300, source: "import" },
  ...fields
})

/** A choice of the customer at a time, for the number `one`. */
const choice = (stored: ReadonlyArray<Suppression>, at: number) =>
  changed(stored, ended(stored, one, ({ name }) => name === null || name.at <= at))

describe("a choice to be written to again", () => {
  const exception = suppression({ phoneNumberId: one, optedOut: false, name: null })

  it("an exception stays if the choice is reported after a list that was imported since", () => {
    const stored = [suppression({}), exception]
    assert.deepStrictEqual(choice(stored, 250), stored)
    assert.isUndefined(inForce(choice(stored, 250), one))
  })

  it("a choice that is newer than the opt-out of every number makes an exception, once", () => {
    const after = choice([suppression({})], 350)
    assert.deepStrictEqual([inForce(after, one), inForce(after, other) !== undefined], [undefined, true])
    assert.deepStrictEqual(choice(after, 350), after)
  })

  it("a choice ends the number's own opt-out, and none that is newer", () => {
    const own = suppression({ phoneNumberId: one })
    assert.deepStrictEqual(choice([own], 350), [])
    assert.deepStrictEqual(choice([own], 250), [own])
  })
})
