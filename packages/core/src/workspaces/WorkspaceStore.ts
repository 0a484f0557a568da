/**
 * Port: workspaces and their first owner. Each begins with a number; its numbers are `PhoneNumberStore`'s.
 * `WorkspaceStep` says what its transitions decide.
 */
import { Context, type Effect, type Option } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { Workspace } from "./Workspace.ts"
import type { Create, CreateFirst } from "./WorkspaceStep.ts"

export class WorkspaceStore extends Context.Service<WorkspaceStore, {
  /** Creates the first workspace with its owner and number, if there is none yet. Of racers exactly one gets true. */
  readonly createFirst: (first: CreateFirst) => Effect.Effect<boolean, StoreError>
  /** Creates a further workspace with its first number. Fails when that belongs to a workspace already. */
  readonly create: (created: Create) => Effect.Effect<void, StoreError>
  readonly get: (id: WorkspaceId) => Effect.Effect<Option.Option<Workspace>, StoreError>
  /** Every workspace, oldest first. */
  readonly list: Effect.Effect<ReadonlyArray<Workspace>, StoreError>
  /** The operator's settings of a workspace; fields left out stay. In force from the next *accept* on. */
  readonly configure: (
    id: WorkspaceId,
    settings: Partial<Pick<Workspace, "tier" | "monthlyQuota" | "suspended">>
  ) => Effect.Effect<void, StoreError>
}>()("@wac/core/workspaces/WorkspaceStore") {}
