import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import * as Totp from "../../src/people/Totp.ts"

const secret = Totp.secretOf(new TextEncoder().encode("12345678901234567890"))

/** RFC 6238, Appendix B, for SHA-1; the last six of its eight digits. */
const rfc: ReadonlyArray<readonly [seconds: number, code: string]> = [
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"]
]

describe("codes of an authenticator app", () => {
  it("codes are those of RFC 6238", () => {
    assert.strictEqual(Redacted.value(secret), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
    for (const [seconds, code] of rfc) {
      assert.strictEqual(Totp.codeAt(secret, seconds * 1000), code)
      assert.strictEqual(Totp.stepOf(secret, code, seconds * 1000), Math.floor(seconds / 30))
    }
  })

  it("a code is right in its own step and one step before and after, and belongs to its own step", () => {
    const step = 40_000_000
    const start = step * 30_000
    const code = Totp.codeAt(secret, start)
    for (const at of [start - 30_000, start - 1, start, start + 29_999, start + 59_999]) {
      assert.strictEqual(Totp.stepOf(secret, code, at), step)
    }
    for (const at of [start - 30_001, start + 60_000]) assert.isUndefined(Totp.stepOf(secret, code, at))
  })

  it("spaces in a code do not matter, and no other text is a code", () => {
    assert.strictEqual(Totp.stepOf(secret, " 287 082\n", 59_000), 1)
    for (const text of ["", "28708", "2870820", "287o82", "+28708", "２８７０８２"]) {
      assert.isFalse(Totp.isCode(text))
      assert.isUndefined(Totp.stepOf(secret, text, 59_000))
    }
  })

  it("the address for the app names the service, the account and the rules that every app has", () => {
    const uri = new URL(Totp.uriOf(secret, "ada@example.com"))
    assert.strictEqual(`${uri.protocol}//${uri.host}`, "otpauth://totp")
    assert.strictEqual(decodeURIComponent(uri.pathname), "/wac:ada@example.com")
    assert.deepStrictEqual(Object.fromEntries(uri.searchParams), {
      issuer: "wac",
      secret: Redacted.value(secret),
      algorithm: "SHA1",
      digits: "6",
      period: "30"
    })
  })
})
