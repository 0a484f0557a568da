/**
 * Campaigns in every state, and their work.
 */
import { assert } from "@effect/vitest"
import {
  Campaign,
  CampaignCounts,
  type CampaignStep,
  CampaignStore,
  type CampaignWorkStep,
  Capabilities,
  ContactStore,
  CustomerNames,
  type Errors,
  type Id,
  MessageStore,
  type QueueEndStep,
  QueueStore,
  type RateCard,
  Recipient,
  type Template,
  TemplateStore,
  type Time
} from "@wac/core"
import { Effect, Option, Result } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"

const { customer } = MessageFixture

/** Creates a draft of a campaign with the template `order`. */
export const draft = (own: Fixture.World, plan: Partial<Campaign.Plan> = {}, named?: Id.CampaignId) =>
  Effect.gen(function*() {
    const id = named ?? (yield* Fixture.id("cmp"))
    const campaign = Campaign.make({ id, workspaceId: own.workspace.id, createdAt: own.start }, {
      name: "Orders",
      template: { name: "order", language: "en_US", bodyParams: ["{{number}}", "ready"] },
      ...plan
    })
    yield* CampaignStore.CampaignStore.use((store) => store.create(campaign))
    return campaign
  })

/** A row for the `n`th customer. */
export const row = (n: number): Recipient.Row => ({ recipient: { to: customer(n), variables: { number: `${n}` } } })

/** Rows for the first `count` customers. */
export const rows = (count: number): ReadonlyArray<Recipient.Row> => Array.from({ length: count }, (_, n) => row(n))

/** An upload of one part. */
export const whole = { upload: "whole", isFirst: true, end: "add" } as const

/** Adds rows to a campaign, in one part. */
export const add = ({ id, workspaceId }: Campaign.Campaign, added: ReadonlyArray<Recipient.Row>) =>
  CampaignStore.CampaignStore.use((store) => store.addRows({ workspaceId, id, rows: added, ...whole }))

/** A part of an upload. */
export const put = (
  { id, workspaceId }: Campaign.Campaign,
  upload: string,
  rows: ReadonlyArray<Recipient.Row>,
  part: Partial<Pick<CampaignStep.AddRows, "isFirst" | "end">> = {}
) =>
  CampaignStore.CampaignStore.use((store) =>
    store.addRows({ workspaceId, id, rows, upload, isFirst: false, end: null, ...part })
  )

/** A campaign as it is stored. */
export const get = ({ id, workspaceId }: Campaign.Campaign) =>
  Effect.map(CampaignStore.CampaignStore.use((store) => store.get(workspaceId, id)), Option.getOrThrow)

/** Tries to change a campaign. */
export const tried = (
  { id, workspaceId }: Campaign.Campaign,
  now: Time.Instant,
  change: CampaignStep.Change["change"]
): Fixture.Step<Result.Result<Campaign.Campaign, Errors.Forbidden>> =>
  Effect.map(
    CampaignStore.CampaignStore.use((store) => store.change({ workspaceId, id, now, change })),
    Option.getOrThrow
  )

/** Changes a campaign. */
export const changed = (...given: Parameters<typeof tried>) => Effect.map(tried(...given), Result.getOrThrow)

/** The maximum number of recipients in one piece of work. */
export const limit = 50

/** The prices of the tests' customers, who are in the United States. */
export const rateCard: RateCard.RateCard = [
  { market: "US", category: "utility", currency: "USD", price: 4_000, validFrom: 0 },
  { market: "US", category: "marketing", currency: "USD", price: 25_000, validFrom: 0 }
]

/** One piece of work; `undefined` if no campaign is due. */
export const work = (own: Fixture.World, now: Time.Instant, most = limit, given: Partial<CampaignWorkStep.Work> = {}) =>
  Effect.gen(function*() {
    const command: CampaignWorkStep.Work = {
      now,
      limit: most,
      limits: Fixture.roomy,
      rateCard,
      provider: own.number.provider,
      capabilities: Capabilities.all,
      messageIds: yield* Effect.replicateEffect(Fixture.id("msg"), most),
      hashes: {},
      hashedFor: own.workspace.id,
      ids: yield* Fixture.eventIds,
      ...given
    }
    const ask = (hashes: CampaignWorkStep.Work["hashes"]) =>
      Effect.map(
        CampaignStore.CampaignStore.use((store) => store.work({ ...command, hashes })),
        Option.getOrUndefined
      )
    const worked = yield* ask({})
    return worked === undefined || worked.unhashed.length === 0
      ? worked
      : yield* ask(MessageFixture.hashesOf(...worked.unhashed.map(CustomerNames.customerOf)))
  })

