/**
 * Argon2id on every Node version that the package supports: `node:crypto` has it from Node 24.7 on, and only if its
 * OpenSSL does.
 */
import { Effect, Layer } from "effect"
import { CryptoError, Kdf } from "effect/crypto"
// a namespace import, as in `Cryptography.ts`
import * as Node from "node:crypto"

/** Loaded only by a process whose Node lacks the algorithm. */
const portable = Effect.promise(() => import("@noble/hashes/argon2.js"))

/** Adds Argon2id in JavaScript where the given `Kdf` does not support it. It gives other work its turn every 10 ms. */
export const layerOver = (native: Layer.Layer<Kdf.Kdf>): Layer.Layer<Kdf.Kdf> =>
  Layer.effect(
    Kdf.Kdf,
    Effect.gen(function*() {
      const given = yield* Kdf.Kdf
      return Kdf.Kdf.of({
        derive: (algorithm, secret, options) => {
          const derived = given.derive(algorithm, secret, options)
          if (algorithm._tag !== "Argon2id") return derived
          return Effect.catchReason(
            derived,
            "CryptoError",
            "Unsupported",
            () =>
              Effect.flatMap(portable, ({ argon2idAsync }) =>
                Effect.promise(() =>
                  argon2idAsync(secret, options.salt, {
                    m: algorithm.memory,
                    t: algorithm.passes,
                    p: algorithm.parallelism,
                    dkLen: options.length
                  })
                ))
          )
        }
      })
    })
  ).pipe(Layer.provide(native))

const failure = (reason: CryptoError.CryptoErrorReason) =>
  new CryptoError.CryptoError({ module: "Kdf", method: "derive", reason })

const failureOf = (cause: unknown): CryptoError.CryptoError => {
  const { code, message: description } = cause as NodeJS.ErrnoException
  return failure(
    code === "ERR_CRYPTO_ARGON2_NOT_SUPPORTED"
      ? new CryptoError.Unsupported({ description, cause })
      : new CryptoError.InvalidArgument({ description })
  )
}

/** Argon2id by `node:crypto`; `Unsupported` where that lacks it. */
const native: Layer.Layer<Kdf.Kdf> = Layer.effect(
  Kdf.Kdf,
  Effect.map(Kdf.Kdf, ({ derive }) =>
    Kdf.Kdf.of({
      derive: (algorithm, secret, options) =>
        algorithm._tag !== "Argon2id" ? derive(algorithm, secret, options) : Effect.callback((resume) => {
          if (typeof Node.argon2 !== "function") {
            return resume(Effect.fail(failure(new CryptoError.Unsupported({ description: "no argon2id" }))))
          }
          const parameters = {
            message: secret,
            nonce: options.salt,
            memory: algorithm.memory,
            passes: algorithm.passes,
            parallelism: algorithm.parallelism,
            tagLength: options.length
          }
          try {
            Node.argon2("argon2id", parameters, (error, hash) =>
              resume(error === null ? Effect.succeed(new Uint8Array(hash)) : Effect.fail(failureOf(error))))
          } catch (error) {
            resume(Effect.fail(failureOf(error)))
          }
        })
    }))
).pipe(Layer.provide(Kdf.layerWebCrypto))

export const layer = layerOver(native)
