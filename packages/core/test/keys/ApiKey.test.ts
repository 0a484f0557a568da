import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { crc32 } from "node:zlib"
import { generateToken, isWellFormed, prefixOf, refusal } from "../../src/keys/ApiKey.ts"
import { apiKey, start } from "../samples.ts"

const ours = "wac_live_aZ09bY18cX27dW36eV45fU54gT63hS4ZRVgK"
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const visible = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i))

/** The checksum computed in another way: long division of the CRC by 62. */
const checksum = (entropy: string): string => {
  let rest = BigInt(crc32(entropy))
  const digits: Array<string> = []
  for (let i = 0; i < 6; i++) {
    digits.unshift(alphabet[Number(rest % 62n)]!)
    rest /= 62n
  }
  return digits.join("")
}

const generate = Effect.flatMap(SecureRandom.SecureRandom, generateToken)

describe("the format of a token", () => {
  it.each([
    { what: "ours", token: ours },
    { what: "GitHub's published example", token: "wac_live_zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq17" },
    { what: "an npm token", token: "wac_live_qkJaB6MffYVzZXWqmcoF49yrUxP3wf0LsakP" }
  ])("a token with the entropy and checksum of $what is well formed", ({ token }) => {
    assert.isTrue(isWellFormed(token))
  })

  it("a token with one character changed is refused", () => {
    for (let at = 0; at < ours.length; at++) {
      for (const other of visible) {
        if (other === ours[at]) continue
        const changed = ours.slice(0, at) + other + ours.slice(at + 1)
        assert.isFalse(isWellFormed(changed), changed)
      }
    }
  })

  it("a token with a character omitted, doubled or swapped is refused", () => {
    for (let at = 0; at < ours.length; at++) {
      const [before, after] = [ours.slice(0, at), ours.slice(at + 1)]
      assert.isFalse(isWellFormed(before + after), `without character ${at}`)
      assert.isFalse(isWellFormed(before + ours[at] + ours[at] + after), `character ${at} twice`)
      const swapped = before + ours.slice(at, at + 2).split("").reverse().join("") + ours.slice(at + 2)
      if (swapped !== ours) assert.isFalse(isWellFormed(swapped), swapped)
    }
  })

  it.each([
    "",
    "wac_live_",
    ours.slice("wac_live_".length),
    ours.toUpperCase(),
    ours.replace("live", "test"),
    ` ${ours}`,
    `${ours} `,
    `${ours}\n`,
    `${ours}0`,
    `Bearer ${ours}`,
    `wac_live_${"0".repeat(36)}`,
    `wac_live_${"é".repeat(36)}`
  ])("%j is not well formed", (token) => {
    assert.isFalse(isWellFormed(token))
  })

  it("a small checksum is padded to six characters", () => {
    // the first number whose CRC-32 fits five base62 characters
    const small = Array.from({ length: 10_000 }, (_, i) => String(i).padStart(30, "0"))
      .filter((entropy) => crc32(entropy) < 62 ** 4)
    assert.isAbove(small.length, 0)
    for (const entropy of small) {
      assert.isTrue(checksum(entropy).startsWith("00"))
      assert.isTrue(isWellFormed(`wac_live_${entropy}${checksum(entropy)}`))
    }
  })

  it("only the prefix and four characters are shown", () => {
    assert.strictEqual(prefixOf(ours), "wac_live_aZ09")
  })
})

describe("a new token", () => {
  it.effect("a new token is well formed, with the checksum of its entropy, and unique", () =>
    Effect.gen(function*() {
      const tokens = new Set<string>()
      for (let i = 0; i < 2000; i++) {
        const token = yield* generate
        assert.match(token, /^wac_live_[0-9A-Za-z]{36}$/)
        assert.strictEqual(token.slice(39), checksum(token.slice(9, 39)))
        assert.isTrue(isWellFormed(token))
        tokens.add(token)
      }
      assert.strictEqual(tokens.size, 2000)
    }).pipe(Effect.provide(SecureRandom.layerWebCrypto)))

  it.effect("a new token has every character equally often at every place", () =>
    Effect.gen(function*() {
      const rounds = 6200
      const counts = Array.from({ length: 30 }, () => new Map<string, number>())
      for (let i = 0; i < rounds; i++) {
        const entropy = (yield* generate).slice(9, 39)
        counts.forEach((count, place) => count.set(entropy[place]!, (count.get(entropy[place]!) ?? 0) + 1))
      }
      for (const count of counts) {
        // chi-squared with 61 degrees of freedom: above 150 once in 10^9
        let chiSquared = 0
        for (const character of alphabet) chiSquared += ((count.get(character) ?? 0) - rounds / 62) ** 2 / (rounds / 62)
        assert.isBelow(chiSquared, 150)
      }
    }).pipe(Effect.provide(SecureRandom.layerWebCrypto)))
})

describe("whether a key may be used", () => {
  it.each([
    { revokedAt: null, expiresAt: null, reason: undefined },
    { revokedAt: null, expiresAt: start + 1, reason: undefined },
    { revokedAt: null, expiresAt: start, reason: "expired_key" },
    { revokedAt: null, expiresAt: start - 1, reason: "expired_key" },
    { revokedAt: start, expiresAt: null, reason: "revoked_key" },
    { revokedAt: 0, expiresAt: null, reason: "revoked_key" },
    { revokedAt: start - 1, expiresAt: start + 1, reason: "revoked_key" },
    { revokedAt: start - 1, expiresAt: start - 2, reason: "revoked_key" }
  ])("revoked at $revokedAt, expiring at $expiresAt: $reason", ({ reason, ...key }) => {
    const error = refusal(apiKey(key), start)
    assert.strictEqual(error?.reason, reason)
    if (error !== undefined) assert.strictEqual(error.code, "unauthorized")
  })
})
