/**
 * The event `campaign.completed`, which reports that a campaign has ended (contract §6 and §11). Pure.
 */
import type { Event } from "../events/Event.ts"
import type { EventId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import type { Campaign } from "./Campaign.ts"
import * as CampaignCounts from "./CampaignCounts.ts"

/**
 * Builds the event of a campaign that has no recipients left in its queue. It has no order, since a campaign has only
 * one.
 */
export const ofCompleted = (
  { counts, id, name, status, workspaceId }: Campaign,
  event: { readonly id: EventId; readonly createdAt: Instant }
): Event => ({
  id: event.id,
  workspaceId,
  type: "campaign.completed",
  createdAt: event.createdAt,
  orderKey: null,
  sequence: null,
  data: { campaign_id: id, name, status, total: CampaignCounts.total(counts), ...counts },
  trace: null
})
