/**
 * Port: webhook configuration and state. `WebhookStep` decides its transitions; `DeliveryStore` writes health.
 */
import { Context, type Effect, type Option } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Webhook } from "./Webhook.ts"
import type { Put, Resume, RotateSecret } from "./WebhookStep.ts"

/** A webhook and its waiting deliveries. */
export interface WebhookState {
  readonly webhook: Webhook
  /** Deliveries held while it is paused; 0 while it is active. */
  readonly heldCount: number
  /** When the event of the oldest held delivery was recorded. */
  readonly oldestHeldAt: Instant | null
  /**
   * When the first attempt began at the oldest delivery that is still being tried, in rounds since the last resume, if
   * nothing has succeeded since. 24 hours later the webhook is paused, unless an attempt succeeds before.
   */
  readonly oldestTriedAt: Instant | null
}

export class WebhookStore extends Context.Service<WebhookStore, {
  /**
   * Sets the workspace's webhook: `candidate` if there is none, else the present one with the candidate's `url`,
   * `envelope`, `eventTypes` and `updatedAt` (state, health, id and secrets stay; waiting deliveries go to the new
   * URL). Atomic: if requests race to create it, one does.
   */
  readonly put: (candidate: Webhook) => Effect.Effect<Put, StoreError>
  /** Finds the workspace's webhook by reading one row. */
  readonly find: (workspaceId: WorkspaceId) => Effect.Effect<Option.Option<Webhook>, StoreError>
  /**
   * Gets the webhook and counts its waiting deliveries. Counting a million held deliveries takes a quarter of a second.
   */
  readonly get: (workspaceId: WorkspaceId) => Effect.Effect<Option.Option<WebhookState>, StoreError>
  /**
   * Gives the webhook a new secret (`Webhook.rotateSecrets`). `None` if the workspace's webhook is not, or no longer,
   * this one. Concurrent rotations are applied one after another.
   */
  readonly rotateSecret: (command: RotateSecret) => Effect.Effect<Option.Option<Webhook>, StoreError>
  /** Pauses the webhook (`Webhook.pause`) by writing one row. `None` if there is no webhook. */
  readonly pause: (workspaceId: WorkspaceId, now: Instant) => Effect.Effect<Option.Option<Webhook>, StoreError>
  /**
   * Resumes the webhook (`Webhook.resume`) by writing its own state only, however much is held. Held deliveries that
   * are not to be replayed are `skipped` from then on, including one in flight, whose attempt is still recorded
   * (`Delivery.afterAttempt`). `DeliveryStore.tidySkipped` frees what waits behind them. Since clocks differ, more may
   * be replayed near `since`, but never less. `None` if there is no webhook; an active one is left as it is.
   */
  readonly resume: (command: Resume) => Effect.Effect<Option.Option<Webhook>, StoreError>
  /** Removes the webhook. Its open deliveries become `skipped`, as in `resume`. False if there was none. */
  readonly remove: (workspaceId: WorkspaceId, now: Instant) => Effect.Effect<boolean, StoreError>
}>()("@wac/core/webhooks/WebhookStore") {}
