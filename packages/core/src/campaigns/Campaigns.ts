/**
 * The service for campaigns (contract §11): people and programs create, change and watch them. Writes through
 * `CampaignStore`.
 */
import { Clock, Context, Effect, Layer, Option, Result, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Forbidden, InvalidBody, NotFound } from "../Errors.ts"
import * as Id from "../Id.ts"
import * as KeyBinding from "../keys/KeyBinding.ts"
import * as Lookup from "../Lookup.ts"
import * as Media from "../media/Media.ts"
import { SendableMedia } from "../media/SendableMedia.ts"
import * as Policy from "../messages/Policy.ts"
import * as PhoneNumber from "../numbers/PhoneNumber.ts"
import { PhoneNumberStore } from "../numbers/PhoneNumberStore.ts"
import * as Page from "../Page.ts"
import { Provider } from "../provider/Provider.ts"
import type { StoreError } from "../StoreError.ts"
import { CurrentRateCard } from "../usage/RateCard.ts"
import * as Campaign from "./Campaign.ts"
import type * as CampaignStep from "./CampaignStep.ts"
import { type CampaignFilter, CampaignStore } from "./CampaignStore.ts"
import * as CampaignTimeline from "./CampaignTimeline.ts"
import { type CheckedRow, isSelected, type RowFilter } from "./CheckedRow.ts"
import * as ProblemKind from "./ProblemKind.ts"
import type * as Recipient from "./Recipient.ts"

/** How many rows are read together for a page with a filter. */
const lookedAtOnce = 1000

/** The maximum number of rows written together. */
const batch = 500

/** The place after which a page of the campaign's rows begins. The cursor of another campaign's rows is refused. */
const placeOf = (after: string | null, id: Id.CampaignId): Effect.Effect<number, InvalidBody> => {
  if (after === null) return Effect.succeed(0)
  const [campaignId, place] = after.split(":")
  return campaignId === id ? Effect.succeed(Number(place)) : Effect.fail(Page.foreignCursor())
}

/** Numbers rows by their place among the campaign's present rows instead of among all uploads. */
const placed = <E>(rows: Effect.Effect<ReadonlyArray<CheckedRow>, E>, replaced: number) =>
  Effect.map(rows, (found) => found.map((row) => ({ ...row, place: row.place - replaced })))

/** What a new campaign needs. Fields that are omitted have the defaults of contract §11. */
export type NewCampaign = Pick<Campaign.Plan, "name" | "template"> & Partial<Campaign.Plan>

/** What people and programs do with campaigns. */
export interface Operations {
  readonly create: (
    workspaceId: Id.WorkspaceId,
    plan: NewCampaign
  ) => Effect.Effect<Campaign.Campaign, Forbidden | StoreError>
  /** Newest first. */
  readonly list: (
    workspaceId: Id.WorkspaceId,
    filter: CampaignFilter,
    page: Page.PageRequest
  ) => Effect.Effect<Page.Page<Campaign.Campaign>, StoreError>
  readonly get: (
    workspaceId: Id.WorkspaceId,
    id: string
  ) => Effect.Effect<Campaign.Campaign, NotFound | Forbidden | StoreError>
  /**
   * How many of the campaign's messages were sent, delivered and read, and when: in a period after the first message,
   * or in all.
   */
  readonly timeline: (
    workspaceId: Id.WorkspaceId,
    id: string,
    period?: CampaignTimeline.Period
  ) => Effect.Effect<CampaignTimeline.Timeline, NotFound | Forbidden | StoreError>
  /**
   * Changes a campaign (`Campaign.change`). With `onlyFrom`, it fails unless the campaign names this sender. A check, a
   * start and a resumption fail if a file that all recipients get does not exist or cannot be sent. Safe to repeat.
   */
  readonly change: (
    workspaceId: Id.WorkspaceId,
    id: string,
    change: Campaign.Change,
    onlyFrom?: Campaign.Campaign["from"]
  ) => Effect.Effect<Campaign.Campaign, InvalidBody | NotFound | Forbidden | StoreError>
  /**
   * Adds rows to a campaign that is not started, or replaces all of its rows. Memory use does not depend on their
   * number. If the stream fails, the campaign would have more than `Campaign.maxRows` rows, or another upload begins
   * meanwhile, the campaign stays as it was. Returns the campaign with all of its rows counted.
   */
  readonly upload: <E, R>(
    workspaceId: Id.WorkspaceId,
    id: string,
    rows: Stream.Stream<Recipient.Row, E, R>,
    end: Exclude<CampaignStep.UploadEnd, "drop">
  ) => Effect.Effect<Campaign.Campaign, InvalidBody | NotFound | Forbidden | StoreError | E, R>
  /** Deletes a campaign that is not started, with its recipients. */
  readonly remove: (workspaceId: Id.WorkspaceId, id: string) => Effect.Effect<void, NotFound | Forbidden | StoreError>
  /**
   * The campaign's rows, in the order of their upload. With a filter, a page looks at 10,000 rows at most, so it may
   * hold fewer than its limit, or none, even if more follow.
   */
  readonly rows: (
    workspaceId: Id.WorkspaceId,
    id: string,
    filter: RowFilter,
    page: Page.PageRequest
  ) => Effect.Effect<Page.Page<CheckedRow>, InvalidBody | NotFound | Forbidden | StoreError>
  /** Why checked rows have a problem, with the first rows of each problem. */
  readonly problems: (
    workspaceId: Id.WorkspaceId,
    id: string
  ) => Effect.Effect<ProblemKind.ProblemReport, NotFound | Forbidden | StoreError>
  /**
   * All rows that the filter selects, in the order of their upload, in pieces. Memory use does not depend on their
   * number.
   */
  readonly allRows: (
    workspaceId: Id.WorkspaceId,
    id: string,
    filter: RowFilter
  ) => Effect.Effect<
    Stream.Stream<ReadonlyArray<CheckedRow>, StoreError>,
    NotFound | Forbidden | StoreError
  >
}

