/**
 * Port: templates as last synchronized with the provider. `TemplateStep` decides its transitions.
 */
import { Context, type Effect, type Option } from "effect"
import type { TemplateId, WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { StoreError } from "../StoreError.ts"
import type { Template } from "./Template.ts"
import type { Put, Remove, ReplaceAll, Update } from "./TemplateStep.ts"

/** Which templates to list. Every given field of a template must match exactly. */
export interface TemplateFilter extends Partial<Pick<Template, "status" | "category" | "language" | "name">> {
  /** A part of the name. No index answers it: each page reads the workspace's templates until it is full. */
  readonly nameContains?: string
}

/** Restricts templates to one provider: to accounts in which the workspace has a number with it. */
export interface StoredTemplateFilter extends TemplateFilter {
  readonly provider?: string
}

export class TemplateStore extends Context.Service<TemplateStore, {
  /**
   * Makes the workspace's templates of an account equal to `listed`, in one step. Known templates (by name and
   * language) keep their id and what the provider reported after the listing began (`Template.relist`). New ones take
   * one of `ids` (at least as many as `listed`). Others are deleted, including those of accounts in which the workspace
   * has no number any more. Nothing changes if the workspace has no number in this account, or if a listing that began
   * later was applied before. Safe to repeat.
   */
  readonly replaceAll: (command: ReplaceAll) => Effect.Effect<void, StoreError>
  /**
   * Applies a provider report about an account's template (`Template.observe`) in every workspace with a number of the
   * account. Returns how many have the template. Reports may arrive in any order and repeatedly.
   */
  readonly update: (told: Update) => Effect.Effect<number, StoreError>
  /**
   * Keeps a template that was created or changed here. A known template (by name and language) keeps its id. `undefined`
   * if the workspace has no number in the account. Safe to repeat.
   */
  readonly put: (command: Put) => Effect.Effect<Template | undefined, StoreError>
  /** Forgets a template of the workspace. Safe to repeat. */
  readonly remove: (command: Remove) => Effect.Effect<void, StoreError>
  /** The template with this id, if it is the workspace's. */
  readonly get: (workspaceId: WorkspaceId, id: TemplateId) => Effect.Effect<Option.Option<Template>, StoreError>
  /** Templates of every status, newest first. */
  readonly list: (
    workspaceId: WorkspaceId,
    filter: StoredTemplateFilter,
    page: PageRequest
  ) => Effect.Effect<Page<Template>, StoreError>
}>()("@wac/core/templates/TemplateStore") {}
