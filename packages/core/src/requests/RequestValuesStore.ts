/**
 * Port: sealed values of API requests, and the switches of workspaces that keep them (contract §17).
 */
import { Context, type Effect, type Option } from "effect"
import type { RequestId, WorkspaceId } from "../Id.ts"
import type { Forgotten } from "../Retention.ts"
import type { Sealed } from "../secrets/Sealed.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { ValuesSwitch } from "../workspaces/ValuesSwitch.ts"

/** The values of one request, sealed for its id. */
export interface SealedValues {
  readonly workspaceId: WorkspaceId
  readonly requestId: RequestId
  /** The switch's epoch at the time of the request. */
  readonly epoch: ValuesSwitch["epoch"]
  readonly sealed: Sealed
}

export class RequestValuesStore extends Context.Service<RequestValuesStore, {
  /** Until when the workspace's switch is on; `null` if it is off at `now`. */
  readonly until: (workspaceId: WorkspaceId, now: Instant) => Effect.Effect<Instant | null, StoreError>
  /** Turns the switch on for `ValuesSwitch.lasts` from now, even if it is on already, and returns until when. */
  readonly switchOn: (workspaceId: WorkspaceId, now: Instant) => Effect.Effect<Instant, StoreError>
  /** Turns the switch off, and outdates the kept values as `outdate` does. Safe to repeat. */
  readonly switchOff: (workspaceId: WorkspaceId) => Effect.Effect<void, StoreError>
  /**
   * Begins a new epoch: the kept values are no longer found, and no values of an earlier request are kept any more. The
   * switch stays as it is. Safe to repeat.
   */
  readonly outdate: (workspaceId: WorkspaceId) => Effect.Effect<void, StoreError>
  /** Deletes a bounded number of the workspace's outdated values. */
  readonly removeOutdated: (workspaceId: WorkspaceId) => Effect.Effect<Forgotten, StoreError>
  /**
   * Stores values of requests, except if the workspace's switch is off at `now` or has another epoch. Values that are
   * already stored stay. Safe to repeat.
   */
  readonly keep: (values: ReadonlyArray<SealedValues>, now: Instant) => Effect.Effect<void, StoreError>
  /** The values of a request of the workspace. */
  readonly find: (workspaceId: WorkspaceId, requestId: RequestId) => Effect.Effect<Option.Option<Sealed>, StoreError>
  /** Deletes a bounded number of values of requests whose ids were created before a time, and of outdated ones. */
  readonly forget: (before: Instant) => Effect.Effect<Forgotten, StoreError>
}>()("@wac/core/requests/RequestValuesStore") {}