/** The maximum number of reads for one page of a list that leaves campaigns out. */
const furtherReads = 20

/** The operations, restricted to the campaigns of these numbers. */
const bound = (
  operations: Operations,
  sendersOf: (
    workspaceId: Id.WorkspaceId
  ) => Effect.Effect<(from: Campaign.Campaign["from"]) => Id.PhoneNumberId | undefined, StoreError>,
  ids: ReadonlyArray<Id.PhoneNumberId>
): Operations => {
  const judge = Effect.fnUntraced(
    function*(workspaceId: Id.WorkspaceId, from: Campaign.Campaign["from"], param?: string) {
      const senderOf = yield* sendersOf(workspaceId)
      const refusal = Policy.bindingRefusal(ids, senderOf(from), param)
      if (refusal !== undefined) return yield* refusal
    }
  )

  const get: Operations["get"] = (workspaceId, id) =>
    Effect.tap(operations.get(workspaceId, id), (campaign) => judge(workspaceId, Campaign.senderOf(campaign)))

  return {
    get,
    timeline: (workspaceId, id, period) =>
      Effect.andThen(get(workspaceId, id), operations.timeline(workspaceId, id, period)),
    create: (workspaceId, plan) =>
      Effect.andThen(judge(workspaceId, plan.from ?? null, "from"), operations.create(workspaceId, plan)),
    list: Effect.fnUntraced(function*(workspaceId, filter, { after, limit }) {
      const senderOf = yield* sendersOf(workspaceId)
      const items: Array<Campaign.Campaign> = []
      let next = after
      for (let reads = 0; reads < furtherReads; reads++) {
        const page = yield* operations.list(workspaceId, filter, { limit: limit - items.length, after: next })
        items.push(...page.items.filter((campaign) => KeyBinding.maySend(ids, senderOf(Campaign.senderOf(campaign)))))
        next = page.next
        if (next === null || items.length === limit) break
      }
      return { items, next }
    }),
    change: Effect.fnUntraced(function*(workspaceId, id, change) {
      const { from } = yield* get(workspaceId, id)
      if (change._tag === "Edit" && change.plan.from !== undefined) yield* judge(workspaceId, change.plan.from, "from")
      return yield* operations.change(workspaceId, id, change, from)
    }),
    // an upload takes time, in which the campaign's sender may change: check again at its end
    upload: (workspaceId, id, rows, end) =>
      Effect.andThen(
        get(workspaceId, id),
        operations.upload(
          workspaceId,
          id,
          Stream.concat(rows, Stream.drain(Stream.fromEffect(get(workspaceId, id)))),
          end
        )
      ),
    remove: (workspaceId, id) => Effect.andThen(get(workspaceId, id), operations.remove(workspaceId, id)),
    rows: (workspaceId, id, filter, page) =>
      Effect.andThen(get(workspaceId, id), operations.rows(workspaceId, id, filter, page)),
    problems: (workspaceId, id) => Effect.andThen(get(workspaceId, id), operations.problems(workspaceId, id)),
    allRows: (workspaceId, id, filter) =>
      Effect.andThen(get(workspaceId, id), operations.allRows(workspaceId, id, filter))
  }
}

