/**
 * Finds the mistakes that explain a wrong signature: signs the body in every known wrong way until one signature
 * matches. Stores nothing.
 */
import { Effect } from "effect"
import { Mac } from "effect/crypto"
import { Base64, Hex } from "effect/encoding"
import * as RewrittenBody from "./RewrittenBody.ts"

/** The headers that carry the signature: `X-Service-Signature` or Standard Webhooks. */
export type Scheme = "service" | "standard"

/** A mistake: a stable word and a plain sentence. */
export interface Mistake {
  readonly reason: string
  readonly message: string
}

/** A signature and what it should cover. */
export interface Signed {
  readonly scheme: Scheme
  /** As written in the header. */
  readonly timestamp: string
  /** The value of `webhook-id`, if known. */
  readonly id: string | undefined
  readonly body: string
  /** As written, without `v1=` or `v1,`. */
  readonly signatures: ReadonlyArray<string>
}

/** The explanation of a signature: the secret that made it, and the mistakes. */
export interface Explanation {
  readonly secret: string
  readonly mistakes: ReadonlyArray<Mistake>
}

/** The maximum number of mistakes that are combined, since each multiplies the work. */
const maxMistakes = 2

/** One way to do a part of the signing. The right way has no mistake. */
interface Way<A> {
  readonly value: A
  readonly mistake: Mistake | undefined
}

const right = <A>(value: A): Way<A> => ({ value, mistake: undefined })

const wrong = <A>(value: A, reason: string, message: string): Way<A> => ({ value, mistake: { reason, message } })

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

const prefix = "whsec_"

const decoded = (secret: string): Uint8Array | undefined => {
  const bytes = Base64.decode(secret.slice(prefix.length))
  return secret.startsWith(prefix) && bytes._tag === "Success" && bytes.success.length > 0 ? bytes.success : undefined
}

const keys = (scheme: Scheme, secret: string): ReadonlyArray<Way<Uint8Array>> => {
  const whole = utf8(secret)
  const part = decoded(secret)
  const others = [
    wrong(
      utf8(secret.slice(prefix.length)),
      "secret_without_prefix",
      "the secret was used as plain text without its prefix whsec_; " + (scheme === "service"
        ? "the key is the whole secret"
        : "the key is the part after the prefix, base64-decoded")
    ),
    wrong(utf8(`${secret}\n`), "secret_with_line_end", "the secret was used with a line end after it")
  ]
  if (scheme === "service") {
    const message = "the secret was base64-decoded, as in Standard Webhooks; for X-Service-Signature the key is the " +
      "whole secret, whsec_ included, as plain text"
    return [right(whole), ...part === undefined ? [] : [wrong(part, "secret_decoded", message)], ...others]
  }
  const message =
    "the secret was used as plain text; for webhook-signature the key is the part after whsec_, base64-decoded"
  return [...part === undefined ? [] : [right(part)], wrong(whole, "secret_not_decoded", message), ...others]
}

const heads = ({ id, scheme, timestamp }: Signed): ReadonlyArray<Way<string>> => {
  const alone = wrong("", "timestamp_not_signed", "the signature covers the body alone, without the timestamp")
  const withId = `${id}.${timestamp}.`
  if (scheme === "standard") {
    return [
      right(withId),
      wrong(`${timestamp}.`, "id_not_signed", "the signature covers timestamp and body, but not webhook-id"),
      alone
    ]
  }
  return [
    right(`${timestamp}.`),
    alone,
    wrong(timestamp, "dot_not_signed", "the signature covers timestamp and body, but not the dot between them"),
    ...id === undefined
      ? []
      : [wrong(withId, "id_signed", "the signature covers webhook-id, which only Standard Webhooks signs")]
  ]
}

const bodies = (body: string): ReadonlyArray<Way<string>> => [
  right(body),
  ...RewrittenBody.candidates(body).map(({ message, reason, text }) => wrong(text, reason, message))
]

/** How a signature was encoded, given the right bytes; `undefined` if it does not match them. */
const written = (scheme: Scheme, signature: string, made: Uint8Array): Way<null> | undefined => {
  // no encoding of these bytes is that long, and stripping the padding of a huge text for every recipe would take long
  if (signature.length > 2 * made.length) return undefined
  const base64 = Base64.encode(made)
  const plainBase64 = signature.replaceAll("-", "+").replaceAll("_", "/").replace(/(?<!=)=+$/, "")
  const isHex = signature.toLowerCase() === Hex.encode(made)
  const isBase64 = plainBase64 === base64.replace(/(?<!=)=+$/, "")
  if (!isHex && !isBase64) return undefined
  if (signature === (scheme === "service" ? Hex.encode(made) : base64)) return right(null)
  if (scheme === "standard") {
    return wrong(
      null,
      "signature_encoding",
      `the signature is written in ${isHex ? "hexadecimal" : "another base64"}; it must be standard base64 with padding`
    )
  }
  const how = isHex ? "upper-case hexadecimal" : "base64"
  return wrong(null, "signature_encoding", `v1 is written in ${how}; it must be lower-case hexadecimal`)
}

interface Recipe {
  readonly secret: string
  readonly key: Uint8Array
  readonly message: string
  readonly mistakes: ReadonlyArray<Mistake>
}

/** Every way to sign with at most {@link maxMistakes} mistakes, fewest mistakes first. */
const recipes = (signed: Signed, secrets: ReadonlyArray<string>): ReadonlyArray<Recipe> => {
  const all: Array<Recipe> = []
  const texts = bodies(signed.body)
  for (const secret of secrets) {
    for (const key of keys(signed.scheme, secret)) {
      for (const head of heads(signed)) {
        for (const body of texts) {
          const mistakes = [key.mistake, head.mistake, body.mistake].filter((mistake) => mistake !== undefined)
          if (mistakes.length > maxMistakes) continue
          all.push({ secret, key: key.value, message: head.value + body.value, mistakes })
        }
      }
    }
  }
  return all.sort((a, b) => a.mistakes.length - b.mistakes.length)
}

/**
 * The explanation with the fewest mistakes; `undefined` if no known mistake explains any of the signatures. Bounded:
 * about 100 HMACs for each secret.
 */
export const explain = (
  signed: Signed,
  secrets: ReadonlyArray<string>
): Effect.Effect<Explanation | undefined, never, Mac.Mac> =>
  Effect.gen(function*() {
    const mac = yield* Mac.Mac
    for (const { key, message, mistakes, secret } of recipes(signed, secrets)) {
      const made = yield* Effect.orDie(
        Effect.flatMap(Mac.key(Mac.hmacSha256, key), (key) => mac.sign(key, utf8(message)))
      )
      for (const signature of signed.signatures) {
        const way = written(signed.scheme, signature, made)
        if (way === undefined) continue
        return { secret, mistakes: way.mistake === undefined ? mistakes : [...mistakes, way.mistake] }
      }
    }
    return undefined
  })