/** Works until no campaign is due at this time. Returns the recipients that were handed out. */
export const workAll = (own: Fixture.World, now: Time.Instant, most = limit) =>
  Effect.gen(function*() {
    const claimed: Array<CampaignWorkStep.Claimed> = []
    for (let pieces = 0;; pieces++) {
      assert.isBelow(pieces, 500, "work never ends")
      const worked = yield* work(own, now, most)
      if (worked === undefined) return claimed
      claimed.push(...worked.claimed)
    }
  })

/** A checked campaign with this many recipients. */
export const ready = (own: Fixture.World, count: number, plan: Partial<Campaign.Plan> = {}) =>
  Effect.gen(function*() {
    const campaign = yield* draft(own, plan)
    assert.isTrue(yield* add(campaign, rows(count)))
    yield* changed(campaign, own.start, { _tag: "Check" })
    yield* workAll(own, own.start)
    const checked = yield* get(campaign)
    assert.strictEqual(checked.status, "ready")
    return checked
  })

/** A started campaign with this many recipients. */
export const running = (own: Fixture.World, count: number, plan: Partial<Campaign.Plan> = {}) =>
  Effect.tap(ready(own, count, plan), (campaign) => changed(campaign, own.start, { _tag: "Start" }))

/** The command to accept a recipient's message. */
export const sendOf = (own: Fixture.World, { message }: Pick<CampaignWorkStep.Claimed, "message">, now: Time.Instant) =>
  MessageFixture.sendCommand(own, {
    now,
    apiKeyId: null,
    queue: { campaignId: message.campaignId! },
    route: Recipient.routeOf(message.campaignId!),
    key: message.content.to,
    fingerprint: Recipient.fingerprint,
    message: message.content
  })

/** Accepts a recipient's message, which must be claimed. */
export const claim = (own: Fixture.World, recipient: CampaignWorkStep.Claimed, now: Time.Instant) =>
  Effect.gen(function*() {
    const command = yield* sendOf(own, recipient, now)
    const accepted = yield* MessageStore.MessageStore.use((store) => store.accept(command))
    if (accepted._tag !== "Claimed") return assert.fail(`expected a claim, got ${MessageFixture.describe(accepted)}`)
    return { accepted, command: { ...command, messageId: recipient.message.id, claimed: accepted.message } }
  })

/** Sends to a recipient; the provider accepts the message. */
export const sent = (own: Fixture.World, recipient: CampaignWorkStep.Claimed, now: Time.Instant) =>
  Effect.gen(function*() {
    const { command } = yield* claim(own, recipient, now)
    assert.isTrue(yield* MessageFixture.settle(command, yield* MessageFixture.acceptedOutcome, now))
    return command
  })

/** Ends a recipient without a send. */
export const ended = (
  { message: { id: messageId } }: CampaignWorkStep.Claimed,
  now: Time.Instant,
  end: QueueEndStep.QueueEnd
) =>
  QueueStore.QueueStore.use((store) =>
    store.end({ now, messageId, phoneNumberId: null, end, ids: { events: [], deliveries: [] } })
  )

/** Counts that are 0 unless given. */
export const counts = (given: Partial<CampaignCounts.CampaignCounts>): CampaignCounts.CampaignCounts => ({
  ...CampaignCounts.none,
  ...given
})

/** The events of completed campaigns. */
export const completions = (own: Fixture.World) =>
  Effect.map(MessageFixture.eventsOf(own), (events) => events.filter(({ type }) => type === "campaign.completed"))

/** A message as it is stored. */
export const stored = (own: Fixture.World, id: Id.MessageId) =>
  Effect.map(MessageStore.MessageStore.use((store) => store.get(own.workspace.id, id)), Option.getOrThrow)

/** Applies a provider report about a template. */
export const told = (own: Fixture.World, name: string, change: Template.TemplateChange, at: Time.Instant) =>
  TemplateStore.TemplateStore.use((store) =>
    store.update({
      now: at,
      providerAccountId: own.number.providerAccountId,
      name,
      language: "en_US",
      at,
      change
    })
  )

/** The `n`th customer's user id. */
export const userId = (n: number) => `US.${n}3491208655302741918`

/** A row for the customer with this name. */
export const named = (to: string): Recipient.Row => ({ recipient: { to, variables: { number: to } } })

/** Reports both names of the `n`th customer without opening a window. */
export const link = (own: Fixture.World, n: number) =>
  ContactStore.ContactStore.use((store) =>
    store.setPreference({
      now: own.start,
      providerNumberId: own.number.providerNumberId,
      hashes: MessageFixture.hashesOf({ phone: customer(n), userId: userId(n) }),
      customer: { phone: customer(n), userId: userId(n) },
      preference: "opt_in",
      at: own.start
    })
  )

/** The problem of each row, or the recipient of its message. */
export const reportOf = ({ id, workspaceId }: Campaign.Campaign) =>
  Effect.map(
    CampaignStore.CampaignStore.use((store) => store.rows(workspaceId, id, { limit: 100, after: 0 })),
    (report) => report.map(({ message, problem }) => [problem?.reason, message?.content.to])
  )
