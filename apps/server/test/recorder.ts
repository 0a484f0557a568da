/**
 * Records what tests do to a service as a history, which `@wac/checker` judges by the contract alone.
 */
import { assert } from "@effect/vitest"
import { check, type History } from "@wac/checker"
import { Clock, Effect, Exit } from "effect"
import { type Answer, isReplayed } from "./harness.ts"

/** What an entry has besides its time. */
type Fields<E> = E extends History.Entry ? Omit<E, "begun" | "ended" | "process"> : never

/** A history that grows. */
export const make = (process = "test") => {
  const entries: Array<History.Entry> = []

  /** Records what an effect does, whatever becomes of it. */
  const record = <A, E, R>(
    effect: Effect.Effect<A, E, R>,
    fieldsOf: (exit: Exit.Exit<A, E>) => Fields<History.Entry>
  ): Effect.Effect<A, E, R> =>
    Effect.gen(function*() {
      const begun = yield* Clock.currentTimeMillis
      return yield* Effect.onExit(effect, (exit) =>
        Effect.map(Clock.currentTimeMillis, (ended) => {
          entries.push({ ...fieldsOf(exit), begun, ended: Exit.isSuccess(exit) ? ended : null, process })
        }))
    })

  return {
    /** Adds what was recorded elsewhere. */
    add: (...more: ReadonlyArray<History.Entry>): void => {
      entries.push(...more)
    },
    record,
    /** Records a send of a workspace. */
    send: (workspace: string, key: string, body: unknown, request: Effect.Effect<Answer>): Effect.Effect<Answer> =>
      record(request, (exit) => ({
        kind: "send",
        workspace,
        key,
        body,
        ...(Exit.isSuccess(exit)
          ? { status: exit.value.status, answer: exit.value.text, replayed: isReplayed(exit.value) }
          : { status: null, answer: null, replayed: false })
      })),
    /** Every message that a recorded answer names. */
    messages: (): ReadonlySet<string> =>
      new Set(entries.flatMap((entry) => {
        if (entry.kind !== "send" || entry.status !== 200) return []
        return [String(JSON.parse(entry.answer!).message_id)]
      })),
    /** Asserts that no promise was broken. From `settledAt` on, nothing was in progress. */
    assertKept: (settledAt?: number): void => {
      const header: History.Header = { format: "wac-history", version: 1, settled_at: settledAt ?? null }
      assert.deepStrictEqual(check({ header, entries }).broken, [])
      assert.isNotEmpty(entries)
    }
  }
}
