/**
 * Campaigns (contract §11): one template to many customers, each once.
 */
import { CampaignsApi } from "@wac/api"
import { type Campaign as Core, Campaigns as Service, Errors, type Id, Recipient } from "@wac/core"
import { CampaignsHandlers, KeptAnswers } from "@wac/http"
import { Effect, Predicate, Result, Schema, Stream } from "effect"
import * as CallOptions from "../CallOptions.ts"
import type {
  CallOptions as Options,
  Campaign,
  CampaignRecipient,
  Campaigns,
  SendOptions
} from "../generated/Messaging.ts"
import * as Input from "../Input.ts"
import * as Listing from "../Listing.ts"
import type { Failure, Running } from "../Running.ts"
import { iso, type TimeInput } from "../TimeInput.ts"

const readCampaign = Input.read(CampaignsApi.CreateCampaign)
const readChange = Input.read(CampaignsApi.EditCampaign)
const readFilter = Input.read(Schema.Struct(CampaignsApi.filter))
const readRowFilter = Input.read(Schema.Struct(CampaignsApi.rowFilter))

/** A plan with its times as ISO 8601 text, for a schema to decode. */
const timed = <Fields extends { readonly startAt?: TimeInput | null; readonly notAfter?: TimeInput | null }>(
  fields: Fields
) =>
  Predicate.isObject(fields)
    ? {
      ...fields,
      ...(fields.startAt == null ? {} : { startAt: iso(fields.startAt) }),
      ...(fields.notAfter == null ? {} : { notAfter: iso(fields.notAfter) })
    }
    : fields

/** Reads a recipient. Fields that are `undefined` are removed only after a failure, so that valid ones cost no copy. */
const rowOf = (recipient: CampaignRecipient): Recipient.Row => {
  const row = Recipient.parse(recipient)
  return "recipient" in row ? row : Recipient.parse(Input.given(recipient))
}

type Recipients = Iterable<CampaignRecipient> | AsyncIterable<CampaignRecipient>

const kept: KeptAnswers.AnswerCodec<Campaign> = {
  answerOf: (campaign) => ({ status: 201, body: JSON.stringify(campaign) }),
  resultOf: ({ body }) => JSON.parse(body)
}

async function* each(recipients: Recipients): AsyncGenerator<CampaignRecipient> {
  yield* recipients
}

export const make = Effect.gen(function*() {
  const campaigns = yield* Service.Campaigns
  const keep = yield* KeptAnswers.keeper

  return (running: Running, workspaceId: Id.WorkspaceId): Campaigns => {
    const { run } = running
    /**
     * Does work once for each idempotency key: equal calls get its answer. `asked` is the input, which is read before.
     */
    const once = <Asked>(
      route: string,
      asked: Effect.Effect<Asked, Failure>,
      work: (asked: Asked) => Effect.Effect<Core.Campaign, Failure>,
      options: SendOptions | undefined,
      body?: unknown
    ): Promise<Campaign> => {
      const key = CallOptions.keyOf(options)
      return run(
        Effect.gen(function*() {
          const read = yield* asked
          const { result } = yield* keep(
            // separate from the keys of the HTTP API, whose answers have the wire's names
            { workspaceId, caller: "host", route, key: yield* Effect.fromResult(key) },
            { body: body === undefined ? null : JSON.parse(JSON.stringify(body)), token: crypto.randomUUID() },
            shown(work(read)),
            kept
          )
          return result
        }),
        { options, names: ["idempotencyKey"], idempotencyKey: Result.getOrUndefined(key) }
      )
    }
    const act =
      (_tag: "Check" | "Start" | "Pause" | "Resume" | "Cancel") =>
      (id: string, options?: SendOptions): Promise<Campaign> =>
        once(`campaigns.${_tag} ${id}`, Effect.void, () => campaigns.change(workspaceId, id, { _tag }), options)
    const shown = <E>(campaign: Effect.Effect<Core.Campaign, E>) => Effect.map(campaign, CampaignsHandlers.shown)
    const upload =
      (end: "add" | "replace") => async (id: string, recipients: Recipients, options?: Options): Promise<Campaign> => {
        const failed: { cause?: unknown } = {}
        const rows = Stream.fromAsyncIterable(each(recipients), (cause) => {
          failed.cause = cause
          return new Errors.InvalidBody({ reason: "invalid_field", message: "the recipients could not be read" })
        })
        try {
          return await run(shown(campaigns.upload(workspaceId, id, Stream.map(rows, rowOf), end)), {
            options,
            stops: true
          })
        } catch (error) {
          throw "cause" in failed ? failed.cause : error
        }
      }
    return {
      create: (campaign, options) => {
        const given = timed(campaign)
        return once(
          "campaigns.create",
          readCampaign(given),
          (read) => campaigns.create(workspaceId, CampaignsHandlers.planOf(read)),
          options,
          given
        )
      },
      list: (filter = {}, options) =>
        Listing.make(
          running,
          "cmp",
          (page) => Effect.flatMap(readFilter(filter), (filter) => campaigns.list(workspaceId, filter, page)),
          CampaignsHandlers.shown,
          options
        ),
      get: (id, options) => run(shown(campaigns.get(workspaceId, id)), { options }),
      edit: (id, change, options) =>
        run(
          shown(Effect.flatMap(
            readChange(timed(change)),
            (plan) => campaigns.change(workspaceId, id, { _tag: "Edit", plan: CampaignsHandlers.planOf(plan) })
          )),
          { options }
        ),
      remove: (id, options) => run(campaigns.remove(workspaceId, id), { options }),
      addRecipients: upload("add"),
      replaceRecipients: upload("replace"),
      check: act("Check"),
      start: act("Start"),
      pause: act("Pause"),
      resume: act("Resume"),
      cancel: act("Cancel"),
      recipients: (id, filter = {}, options) =>
        Listing.make(
          running,
          "rows",
          (page) => Effect.flatMap(readRowFilter(filter), (filter) => campaigns.rows(workspaceId, id, filter, page)),
          CampaignsHandlers.shownRow,
          options
        )
    }
  }
})
