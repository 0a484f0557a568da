/**
 * `FactorStore` in memory: each method is one synchronous step over `State`.
 */
import { FactorStore, type Id, StorageTime, type Time } from "@wac/core"
import { Effect, Equal, Layer, Option } from "effect"
import { forgetFactor, type Memory, State } from "../State.ts"

const remove = (memory: Memory, userId: Id.UserId): boolean => {
  const isOn = (memory.factors.get(userId)?.factor.confirmedAt ?? null) !== null
  forgetFactor(memory, userId)
  return isOn
}

const live = (memory: Memory, tokenHash: string, now: Time.Instant): FactorStore.Challenge | undefined => {
  const challenge = memory.challenges.get(tokenHash)
  return challenge !== undefined && now < challenge.expiresAt ? challenge : undefined
}

const attempt = (memory: Memory, tokenHash: string, now: Time.Instant): FactorStore.Challenge | undefined => {
  const challenge = live(memory, tokenHash, now)
  if (challenge === undefined || challenge.triesLeft === 0) return undefined
  const left = { ...challenge, triesLeft: challenge.triesLeft - 1 }
  memory.challenges.set(tokenHash, left, now)
  return left
}

export const layer = Layer.effect(
  FactorStore.FactorStore,
  Effect.map(State, (memory) =>
    FactorStore.FactorStore.of({
      find: (userId) =>
        Effect.sync(() =>
          Option.map(
            Option.fromUndefinedOr(memory.factors.get(userId)),
            ({ factor, recoveryCodes }) => ({ ...factor, recoveryCodesLeft: recoveryCodes.size })
          )
        ),
      start: ({ createdAt, secret, userId }) =>
        Effect.sync(() => {
          const kept = memory.factors.get(userId)
          if (kept?.factor.app?.isOn === true) return false
          memory.factors.set(userId, {
            factor: {
              userId,
              createdAt,
              confirmedAt: kept?.factor.confirmedAt ?? null,
              app: { secret, isOn: false }
            },
            lastStep: null,
            recoveryCodes: kept?.recoveryCodes ?? new Set(),
            passkeys: kept?.passkeys ?? []
          })
          return true
        }),
      confirm: ({ now: asked, recoveryCodes, secret, step, userId }) =>
        Effect.sync(() => {
          const kept = memory.factors.get(userId)
          const app = kept?.factor.app ?? null
          if (kept === undefined || app === null || app.isOn || !Equal.equals(app.secret, secret)) return Option.none()
          const isFirst = kept.factor.confirmedAt === null
          memory.factors.set(userId, {
            ...kept,
            factor: {
              ...kept.factor,
              confirmedAt: kept.factor.confirmedAt ?? memory.now(asked),
              app: { secret, isOn: true }
            },
            lastStep: step,
            recoveryCodes: isFirst ? new Set(recoveryCodes) : kept.recoveryCodes
          })
          return Option.some({ isFirst })
        }),
      useStep: (userId, step) =>
        Effect.sync(() => {
          const kept = memory.factors.get(userId)
          if (kept === undefined || kept.lastStep === null || kept.lastStep >= step) return false
          memory.factors.set(userId, { ...kept, lastStep: step })
          return true
        }),
      useRecoveryCode: (userId, fingerprint) =>
        Effect.sync(() => memory.factors.get(userId)?.recoveryCodes.delete(fingerprint) ?? false),
      replaceRecoveryCodes: (userId, fingerprints) =>
        Effect.sync(() => {
          const kept = memory.factors.get(userId)
          if (kept === undefined || kept.factor.confirmedAt === null) return false
          memory.factors.set(userId, { ...kept, recoveryCodes: new Set(fingerprints) })
          return true
        }),
      remove: (userId) => Effect.sync(() => remove(memory, userId)),
      challenge: (challenge) =>
        Effect.sync(() => {
          if ((memory.factors.get(challenge.userId)?.factor.confirmedAt ?? null) === null) return false
          const now = memory.now(challenge.createdAt)
          memory.challenges.set(challenge.tokenHash, StorageTime.createdAt(challenge, now, "expiresAt"), now)
          return true
        }),
      findChallenge: (tokenHash, now) =>
        Effect.sync(() => Option.fromUndefinedOr(live(memory, tokenHash, memory.now(now)))),
      attempt: (tokenHash, now) =>
        Effect.sync(() => Option.fromUndefinedOr(attempt(memory, tokenHash, memory.now(now)))),
      redeem: (tokenHash) =>
        Effect.sync(() => {
          const isOpen = memory.challenges.get(tokenHash) !== undefined
          memory.challenges.delete(tokenHash)
          return isOpen
        }),
      forget: (before) =>
        Effect.sync(() => ({
          removed: memory.challenges.forget(({ expiresAt }) => expiresAt <= before),
          isMore: false
        }))
    }))
)
