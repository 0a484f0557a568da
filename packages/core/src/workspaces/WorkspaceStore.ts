/**
 * Port: workspaces and their first owner. Each begins with a number; its numbers are `PhoneNumberStore`'s.
 */
import { Context, type Effect, type Option } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { PhoneNumber } from "../numbers/PhoneNumber.ts"
import type { Member } from "../people/Member.ts"
import type { StoreError } from "../StoreError.ts"
import type { Workspace } from "./Workspace.ts"

export class WorkspaceStore extends Context.Service<WorkspaceStore, {
  /** Creates the first workspace with its owner and number, if there is none yet. Of racers exactly one gets true. */
  readonly createFirst: (first: {
    readonly workspace: Workspace
    readonly owner: Member
    readonly phoneNumber: PhoneNumber
  }) => Effect.Effect<boolean, StoreError>
  /** Creates a further workspace with its first number. */
  readonly create: (created: {
    readonly workspace: Workspace
    readonly phoneNumber: PhoneNumber
  }) => Effect.Effect<void, StoreError>
  readonly get: (id: WorkspaceId) => Effect.Effect<Option.Option<Workspace>, StoreError>
  /** Every workspace, oldest first. */
  readonly list: Effect.Effect<ReadonlyArray<Workspace>, StoreError>
  /** The operator's settings of a workspace; fields left out stay. In force from the next *accept* on. */
  readonly configure: (
    id: WorkspaceId,
    settings: Partial<Pick<Workspace, "tier" | "monthlyQuota" | "suspended">>
  ) => Effect.Effect<void, StoreError>
}>()("@wac/core/workspaces/WorkspaceStore") {}
