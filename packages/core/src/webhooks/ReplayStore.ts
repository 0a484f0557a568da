/**
 * Port: replay jobs. They are durable, and any number of processes may run them. `ReplayStep` decides their
 * transitions.
 */
import { Context, type Effect, type Option } from "effect"
import type { ReplayId, WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Replay } from "./Replay.ts"
import type { Create } from "./ReplayStep.ts"

export class ReplayStore extends Context.Service<ReplayStore, {
  /** Creates a running job for the workspace's webhook; `None` if there is no webhook. */
  readonly create: (command: Create) => Effect.Effect<Option.Option<Replay>, StoreError>
  readonly get: (workspaceId: WorkspaceId, id: ReplayId) => Effect.Effect<Option.Option<Replay>, StoreError>
  /** The workspace's jobs, newest first. */
  readonly list: (workspaceId: WorkspaceId, page: PageRequest) => Effect.Effect<Page<Replay>, StoreError>
  /** Cancels a running job. Deliveries that have started a new round continue. A job that has ended stays as it is. */
  readonly cancel: (
    workspaceId: WorkspaceId,
    id: ReplayId,
    now: Instant
  ) => Effect.Effect<Option.Option<Replay>, StoreError>
  /**
   * Runs one step of the job whose turn it is: scans up to `limit` deliveries of its range that have ended, oldest
   * first, and starts a new round (`Delivery.newRound`, trigger `replay`) of those that it covers, until
   * `Replay.maxWaiting` rounds of replays of its webhook are open. The job is then due again after `Replay.pause`. A job
   * that finds fewer than `limit` is completed. A job waits while its webhook is paused, and leaves out deliveries that
   * ended after it was created. Deliveries and progress are written in one step, so a job replays no delivery twice. Jobs
   * take turns, and one process at a time works on a job. False if no job is due.
   */
  readonly step: (now: Instant, limit: number) => Effect.Effect<boolean, StoreError>
}>()("@wac/core/webhooks/ReplayStore") {}
