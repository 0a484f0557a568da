/**
 * `KeptAnswerStore` in memory: each method is one synchronous step over `State`.
 */
import { Idempotency, KeptAnswer, KeptAnswerStore } from "@wac/core"
import { Duration, Effect, Layer } from "effect"
import { State } from "../State.ts"

const retention = Duration.toMillis(Idempotency.retention)

const nameOf = ({ caller, key, route, workspaceId }: KeptAnswer.Place): string =>
  JSON.stringify([workspaceId, caller, route, key])

const workspaceOf = (name: string): unknown => (JSON.parse(name) as ReadonlyArray<unknown>)[0]

export const layer = Layer.effect(
  KeptAnswerStore.KeptAnswerStore,
  Effect.map(State, (memory) =>
    KeptAnswerStore.KeptAnswerStore.of({
      claim: (place, asked, at) =>
        Effect.sync(() => {
          const now = memory.now(at)
          const name = nameOf(place)
          const before = memory.keptAnswers.get(name)
          if (before !== undefined && !KeptAnswer.isFree(before, asked, now)) {
            return KeptAnswer.judge(before, asked, now)
          }
          const leaseUntil = now + KeptAnswer.leaseOf(asked)
          const { fingerprint, token } = asked
          memory.keptAnswers.set(
            name,
            { fingerprint, token, leaseUntil, answer: null, expiresAt: now + retention },
            now
          )
          return { _tag: "Claimed" }
        }),
      settle: (place, token, answer, at) =>
        Effect.sync(() => {
          const name = nameOf(place)
          const before = memory.keptAnswers.get(name)
          if (before?.token !== token) return
          if (answer === null) return memory.keptAnswers.delete(name)
          const now = memory.now(at)
          memory.keptAnswers.set(name, { ...before, answer, expiresAt: now + retention }, now)
        }),
      unname: ({ names, workspaceId }) =>
        Effect.sync(() => {
          memory.keptAnswers.change((binding, name) =>
            workspaceOf(name) === workspaceId && binding.answer !== null
              ? { ...binding, answer: KeptAnswer.unnamed(binding.answer, names) }
              : binding
          )
          return { next: null }
        }),
      forget: (before) =>
        Effect.sync(() => ({
          removed: memory.keptAnswers.forget((binding) => KeptAnswer.isExpired(binding, before)),
          isMore: false
        }))
    }))
)
