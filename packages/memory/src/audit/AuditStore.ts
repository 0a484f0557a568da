/**
 * `AuditStore` in memory: each method is one synchronous step over `State`.
 */
import { AuditEntry, AuditStore, Id } from "@wac/core"
import { Effect, Layer } from "effect"
import { State } from "../State.ts"

export const layer = Layer.effect(
  AuditStore.AuditStore,
  Effect.map(State, (memory) =>
    AuditStore.AuditStore.of({
      record: (entries) =>
        Effect.sync(() => {
          for (const entry of entries) if (memory.audit.get(entry.id) === undefined) memory.audit.set(entry)
        }),
      list: (workspaceId, { target, userId }, page) =>
        Effect.sync(() =>
          memory.audit.page(workspaceId, page, (entry) =>
            (userId === undefined || (entry.by !== null && AuditEntry.namesOf(entry.by).id === userId)) &&
            (target === undefined || entry.target === target))
        ),
      forget: (before) =>
        Effect.sync(() => {
          const lowest = Id.lowestAt("aud", before)
          return {
            removed: memory.audit.forget(({ id }) =>
              id < lowest
            ),
            isMore: false
          }
        })
    }))
)
