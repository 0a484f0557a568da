/**
 * Port: replay jobs. `ReplayStep` says what its transitions decide. They are durable, and any number of processes may work at them.
 */
import { Context, type Effect, type Option } from "effect"
import type { ReplayId, WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Replay } from "./Replay.ts"
import type { Create } from "./ReplayStep.ts"

export class ReplayStore extends Context.Service<ReplayStore, {
  /** Makes a running job for the workspace's webhook; `None` when there is none. */
  readonly create: (command: Create) => Effect.Effect<Option.Option<Replay>, StoreError>
  readonly get: (workspaceId: WorkspaceId, id: ReplayId) => Effect.Effect<Option.Option<Replay>, StoreError>
  /** Newest first. */
  readonly list: (workspaceId: WorkspaceId, page: PageRequest) => Effect.Effect<Page<Replay>, StoreError>
  /** Ends a running job; what has begun a new round goes on. One that has ended stays as it is. */
  readonly cancel: (
    workspaceId: WorkspaceId,
    id: ReplayId,
    now: Instant
  ) => Effect.Effect<Option.Option<Replay>, StoreError>
  /**
   * One step of the running job whose turn it is: looks at up to `limit` deliveries of its range that have ended,
   * oldest first, and begins a new round (`Delivery.newRound`, trigger `replay`) of those that it covers, until
   * `Replay.maxWaiting` of its webhook wait for their attempt; the job is then due again after `Replay.pause`. One that
   * finds fewer than `limit` is completed. Deliveries and progress are written in one step, so none is replayed twice
   * by one job. Jobs take turns; one is worked at by one process at a time. False when no job is due.
   */
  readonly step: (now: Instant, limit: number) => Effect.Effect<boolean, StoreError>
}>()("@wac/core/webhooks/ReplayStore") {}
