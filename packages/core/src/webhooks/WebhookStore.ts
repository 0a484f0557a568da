/**
 * Port: webhook configuration. `WebhookStep` says what its transitions decide. Health is written by `DeliveryStore`.
 */
import { Context, type Effect, type Option } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Webhook } from "./Webhook.ts"
import type { Put, Resume, RotateSecret } from "./WebhookStep.ts"

/** A webhook and what waits for it. */
export interface WebhookState {
  readonly webhook: Webhook
  /** Deliveries held while it is paused; 0 while it is active. */
  readonly heldCount: number
  /** When the event of the oldest held delivery was recorded. */
  readonly oldestHeldAt: Instant | null
  /**
   * When the first attempt at the oldest delivery began that is still being tried, in the rounds since the last resume,
   * and has seen no success since: 24 hours later the webhook is paused, unless something succeeds before.
   */
  readonly oldestTriedAt: Instant | null
}

export class WebhookStore extends Context.Service<WebhookStore, {
  /**
   * Sets the workspace's webhook: `candidate` if there is none, else the present one with the candidate's `url`,
   * `envelope`, `eventTypes` and `updatedAt` (state, health, id and secrets stay; waiting deliveries go to the new
   * URL). Atomic: of racers that create, one does.
   */
  readonly put: (candidate: Webhook) => Effect.Effect<Put, StoreError>
  /** The workspace's webhook, at the cost of its one row. */
  readonly find: (workspaceId: WorkspaceId) => Effect.Effect<Option.Option<Webhook>, StoreError>
  /** The same with what waits for it, which is counted: a million that are held take a quarter of a second. */
  readonly get: (workspaceId: WorkspaceId) => Effect.Effect<Option.Option<WebhookState>, StoreError>
  /**
   * Gives the webhook another secret, by `Webhook.rotateSecrets`; `None` when the workspace's webhook is not (or no
   * longer) this one. Rotations at once come one after the other.
   */
  readonly rotateSecret: (command: RotateSecret) => Effect.Effect<Option.Option<Webhook>, StoreError>
  /** Pauses the webhook (`Webhook.pause`), at the cost of its one row. None when there is no webhook. */
  readonly pause: (workspaceId: WorkspaceId, now: Instant) => Effect.Effect<Option.Option<Webhook>, StoreError>
  /**
   * Resumes the webhook (`Webhook.resume`), at the cost of its own state however much is held. What is held and not to
   * be replayed is `skipped` from then on, also what is being attempted (its record is refused); what waits behind it
   * is freed by `DeliveryStore.tidySkipped`. Near `since` more may be replayed, as clocks differ, never less. None when
   * there is no webhook; an active one is left as it is.
   */
  readonly resume: (command: Resume) => Effect.Effect<Option.Option<Webhook>, StoreError>
  /** Removes the webhook; its open deliveries become `skipped`. False when there was none. */
  readonly remove: (workspaceId: WorkspaceId, now: Instant) => Effect.Effect<boolean, StoreError>
}>()("@wac/core/webhooks/WebhookStore") {}
