/**
 * Port: workspaces. Each begins with a number, and the first one also with its owner; `PhoneNumberStore` manages
 * further numbers. `WorkspaceStep` decides creation.
 */
import { Context, type Effect, type Option } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { Workspace } from "./Workspace.ts"
import type { Create, CreateFirst } from "./WorkspaceStep.ts"

export class WorkspaceStore extends Context.Service<WorkspaceStore, {
  /**
   * Creates the first workspace with its owner and number if there is none yet. If processes race, exactly one gets
   * true.
   */
  readonly createFirst: (first: CreateFirst) => Effect.Effect<boolean, StoreError>
  /**
   * Creates a further workspace with its first number and the number's own credentials, in one step. Fails if the number
   * already belongs to a workspace.
   */
  readonly create: (created: Create) => Effect.Effect<void, StoreError>
  readonly get: (id: WorkspaceId) => Effect.Effect<Option.Option<Workspace>, StoreError>
  /** Every workspace, oldest first. */
  readonly list: Effect.Effect<ReadonlyArray<Workspace>, StoreError>
  /** Sets the operator's settings of a workspace; omitted fields keep their values. In force from the next *accept*. */
  readonly configure: (
    id: WorkspaceId,
    settings: Partial<Pick<Workspace, "tier" | "monthlyQuota" | "suspended">>
  ) => Effect.Effect<void, StoreError>
}>()("@wac/core/workspaces/WorkspaceStore") {}
