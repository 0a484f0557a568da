/**
 * The process's cryptography, on `node:crypto`. Every request needs a digest, an HMAC and some randomness, each of a
 * few bytes, for which the generic implementations would spend most of their time on setup.
 */
import { Effect, Layer } from "effect"
import { Aead, Digest, Mac, SecureRandom } from "effect/crypto"
// a namespace import: if a named import is missing, loading fails before `NodeVersion.ts` can explain why
import * as Node from "node:crypto"
import * as Argon2 from "./Argon2.ts"

const hashNames: { readonly [name in Digest.Algorithm["name"]]: string } = {
  "MD5": "md5",
  "SHA-1": "sha1",
  "SHA-256": "sha256",
  "SHA-384": "sha384",
  "SHA-512": "sha512"
}

/** Same output as `Digest.layerWebCrypto`. */
const digest = Layer.succeed(Digest.Digest, {
  digest: ({ name }, data) => Effect.sync(() => new Uint8Array(Node.hash(hashNames[name], data, "buffer"))),
  digestHex: ({ name }, data) => Effect.sync(() => Node.hash(hashNames[name], data, "hex"))
})

/** Same output as `Mac.layerWebCrypto`; a key object is made once for all tags. */
const mac = Layer.unwrap(Effect.sync(() => {
  const keys = new WeakMap<Uint8Array, Node.KeyObject>()
  const keyOf = (bytes: Uint8Array): Node.KeyObject => {
    const key = keys.get(bytes) ?? Node.createSecretKey(bytes)
    keys.set(bytes, key)
    return key
  }
  return Mac.layerWebCryptoWith({
    hmac: (name, key, data) => new Uint8Array(Node.createHmac(hashNames[name], keyOf(key)).update(data).digest())
  })
}))

/** How many random bytes are fetched at a time; Node keeps about as many for `randomUUID`. */
const poolSize = 4096

/** Random bytes from a pool. Bytes that are handed out are wiped from it. */
const random = Layer.sync(SecureRandom.SecureRandom, () => {
  const pool = new Uint8Array(poolSize)
  let used = poolSize
  return SecureRandom.make((size) => {
    if (size > poolSize) return Node.randomFillSync(new Uint8Array(size))
    if (used + size > poolSize) {
      Node.randomFillSync(pool)
      used = 0
    }
    const bytes = pool.slice(used, used + size)
    pool.fill(0, used, used + size)
    used += size
    return bytes
  })
})

export const layer = Layer.mergeAll(digest, mac, Aead.layerWebCrypto, Argon2.layer).pipe(
  Layer.provideMerge(random)
)