export class Campaigns extends Context.Service<
  Campaigns,
  Operations & {
    /**
     * The operations of an API key that is bound to these numbers; `null` if it is not bound. For a bound key, an
     * operation on a campaign of another number fails with `sender_not_available`, and lists leave such campaigns out.
     * A campaign without `from` belongs to the number with which its recipients were checked, and before that to the
     * workspace's default number.
     */
    readonly boundTo: (phoneNumberIds: KeyBinding.KeyBinding["phoneNumberIds"]) => Operations
  }
>()("@wac/core/campaigns/Campaigns") {
  static readonly layer = Layer.effect(
    Campaigns,
    Effect.gen(function*() {
      const store = yield* CampaignStore
      const numbers = yield* PhoneNumberStore
      const provider = yield* Provider
      const library = yield* SendableMedia
      const random = yield* SecureRandom.SecureRandom
      const rateCard = yield* CurrentRateCard

      const find = <A, E>(text: string, get: (id: Id.CampaignId) => Effect.Effect<Option.Option<A>, E>) =>
        Lookup.find("campaign", Id.parse(Id.CampaignId, text), get)

      const get = (workspaceId: Id.WorkspaceId, text: string) => find(text, (id) => store.get(workspaceId, id))

      /** Fails if a file that the campaign would send to all cannot be sent. A campaign that is on its way finds out. */
      const refuseMissing = Effect.fnUntraced(function*(campaign: Campaign.Campaign) {
        if (!Campaign.waitsForPerson(campaign)) return
        for (const file of Campaign.filesOf(campaign)) {
          const found = yield* Effect.result(library.find(campaign.workspaceId, file.id))
          if (Result.isFailure(found)) {
            if (found.failure._tag === "StoreError") return yield* found.failure
            // a file that cannot be read now may be read when it is sent
            continue
          }
          const refusal = found.success === undefined ? Media.missing(file.param) : Media.refusal(found.success, file)
          if (refusal !== undefined) return yield* refusal
        }
      })

      const operations: Operations = {
        create: Effect.fn("Campaigns.create")(function*(workspaceId, plan) {
          const id = yield* Id.generate(random, "cmp")
          const campaign = Campaign.make({ id, workspaceId, createdAt: yield* Clock.currentTimeMillis }, plan)
          yield* store.create(campaign)
          return campaign
        }),
        list: store.list,
        get,
        timeline: Effect.fn("Campaigns.timeline")(function*(workspaceId, text, period) {
          const { id } = yield* get(workspaceId, text)
          return CampaignTimeline.of(yield* store.timeline(workspaceId, id), period)
        }),
        change: Effect.fn("Campaigns.change")(function*(workspaceId, text, change, onlyFrom) {
          if (change._tag === "Check" || change._tag === "Start" || change._tag === "Resume") {
            yield* refuseMissing(yield* get(workspaceId, text))
          }
          const now = yield* Clock.currentTimeMillis
          const only = onlyFrom === undefined ? {} : { onlyFrom }
          const changed = yield* find(text, (id) => store.change({ workspaceId, id, now, change, rateCard, ...only }))
          const campaign = yield* Effect.fromResult(changed)
          // a repetition of the change repeats this too, if it fails
          const until = Campaign.sendsUntil(campaign, now)
          if (until !== undefined) {
            yield* library.keepUntil(
              workspaceId,
              Campaign.filesOf(campaign).map(({ id }) => id),
              until
            )
          }
          return campaign
        }),
        upload: (workspaceId, text, rows, end) =>
          Effect.gen(function*() {
            const campaign = yield* get(workspaceId, text)
            const { id } = campaign
            if (!Campaign.takesRows(campaign)) return yield* Campaign.misplaced(campaign, "take more recipients")
            const upload = yield* random.ulid
            // each part waits here for the next one, because the last part must say that the upload is complete
            let next: ReadonlyArray<Recipient.Row> | undefined
            let isFirst = true
            let uploaded = 0
            const put = (rows: ReadonlyArray<Recipient.Row>, isLast: boolean) =>
              Effect.gen(function*() {
                uploaded += rows.length
                const refusal = Campaign.rowsRefusal(campaign, uploaded, end)
                if (refusal !== undefined) return yield* refusal
                const part = { workspaceId, id, rows, upload, isFirst, end: isLast ? end : null }
                if (!(yield* store.addRows(part))) {
                  const now = yield* get(workspaceId, text)
                  return yield* Campaign.rowsRefusal(now, uploaded, end) ?? Campaign.misuploaded(now)
                }
                isFirst = false
              })
            const parts = Stream.runForEach(Stream.grouped(rows, batch), (rows) =>
              Effect.suspend(() => {
                const before = next
                next = rows
                return before === undefined ? Effect.void : put(before, false)
              }))
            yield* Effect.onError(
              Effect.andThen(parts, Effect.suspend(() => put(next ?? [], true))),
              () =>
                isFirst
                  ? Effect.void
                  : Effect.ignore(store.addRows({ workspaceId, id, rows: [], upload, isFirst: false, end: "drop" }))
            )
            return yield* get(workspaceId, text)
          }),
        remove: Effect.fn("Campaigns.remove")(function*(workspaceId, text) {
          const campaign = yield* get(workspaceId, text)
          if (!(yield* store.remove(workspaceId, campaign.id))) {
            return yield* Campaign.misplaced(yield* get(workspaceId, text), "be deleted")
          }
        }),
        rows: Effect.fn("Campaigns.rows")(function*(workspaceId, text, filter, page) {
          const campaign = yield* get(workspaceId, text)
          const { id, replaced, rows } = campaign
          const first = page.after === null && filter.outcome === "left_out"
            ? ProblemKind.rowsBefore(campaign, filter.reason)
            : yield* placeOf(page.after, id)
          const isFiltered = Object.values(filter).some((wanted) => wanted !== undefined)
          const last = Math.min(rows, first + (isFiltered ? Page.maxScanned : page.limit))
          const items: Array<CheckedRow> = []
          let reached = first
          while (reached < last && items.length < page.limit) {
            const limit = Math.min(isFiltered ? lookedAtOnce : page.limit, last - reached)
            const found = yield* placed(store.rows(workspaceId, id, { limit, after: replaced + reached }), replaced)
            const selected = found.filter((row) => isSelected(row, filter)).slice(0, page.limit - items.length)
            items.push(...selected)
            // a full page ends at its last row, and the next page begins after that row
            reached = items.length === page.limit ? items.at(-1)!.place : reached + limit
          }
          return { items, next: reached < rows ? `${id}:${reached}` : null }
        }),
        problems: Effect.fn("Campaigns.problems")(function*(workspaceId, text) {
          const campaign = yield* get(workspaceId, text)
          const places = ProblemKind.placesOf(ProblemKind.countedIn(campaign))
          const rows = places.length === 0 ? [] : yield* store.rowsAt(workspaceId, campaign.id, places)
          return ProblemKind.report(campaign, rows)
        }),
        allRows: Effect.fn("Campaigns.allRows")(function*(workspaceId, text, filter) {
          const { id, replaced, rows } = yield* get(workspaceId, text)
          return Stream.paginate(
            0,
            (after) => {
              const limit = Math.min(lookedAtOnce, rows - after)
              return Effect.map(
                placed(store.rows(workspaceId, id, { limit, after: replaced + after }), replaced),
                (found) =>
                  [
                    [found.filter((row) => isSelected(row, filter))],
                    after + limit < rows ? Option.some(after + limit) : Option.none()
                  ] as const
              )
            }
          )
        })
      }
      const sendersOf = (workspaceId: Id.WorkspaceId) =>
        Effect.map(
          numbers.list(workspaceId),
          (all) => (from: Campaign.Campaign["from"]) => PhoneNumber.senderOf(all, provider.name, from ?? undefined)?.id
        )
      return Campaigns.of({
        ...operations,
        boundTo: (ids) => ids === null ? operations : bound(operations, sendersOf, ids)
      })
    })
  )
}
