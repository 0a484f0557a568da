/**
 * Port: templates, as they were last synced from the provider.
 */
import { Context, type Effect } from "effect"
import type { TemplateId, WorkspaceId } from "./Id.ts"
import type { Page, PageRequest } from "./Page.ts"
import type { StoreError } from "./StoreError.ts"
import type { ProviderTemplate, Template } from "./Template.ts"
import type { Instant } from "./Time.ts"

/** Which templates to list; every given field must match exactly. */
export type TemplateFilter = Partial<Pick<Template, "status" | "category" | "language" | "name">>

export class TemplateStore extends Context.Service<TemplateStore, {
  /**
   * Makes the workspace's templates those of `listed`, in one step: known ones (by name and language) keep their id,
   * new ones take one of `ids` (at least as many as `listed`), others go. Safe to repeat.
   */
  readonly replaceAll: (command: {
    readonly now: Instant
    readonly workspaceId: WorkspaceId
    readonly listed: ReadonlyArray<ProviderTemplate>
    readonly ids: ReadonlyArray<TemplateId>
  }) => Effect.Effect<void, StoreError>
  /** Templates of every status, newest first. */
  readonly list: (
    workspaceId: WorkspaceId,
    filter: TemplateFilter,
    page: PageRequest
  ) => Effect.Effect<Page<Template>, StoreError>
}>()("@wac/core/TemplateStore") {}
