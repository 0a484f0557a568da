/**
 * Port: campaigns, their recipients, and the queue of recipients to whom nothing was sent yet. Any number of processes
 * may work on them. `CampaignStep` and `CampaignWorkStep` decide the transitions. `QueueStore` records the outcome of
 * each recipient.
 */
import { Context, type Effect, type Option, type Result } from "effect"
import type { Forbidden } from "../Errors.ts"
import type { CampaignId, WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { StoreError } from "../StoreError.ts"
import type { Campaign, CampaignStatus } from "./Campaign.ts"
import type { AddRows, Change } from "./CampaignStep.ts"
import type * as CampaignTimeline from "./CampaignTimeline.ts"
import type { Work, Worked } from "./CampaignWorkStep.ts"
import type { CheckedRow } from "./CheckedRow.ts"

/** Which campaigns to list. There is no index for it: a page may read all campaigns of the workspace. */
export interface CampaignFilter {
  readonly status?: CampaignStatus
  /** A part of the name, in any letter case. */
  readonly nameContains?: string
}

/**
 * A regular expression that finds a part of a name in any letter case. It works in JavaScript and in PostgreSQL, whose
 * own case rules depend on its locale.
 */
export const patternOf = (part: string): string =>
  Array.from(part, (letter) => {
    const cases = new Set([letter, letter.toLowerCase(), letter.toUpperCase()])
    return cases.size === 1 ? letter.replace(/[$()*+./?[\\\]^{|}]/, "\\$&") : `(?:${[...cases].join("|")})`
  }).join("")

/** Whether the filter selects the campaign. */
export const isOf = ({ nameContains, status }: CampaignFilter, campaign: Campaign): boolean =>
  (status === undefined || campaign.status === status) &&
  (nameContains === undefined || new RegExp(patternOf(nameContains), "u").test(campaign.name))

export class CampaignStore extends Context.Service<CampaignStore, {
  readonly create: (campaign: Campaign) => Effect.Effect<void, StoreError>
  /** A campaign of the workspace, with its counts as of now. */
  readonly get: (workspaceId: WorkspaceId, id: CampaignId) => Effect.Effect<Option.Option<Campaign>, StoreError>
  /**
   * The counts of a campaign by time, oldest first. The number of counts does not depend on the number of recipients.
   */
  readonly timeline: (
    workspaceId: WorkspaceId,
    id: CampaignId
  ) => Effect.Effect<ReadonlyArray<CampaignTimeline.Count>, StoreError>
  /** Newest first. */
  readonly list: (
    workspaceId: WorkspaceId,
    filter: CampaignFilter,
    page: PageRequest
  ) => Effect.Effect<Page<Campaign>, StoreError>
  /** Changes a campaign by `Campaign.change`. Changes of one campaign happen one after another. */
  readonly change: (
    command: Change
  ) => Effect.Effect<Option.Option<Result.Result<Campaign, Forbidden>>, StoreError>
  /**
   * Adds one part of an upload to a campaign that accepts rows (`Campaign.takesRows`): all of its rows or none. The
   * rows of an upload count once it has ended. Returns false if the campaign accepts no rows or does not exist, if it
   * would have too many rows (`Campaign.rowsRefusal`), or if another upload to it has begun since.
   */
  readonly addRows: (command: AddRows) => Effect.Effect<boolean, StoreError>
  /**
   * Deletes a campaign that accepts rows, with its rows and its queued messages. Returns false if it accepts none or
   * does not exist.
   */
  readonly remove: (workspaceId: WorkspaceId, id: CampaignId) => Effect.Effect<boolean, StoreError>
  /**
   * Does one piece of work for the campaign that has been due longest (`CampaignWorkStep.work`), in one atomic step.
   * One process at a time works on a campaign. The recipients that the work hands out belong to the caller for
   * `CampaignWorkStep.lease`. None if no campaign is due.
   */
  readonly work: (command: Work) => Effect.Effect<Option.Option<Worked>, StoreError>
  /** The paused campaigns of a workspace, or of all, in the order of their ids. */
  readonly paused: (workspaceId: WorkspaceId | null) => Effect.Effect<ReadonlyArray<Campaign>, StoreError>
  /** The rows of a campaign at the places after `after` to `after + limit`, in the order of their upload. */
  readonly rows: (
    workspaceId: WorkspaceId,
    id: CampaignId,
    range: { readonly limit: number; readonly after: number }
  ) => Effect.Effect<ReadonlyArray<CheckedRow>, StoreError>
  /** The rows of a campaign at these places, in the order of their upload. Places without a row are left out. */
  readonly rowsAt: (
    workspaceId: WorkspaceId,
    id: CampaignId,
    places: ReadonlyArray<number>
  ) => Effect.Effect<ReadonlyArray<CheckedRow>, StoreError>
}>()("@wac/core/campaigns/CampaignStore") {}
