import { assert, describe, it } from "@effect/vitest"
import { type LoadedResets, redeem } from "../../src/people/InvitationStep.ts"
import { id } from "../samples.ts"

const [ana, ben] = [id("usr", 1), id("usr", 2)]

const resets = new Map([
  ["one", { userId: ana, expiresAt: 100 }],
  ["two", { userId: ana, expiresAt: 100 }],
  ["other", { userId: ben, expiresAt: 100 }]
])

const loaded: LoadedResets = { now: (asked) => asked, reset: (tokenHash) => resets.get(tokenHash) }

const by = (tokenHash: string, now = 99) => ({ now, tokenHash, passwordHash: `$${tokenHash}` })

describe("resetting a password", () => {
  it("a link sets its person's password until it expires", () => {
    assert.deepStrictEqual(redeem(loaded, [by("one"), by("other", 100), by("unknown")]), {
      answers: [ana, undefined, undefined],
      writes: [{ userId: ana, passwordHash: "$one" }]
    })
  })

  it("a new password uses up all links of its person, and of no one else", () => {
    assert.deepStrictEqual(redeem(loaded, [by("two"), by("one"), by("two"), by("other")]), {
      answers: [ana, undefined, undefined, ben],
      writes: [{ userId: ana, passwordHash: "$two" }, { userId: ben, passwordHash: "$other" }]
    })
  })

  it("the storage's time decides whether a link has expired", () => {
    const late = { ...loaded, now: () => 100 }
    assert.deepStrictEqual(redeem(late, [by("one", 0)]), { answers: [undefined], writes: [] })
  })
})
