/**
 * Port: alerts, and who is told of them. `AlertStep` says what observing decides.
 */
import { Context, type Effect } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Alert, Settings } from "./Alert.ts"
import type { Observe, Observed } from "./AlertStep.ts"

export class AlertStore extends Context.Service<AlertStore, {
  /** Opens an alert for each matter that has none, and closes those whose matter is over. Of racers one learns of each. */
  readonly observe: (command: Observe) => Effect.Effect<Observed, StoreError>
  /** Newest first; `open`: those alone that go on. */
  readonly list: (
    workspaceId: WorkspaceId,
    filter: { readonly open?: boolean },
    page: PageRequest
  ) => Effect.Effect<Page<Alert>, StoreError>
  /** Who is told; nobody unless it was set. */
  readonly settings: (workspaceId: WorkspaceId) => Effect.Effect<Settings, StoreError>
  readonly configure: (workspaceId: WorkspaceId, settings: Settings) => Effect.Effect<void, StoreError>
  /** Forgets alerts that were over before a time: a bounded number at once. Returns whether more may be left. */
  readonly forget: (before: Instant) => Effect.Effect<boolean, StoreError>
}>()("@wac/core/alerts/AlertStore") {}
