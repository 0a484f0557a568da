/**
 * The service for the audit: records changes, and lists them.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { ofAction } from "../changes/Change.ts"
import { ChangeRecorder } from "../changes/ChangeRecorder.ts"
import * as Id from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import * as Retention from "../Retention.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Action, AuditEntry, By, Detail } from "./AuditEntry.ts"
import { type AuditFilter, AuditStore } from "./AuditStore.ts"

/** A person or an API key that changes something in a workspace. */
export type Actor = By & { readonly workspaceId: Id.WorkspaceId }

const byOf = (actor: By): By =>
  "userId" in actor
    ? { userId: actor.userId, email: actor.email }
    : { apiKeyId: actor.apiKeyId, name: actor.name }

/** A change to record. */
export interface Change {
  readonly action: Action
  readonly target?: string | undefined
  readonly detail?: Detail | undefined
  readonly address?: string | undefined
  readonly requestId?: Id.RequestId | undefined
}

/** Builds the audit entry for a change that happens now. `by` is `null` if an operator's command made the change. */
export const entry = Effect.fnUntraced(function*(
  random: SecureRandom.SecureRandom["Service"],
  workspaceId: Id.WorkspaceId,
  by: By | null,
  { action, address, detail, requestId, target }: Change
) {
  const made: AuditEntry = {
    id: yield* Id.generate(random, "aud"),
    workspaceId,
    action,
    target: target ?? null,
    by: by && byOf(by),
    at: yield* Clock.currentTimeMillis,
    address: address ?? null,
    requestId: requestId ?? null,
    detail: detail ?? null
  }
  return made
})

export class Audit extends Context.Service<Audit, {
  /**
   * Records a change in each actor's workspace. Never fails: if the storage fails, the change stays and its entries are
   * written to the log.
   */
  readonly record: (actors: ReadonlyArray<Actor>, change: Change) => Effect.Effect<void>
  /** Newest first. */
  readonly list: (
    workspaceId: Id.WorkspaceId,
    filter: AuditFilter,
    page: PageRequest
  ) => Effect.Effect<Page<AuditEntry>, StoreError>
  /** The time before which entries are deleted. */
  readonly since: Effect.Effect<Instant>
}>()("@wac/core/audit/Audit") {
  static readonly layer = Layer.effect(
    Audit,
    Effect.gen(function*() {
      const store = yield* AuditStore
      const random = yield* SecureRandom.SecureRandom
      const tell = yield* ChangeRecorder
      const retention = yield* Retention.CurrentRetention
      return Audit.of({
        record: Effect.fnUntraced(function*(actors, change) {
          for (const { workspaceId } of actors) {
            for (const topic of ofAction(change.action)) tell({ workspaceId, topic })
          }
          const entries = yield* Effect.forEach(actors, (actor) => entry(random, actor.workspaceId, actor, change))
          yield* Effect.catch(store.record(entries), () =>
            Effect.forEach(
              entries,
              ({ action, by, id, requestId, target, workspaceId }) =>
                Effect.logError("a change could not be recorded in the audit", {
                  id,
                  workspaceId,
                  action,
                  target,
                  by,
                  requestId
                }),
              { discard: true }
            ))
        }),
        list: store.list,
        since: Effect.map(Clock.currentTimeMillis, (now) => Retention.horizon(retention, "audit", now))
      })
    })
  )
}
