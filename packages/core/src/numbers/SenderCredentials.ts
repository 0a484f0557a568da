/**
 * The service for credentials of single numbers, which the configured credentials do not cover. They are stored sealed
 * (contract §5), and opened for each call that needs them.
 */
import { Cache, Clock, Context, Duration, Effect, Exit, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { ServerError } from "../Errors.ts"
import type { PhoneNumberId } from "../Id.ts"
import { Vault } from "../secrets/Vault.ts"
import { type StoreError, toServerError } from "../StoreError.ts"
import type { PhoneNumber } from "./PhoneNumber.ts"
import type { SealedCredentials } from "./PhoneNumberStep.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"

/** The credentials of a number at the provider. Omitted fields use the configuration. */
export interface Credentials {
  readonly accessToken: Redacted.Redacted
  readonly baseUrl?: string
  readonly apiVersion?: string
}

/** The capacity of the cache of sealed credentials. A miss costs one indexed read. */
const cacheCapacity = 10_000

/** A version's credentials never change, so this only evicts unused entries. */
const cacheFor = Duration.hours(1)

const notReadable = () =>
  new ServerError({ reason: "internal", message: "the credentials of this phone number cannot be used at the moment" })

export class SenderCredentials extends Context.Service<SenderCredentials, {
  /**
   * The number's own credentials; `undefined` if it uses the configured ones. With a sender from *accept*, a change
   * takes effect immediately in every process. On failure the provider was not called.
   */
  readonly of: (
    sender: Pick<PhoneNumber, "id" | "credentialsVersion">
  ) => Effect.Effect<Credentials | undefined, ServerError>
  /** Seals the credentials of a new number, with which it is stored in one step. No other number can use them. */
  readonly seal: (id: PhoneNumberId, credentials: Credentials) => Effect.Effect<SealedCredentials>
  /** Sets a number's own credentials, or removes them with `undefined`. False if there is no such number. */
  readonly set: (id: PhoneNumberId, credentials: Credentials | undefined) => Effect.Effect<boolean, StoreError>
}>()("@wac/core/numbers/SenderCredentials") {
  static readonly layer = Layer.effect(
    SenderCredentials,
    Effect.gen(function*() {
      const numbers = yield* PhoneNumberStore
      const vault = yield* Vault
      const random = yield* SecureRandom.SecureRandom

      // keyed by version too: the stored credentials may be of a later version, which gets its own entry
      const known = yield* Cache.makeWith(
        (name: string) => numbers.credentials(name.slice(0, name.indexOf(" ")) as PhoneNumberId),
        { capacity: cacheCapacity, timeToLive: (exit) => Exit.isSuccess(exit) ? cacheFor : Duration.zero }
      )

      const of = Effect.fn("SenderCredentials.of")(function*(
        { credentialsVersion, id }: Pick<PhoneNumber, "id" | "credentialsVersion">
      ) {
        if (credentialsVersion === null) return undefined
        const stored = yield* Effect.mapError(Cache.get(known, `${id} ${credentialsVersion}`), toServerError)
        if (Option.isNone(stored)) return undefined
        const { accessToken, apiVersion, baseUrl } = stored.value
        return {
          accessToken: Redacted.make(yield* Effect.mapError(vault.open(accessToken, id), notReadable)),
          ...(baseUrl === null ? {} : { baseUrl }),
          ...(apiVersion === null ? {} : { apiVersion })
        } satisfies Credentials
      })

      const seal = Effect.fn("SenderCredentials.seal")(function*(id: PhoneNumberId, given: Credentials) {
        return {
          version: yield* random.ulid,
          accessToken: yield* vault.seal(Redacted.value(given.accessToken), id),
          baseUrl: given.baseUrl ?? null,
          apiVersion: given.apiVersion ?? null
        }
      })

      const set = Effect.fn("SenderCredentials.set")(function*(id: PhoneNumberId, given: Credentials | undefined) {
        return yield* numbers.setCredentials({
          now: yield* Clock.currentTimeMillis,
          id,
          credentials: given === undefined ? null : yield* seal(id, given)
        })
      })

      return SenderCredentials.of({ of, seal, set })
    })
  )
}
