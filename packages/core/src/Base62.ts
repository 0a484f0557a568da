/**
 * Base62 (`0-9A-Za-z`): the alphabet of keys and secrets. A double-click selects such a text whole. Encodes numbers
 * and draws random text.
 */
import { Effect } from "effect"
import type { SecureRandom } from "effect/crypto"

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** Writes a non-negative integer, left-padded with `0` to `width`. */
export const encode = (value: number, width: number): string => {
  let text = ""
  for (let rest = value; rest > 0; rest = Math.floor(rest / 62)) text = alphabet.charAt(rest % 62) + text
  return text.padStart(width, "0")
}

/**
 * The last `length` digits of a number in hexadecimal digits. If the number is random and has at least 8 bits a digit,
 * each digit is practically uniform (5.95 bits each).
 */
export const ofHex = (hex: string, length: number): string => {
  let text = ""
  for (let rest = BigInt(`0x${hex}`); text.length < length; rest /= 62n) {
    text = alphabet.charAt(Number(rest % 62n)) + text
  }
  return text
}

/** `length` characters, each uniformly random (5.95 bits each). */
export const random = (source: SecureRandom.SecureRandom["Service"], length: number): Effect.Effect<string> =>
  Effect.gen(function*() {
    let text = ""
    while (text.length < length) {
      for (const byte of yield* source.randomBytes(length * 2)) {
        // 248 is the largest multiple of 62 that fits a byte; accepting more would favour the first letters
        if (byte < 248 && text.length < length) text += alphabet.charAt(byte % 62)
      }
    }
    return text
  })
