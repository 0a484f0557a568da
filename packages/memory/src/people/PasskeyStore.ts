/**
 * `PasskeyStore` in memory: each method is one synchronous step over `State`.
 */
import { type Id, type Passkey, PasskeyStore, StorageTime } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { type FactorRecord, forgetFactor, type Memory, State } from "../State.ts"

const passkeysOf = (memory: Memory, userId: Id.UserId): ReadonlyArray<Passkey.Passkey> =>
  memory.factors.get(userId)?.passkeys ?? []

const isKnown = (memory: Memory, { credentialId }: Pick<Passkey.Passkey, "credentialId">): boolean =>
  [...memory.factors.values()].some(({ passkeys }) => passkeys.some((other) => other.credentialId === credentialId))

const begun = ({ createdAt, userId }: Pick<Passkey.Passkey, "userId" | "createdAt">): FactorRecord => ({
  factor: { userId, createdAt, confirmedAt: null, app: null },
  lastStep: null,
  recoveryCodes: new Set(),
  passkeys: []
})

const challengeKey = ({ purpose, userId }: Pick<PasskeyStore.PasskeyChallenge, "userId" | "purpose">): string =>
  `${purpose} ${userId}`

export const layer = Layer.effect(
  PasskeyStore.PasskeyStore,
  Effect.map(State, (memory) =>
    PasskeyStore.PasskeyStore.of({
      list: (userId) => Effect.sync(() => passkeysOf(memory, userId)),
      add: ({ most, passkey, recoveryCodes }) =>
        Effect.sync(() => {
          const kept = memory.factors.get(passkey.userId) ?? begun(passkey)
          if (isKnown(memory, passkey) || kept.passkeys.length >= most) return Option.none()
          const isFirst = kept.factor.confirmedAt === null
          memory.factors.set(passkey.userId, {
            ...kept,
            factor: isFirst ? { ...kept.factor, confirmedAt: passkey.createdAt } : kept.factor,
            recoveryCodes: isFirst ? new Set(recoveryCodes) : kept.recoveryCodes,
            passkeys: [...kept.passkeys, { ...passkey, lastUsedAt: null }]
          })
          return Option.some({ isFirst })
        }),
      use: ({ counter, id, now, userId }) =>
        Effect.sync(() => {
          const kept = memory.factors.get(userId)
          const used = kept?.passkeys.find((passkey) => passkey.id === id)
          if (kept === undefined || used === undefined) return false
          if (used.counter >= counter && (used.counter > 0 || counter > 0)) return false
          const lastUsedAt = memory.now(now)
          memory.factors.set(userId, {
            ...kept,
            passkeys: kept.passkeys.map((passkey) => passkey === used ? { ...passkey, counter, lastUsedAt } : passkey)
          })
          return true
        }),
      remove: (userId, id) =>
        Effect.sync(() => {
          const kept = memory.factors.get(userId)
          const gone = kept?.passkeys.find((passkey) => passkey.id === id)
          if (kept === undefined || gone === undefined) return Option.none()
          const passkeys = kept.passkeys.filter((passkey) => passkey !== gone)
          const isLast = passkeys.length === 0 && kept.lastStep === null
          if (isLast) forgetFactor(memory, userId)
          else memory.factors.set(userId, { ...kept, passkeys })
          return Option.some({ name: gone.name, isLast })
        }),
      challenge: (challenge) =>
        Effect.sync(() => {
          const now = memory.now(challenge.createdAt)
          const stored = StorageTime.createdAt(challenge, now, "expiresAt")
          memory.passkeyChallenges.set(challengeKey(challenge), stored, now)
        }),
      redeem: ({ now, ...challenge }) =>
        Effect.sync(() => {
          const kept = memory.passkeyChallenges.get(challengeKey(challenge))
          if (kept?.tokenHash !== challenge.tokenHash || kept.expiresAt <= memory.now(now)) return false
          memory.passkeyChallenges.delete(challengeKey(challenge))
          return true
        })
    }))
)
