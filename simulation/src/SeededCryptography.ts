/**
 * Cryptography in the fiber that asks for it, with randomness from a seed: what other threads do would come back at a
 * moment of its own. Digests, signatures and ciphertexts are those of the service.
 */
import { Effect, Layer } from "effect"
import { Aead, Digest, Kdf, Mac, SecureRandom } from "effect/crypto"
import { createCipheriv, createDecipheriv, createHash, createHmac } from "node:crypto"
import type { Chance } from "./Chance.ts"

const tagLength = 16

/** AES-256-GCM in the caller's thread. */
const aes256Gcm: Aead.Implementation = {
  encrypt: (key, nonce, plaintext, aad) => {
    const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(aad)
    return new Uint8Array(Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]))
  },
  decrypt: (key, nonce, sealed, aad) => {
    const decipher = createDecipheriv("aes-256-gcm", key, nonce).setAAD(aad)
    decipher.setAuthTag(sealed.subarray(sealed.length - tagLength))
    const plaintext = decipher.update(sealed.subarray(0, sealed.length - tagLength))
    try {
      return new Uint8Array(Buffer.concat([plaintext, decipher.final()]))
    } catch {
      return undefined
    }
  }
}

/** The randomness of a stream. */
export const random = (chance: Chance): Layer.Layer<SecureRandom.SecureRandom> =>
  Layer.sync(SecureRandom.SecureRandom, () => SecureRandom.make(chance.bytes))

const hashNames = { "MD5": "md5", "SHA-1": "sha1", "SHA-256": "sha256", "SHA-384": "sha384", "SHA-512": "sha512" }

const hashOf = (name: Digest.Algorithm["name"], data: Uint8Array) => createHash(hashNames[name]).update(data)

const digest = Layer.succeed(Digest.Digest, {
  digest: ({ name }, data) => Effect.sync(() => new Uint8Array(hashOf(name, data).digest())),
  digestHex: ({ name }, data) => Effect.sync(() => hashOf(name, data).digest("hex"))
})

const mac = Mac.layerWebCryptoWith({
  hmac: (name, key, data) => new Uint8Array(createHmac(hashNames[name], key).update(data).digest())
})

/** A password's hash is only a digest: nobody attacks the passwords of a simulated world. */
const kdf = Layer.succeed(Kdf.Kdf, {
  derive: (_, secret, { length, salt }) =>
    Effect.sync(() => {
      const hash = createHash("sha512").update(salt).update(secret).digest()
      return Uint8Array.from({ length }, (_, index) => hash[index % hash.length]!)
    })
})

/** All of it. */
export const layer = (chance: Chance) =>
  Layer.mergeAll(digest, mac, Aead.layerWebCryptoWith({ implementations: { aes256Gcm } }), kdf).pipe(
    Layer.provideMerge(random(chance))
  )
