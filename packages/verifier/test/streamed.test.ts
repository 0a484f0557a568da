import { createHmac } from "node:crypto"
import { assert, describe, it } from "vitest"
import { sign, verify, type VerifyOptions } from "../src/index.ts"
import { verifyPassing } from "../src/StreamedSignature.ts"
import { type Random, random } from "./random.ts"

const macOf = (secret: string) => () => {
  const mac = createHmac("sha256", secret)
  return { take: (bytes: Uint8Array) => void mac.update(bytes), end: () => mac.digest("hex") }
}

/** The result for a body that passes in pieces of any size. */
const passed = (source: Random, body: Uint8Array, header: string | null, secret: string, options: VerifyOptions) => {
  const passing = verifyPassing(header, macOf(secret), options)
  for (let at = 0; at < body.length;) {
    const end = at + 1 + source.below(20)
    passing.take(body.slice(at, end))
    at = end
  }
  return passing.end()
}

/** A header that is right, or wrong in a way. */
const altered = (source: Random, header: string): string | null =>
  source.pick([
    header,
    header,
    null,
    "",
    header.replace("t=", "t=0"),
    `${header},${header}`,
    header.replace("v1=", "v0="),
    header.replace(/.$/, source.pick(["0", "1"])),
    `v1=${source.text(64, "0123456789abcdef")},${header}`,
    ` ${header}`,
    `${header},v1=${"x".repeat(5000)}`
  ])

describe("a body that passes in pieces", () => {
  it("a body in pieces is verified as a whole body: 2,000 bodies, headers, secrets and times", async () => {
    const source = random(7)
    for (let round = 0; round < 2000; round++) {
      const secret = `whsec_${source.text(20, "abcdef")}`
      const body = source.bytes(source.below(200))
      const timestamp = 1_700_000_000
      const header = altered(source, await sign(body, source.below(8) === 0 ? "whsec_other" : secret, timestamp))
      const options = source.pick([{}, { tolerance: 10 }, { tolerance: Number.NaN }])
      const window = { now: timestamp + source.pick([0, 5, -5, 300, -300, 301, -301, 9000]), ...options }
      assert.deepStrictEqual(
        passed(source, body, header, secret, window),
        await verify(body, header, secret, window),
        `round ${round}`
      )
    }
  })
})
