/**
 * Port: templates, as they were last synced from the provider. `TemplateStep` says what its transitions decide.
 */
import { Context, type Effect } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { StoreError } from "../StoreError.ts"
import type { Template } from "./Template.ts"
import type { ReplaceAll, Update } from "./TemplateStep.ts"

/** Which templates to list; every given field must match exactly. */
export type TemplateFilter = Partial<Pick<Template, "status" | "category" | "language" | "name">>

/** The same of one provider alone: of accounts that the workspace has a number of with it. */
export interface StoredTemplateFilter extends TemplateFilter {
  readonly provider?: string
}

export class TemplateStore extends Context.Service<TemplateStore, {
  /**
   * Makes the workspace's templates of an account those of `listed`, in one step: known ones (by name and language)
   * keep their id and what upstream told after the listing had begun (`Template.relist`), new ones take one of `ids`
   * (at least as many as `listed`), others go, and so do those of accounts that the workspace has no number of any
   * more. Nothing changes when this is such an account, or when a listing of it that began later was taken before. Safe
   * to repeat.
   */
  readonly replaceAll: (command: ReplaceAll) => Effect.Effect<void, StoreError>
  /**
   * Applies upstream's word of an account's template by `Template.observe`, in every workspace with a number of the
   * account; answers with how many have it. Words may come in any order and any number of times.
   */
  readonly update: (told: Update) => Effect.Effect<number, StoreError>
  /** Templates of every status, newest first. */
  readonly list: (
    workspaceId: WorkspaceId,
    filter: StoredTemplateFilter,
    page: PageRequest
  ) => Effect.Effect<Page<Template>, StoreError>
}>()("@wac/core/templates/TemplateStore") {}
