/**
 * Port: alerts and their settings. `AlertStep` decides *observe*.
 */
import { Context, type Effect } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { Forgotten } from "../Retention.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Range } from "../usage/Activity.ts"
import type { Alert, Settings } from "./Alert.ts"
import type { Observe, Observed } from "./AlertStep.ts"

/** How many of the newest alerts are searched for alerts about a subject. */
export const maxScanned = 1000

export class AlertStore extends Context.Service<AlertStore, {
  /**
   * Opens an alert for each new problem and closes the alerts of ended ones. If processes race, each change is returned
   * to one of them, which sends its notifications and then calls `finish`. If it does not within `AlertStep.lease`, the
   * change is returned to another, so notifications are sent at least once.
   */
  readonly observe: (command: Observe) => Effect.Effect<Observed, StoreError>
  /** Records that the notifications of a change were sent, or given up. Safe to repeat. */
  readonly finish: (alert: Alert) => Effect.Effect<void, StoreError>
  /** Newest first. With `open`, only open alerts. */
  readonly list: (
    workspaceId: WorkspaceId,
    filter: { readonly open?: boolean },
    page: PageRequest
  ) => Effect.Effect<Page<Alert>, StoreError>
  /**
   * The alerts about a subject that were open at some time within the range, oldest first, among the workspace's newest
   * {@link maxScanned}.
   */
  readonly during: (
    workspaceId: WorkspaceId,
    subject: string,
    range: Range
  ) => Effect.Effect<ReadonlyArray<Alert>, StoreError>
  /** The workspace's settings; `Alert.noSettings` if never configured. */
  readonly settings: (workspaceId: WorkspaceId) => Effect.Effect<Settings, StoreError>
  readonly configure: (workspaceId: WorkspaceId, settings: Settings) => Effect.Effect<void, StoreError>
  /** Deletes a bounded number of alerts that were closed before a time. */
  readonly forget: (before: Instant) => Effect.Effect<Forgotten, StoreError>
}>()("@wac/core/alerts/AlertStore") {}
