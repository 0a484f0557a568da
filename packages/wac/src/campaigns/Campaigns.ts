/**
 * Campaigns (contract §11): one template to many customers, each once.
 */
import { CampaignsApi } from "@wac/api"
import { type Campaign as Core, Campaigns as Service, Errors, type Id, Recipient } from "@wac/core"
import { CampaignsHandlers } from "@wac/http"
import { Effect, Schema, Stream } from "effect"
import type {
  Campaign,
  CampaignChange,
  CampaignRecipient,
  CampaignRow,
  CampaignRowFilter,
  NewCampaign
} from "../generated/Resources.ts"
import * as Input from "../Input.ts"
import * as Listing from "../Listing.ts"
import type { Running } from "../Running.ts"
import { iso, type TimeInput } from "../TimeInput.ts"

/** The campaigns of a workspace. An action that has already happened changes nothing, so each is safe to repeat. */
export interface Campaigns {
  /** Creates a draft. Nothing is sent before it was checked and started. */
  readonly create: (campaign: NewCampaign) => Promise<Campaign>
  /** Newest first. */
  readonly list: () => Listing.Listing<Campaign>
  readonly get: (id: string) => Promise<Campaign>
  readonly edit: (id: string, change: CampaignChange) => Promise<Campaign>
  /** Deletes a campaign that was not started, with its recipients. */
  readonly remove: (id: string) => Promise<void>
  /**
   * Adds recipients to a campaign that was not started. They are read one after another, so that memory use does not
   * depend on their number, and count together: if reading them throws, the promise rejects with that error, and the
   * campaign stays as it was. It also does if another call begins meanwhile. The check reports malformed recipients.
   */
  readonly addRecipients: (
    id: string,
    recipients: Iterable<CampaignRecipient> | AsyncIterable<CampaignRecipient>
  ) => Promise<Campaign>
  /** As `addRecipients`, in place of all recipients that the campaign has, which then are not checked. */
  readonly replaceRecipients: (
    id: string,
    recipients: Iterable<CampaignRecipient> | AsyncIterable<CampaignRecipient>
  ) => Promise<Campaign>
  /** Checks the recipients in the background; the campaign is `ready` afterwards. */
  readonly check: (id: string) => Promise<Campaign>
  readonly start: (id: string) => Promise<Campaign>
  /** Within a second nothing more is sent. */
  readonly pause: (id: string) => Promise<Campaign>
  readonly resume: (id: string) => Promise<Campaign>
  /** Skips every recipient that is not sent to yet. */
  readonly cancel: (id: string) => Promise<Campaign>
  /** The added recipients in their order, or those with an outcome or a reason, or those that are not sent to. */
  readonly recipients: (id: string, filter?: CampaignRowFilter) => Listing.Listing<CampaignRow>
}

const readCampaign = Input.read(CampaignsApi.CreateCampaign)
const readChange = Input.read(CampaignsApi.EditCampaign)
const readFilter = Input.read(Schema.Struct(CampaignsApi.rowFilter))

/** Times as ISO 8601 text, for a schema to decode. */
const timed = <Fields extends { readonly startAt?: TimeInput | null; readonly notAfter?: TimeInput | null }>(
  fields: Fields
) => ({
  ...fields,
  ...(fields?.startAt == null ? {} : { startAt: iso(fields.startAt) }),
  ...(fields?.notAfter == null ? {} : { notAfter: iso(fields.notAfter) })
})

type Recipients = Iterable<CampaignRecipient> | AsyncIterable<CampaignRecipient>

async function* each(recipients: Recipients): AsyncGenerator<CampaignRecipient> {
  yield* recipients
}

export const make = Effect.map(
  Service.Campaigns,
  (campaigns) => (running: Running, workspaceId: Id.WorkspaceId): Campaigns => {
    const { run } = running
    const act = (_tag: "Check" | "Start" | "Pause" | "Resume" | "Cancel") => (id: string): Promise<Campaign> =>
      run(Effect.map(campaigns.change(workspaceId, id, { _tag }), CampaignsHandlers.shown))
    const shown = <E>(campaign: Effect.Effect<Core.Campaign, E>) => Effect.map(campaign, CampaignsHandlers.shown)
    const upload = (end: "add" | "replace") => async (id: string, recipients: Recipients): Promise<Campaign> => {
      const failed: { cause?: unknown } = {}
      const rows = Stream.fromAsyncIterable(each(recipients), (cause) => {
        failed.cause = cause
        return new Errors.InvalidBody({ reason: "invalid_field", message: "the recipients could not be read" })
      })
      try {
        return await run(shown(campaigns.upload(workspaceId, id, Stream.map(rows, Recipient.parse), end)))
      } catch (error) {
        throw "cause" in failed ? failed.cause : error
      }
    }
    return {
      create: (campaign) =>
        run(shown(Effect.flatMap(
          readCampaign(timed(campaign)),
          (plan) => campaigns.create(workspaceId, CampaignsHandlers.planOf(plan))
        ))),
      list: () => Listing.make(running, (page) => campaigns.list(workspaceId, page), CampaignsHandlers.shown),
      get: (id) => run(shown(campaigns.get(workspaceId, id))),
      edit: (id, change) =>
        run(shown(Effect.flatMap(
          readChange(timed(change)),
          (plan) => campaigns.change(workspaceId, id, { _tag: "Edit", plan: CampaignsHandlers.planOf(plan) })
        ))),
      remove: (id) => run(campaigns.remove(workspaceId, id)),
      addRecipients: upload("add"),
      replaceRecipients: upload("replace"),
      check: act("Check"),
      start: act("Start"),
      pause: act("Pause"),
      resume: act("Resume"),
      cancel: act("Cancel"),
      recipients: (id, filter = {}) =>
        Listing.make(
          running,
          (page) => Effect.flatMap(readFilter(filter), (filter) => campaigns.rows(workspaceId, id, filter, page)),
          CampaignsHandlers.shownRow
        )
    }
  }
)
