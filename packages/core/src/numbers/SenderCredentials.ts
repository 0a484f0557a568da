/**
 * Credentials of a number's own, for a number that the provider does not take the configured ones for. They are kept
 * sealed (contract §5), and opened for the call that needs them.
 */
import { Cache, Clock, Context, Duration, Effect, Exit, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { ServerError } from "../Errors.ts"
import type { PhoneNumberId } from "../Id.ts"
import { Vault } from "../secrets/Vault.ts"
import { type StoreError, toServerError } from "../StoreError.ts"
import type { PhoneNumber } from "./PhoneNumber.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"

/** What the provider is shown for a number; what is left out is as configured. */
export interface Credentials {
  readonly accessToken: Redacted.Redacted
  readonly baseUrl?: string
  readonly apiVersion?: string
}

/** Sealed credentials remembered at once; a look-up costs one indexed read. */
const cacheCapacity = 10_000

/** Of the version that was asked for nothing changes; this only lets go of those that are used no more. */
const cacheFor = Duration.hours(1)

const notReadable = () =>
  new ServerError({ reason: "internal", message: "the credentials of this phone number cannot be used at the moment" })

export class SenderCredentials extends Context.Service<SenderCredentials, {
  /**
   * The credentials of a number's own; undefined when it goes by those of the configuration. For a sender as *accept*
   * gave it a change counts at once, in every process. Failing means that the provider was not asked.
   */
  readonly of: (
    sender: Pick<PhoneNumber, "id" | "credentialsVersion">
  ) => Effect.Effect<Credentials | undefined, ServerError>
  /** Gives a number credentials of its own, or with `undefined` takes them away. False when there is no such number. */
  readonly set: (id: PhoneNumberId, credentials: Credentials | undefined) => Effect.Effect<boolean, StoreError>
}>()("@wac/core/numbers/SenderCredentials") {
  static readonly layer = Layer.effect(
    SenderCredentials,
    Effect.gen(function*() {
      const numbers = yield* PhoneNumberStore
      const vault = yield* Vault
      const random = yield* SecureRandom.SecureRandom

      // by version too: what is stored by now may be of a later one, which is then asked for under its own name
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

      const set = Effect.fn("SenderCredentials.set")(function*(id: PhoneNumberId, given: Credentials | undefined) {
        return yield* numbers.setCredentials({
          now: yield* Clock.currentTimeMillis,
          id,
          credentials: given === undefined ? null : {
            version: yield* random.ulid,
            accessToken: yield* vault.seal(Redacted.value(given.accessToken), id),
            baseUrl: given.baseUrl ?? null,
            apiVersion: given.apiVersion ?? null
          }
        })
      })

      return SenderCredentials.of({ of, set })
    })
  )
}
