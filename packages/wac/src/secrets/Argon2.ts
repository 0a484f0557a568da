/**
 * Argon2id on every Node that the package takes: `node:crypto` has it from Node 24.7 on, and only if its OpenSSL does.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer } from "effect"
import { Kdf } from "effect/crypto"

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

export const layer = layerOver(NodeCrypto.layerKdf)
