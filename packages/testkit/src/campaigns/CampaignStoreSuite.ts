/**
 * Conformance of `CampaignStore`, with `MessageStore` for its messages.
 */
import { assert } from "@effect/vitest"
import {
  Campaign,
  CampaignCounts,
  type CampaignRecipientStep,
  type CampaignStep,
  CampaignStore,
  CampaignTally,
  CampaignWorkStep,
  CheckedRow,
  Comparison,
  type ContactStep,
  ContactStore,
  CustomerNames,
  CustomerRecords,
  CustomerStore,
  type Errors,
  FailureRate,
  Id,
  Message,
  MessageStore,
  Pace,
  PhoneNumberStore,
  type RateCard,
  Recipient,
  Split,
  type Template,
  TemplateStore,
  type Time,
  Variant
} from "@wac/core"
import { Duration, Effect, Option, Result } from "effect"
import * as Fixture from "../Fixture.ts"
import * as Forgetting from "../Forgetting.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"

const { hour, minute, second, world } = Fixture
const { customer } = MessageFixture

/** Creates a draft of a campaign with the template `order`. */
const draft = (own: Fixture.World, plan: Partial<Campaign.Plan> = {}, named?: Id.CampaignId) =>
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
const row = (n: number): Recipient.Row => ({ recipient: { to: customer(n), variables: { number: `${n}` } } })

const rows = (count: number): ReadonlyArray<Recipient.Row> => Array.from({ length: count }, (_, n) => row(n))

/** An upload of one part. */
const whole = { upload: "whole", isFirst: true, end: "add" } as const

const add = ({ id, workspaceId }: Campaign.Campaign, added: ReadonlyArray<Recipient.Row>) =>
  CampaignStore.CampaignStore.use((store) => store.addRows({ workspaceId, id, rows: added, ...whole }))

/** A part of an upload. */
const put = (
  { id, workspaceId }: Campaign.Campaign,
  upload: string,
  rows: ReadonlyArray<Recipient.Row>,
  part: Partial<Pick<CampaignStep.AddRows, "isFirst" | "end">> = {}
) =>
  CampaignStore.CampaignStore.use((store) =>
    store.addRows({ workspaceId, id, rows, upload, isFirst: false, end: null, ...part })
  )

const get = ({ id, workspaceId }: Campaign.Campaign) =>
  Effect.map(CampaignStore.CampaignStore.use((store) => store.get(workspaceId, id)), Option.getOrThrow)

/** Tries to change a campaign. */
const tried = (
  { id, workspaceId }: Campaign.Campaign,
  now: Time.Instant,
  change: CampaignStep.Change["change"]
): Fixture.Step<Result.Result<Campaign.Campaign, Errors.Forbidden>> =>
  Effect.map(
    CampaignStore.CampaignStore.use((store) => store.change({ workspaceId, id, now, change })),
    Option.getOrThrow
  )

const changed = (...given: Parameters<typeof tried>) => Effect.map(tried(...given), Result.getOrThrow)

const limit = 50

/** What the tests' customers cost, who are in the United States. */
const rateCard: RateCard.RateCard = [
  { market: "US", category: "utility", currency: "USD", price: 4_000, validFrom: 0 },
  { market: "US", category: "marketing", currency: "USD", price: 25_000, validFrom: 0 }
]

/** One piece of work; `undefined` if no campaign is due. */
const work = (own: Fixture.World, now: Time.Instant, most = limit) =>
  Effect.gen(function*() {
    const command: CampaignWorkStep.Work = {
      now,
      limit: most,
      limits: Fixture.roomy,
      rateCard,
      provider: own.number.provider,
      messageIds: yield* Effect.replicateEffect(Fixture.id("msg"), most),
      hashes: {},
      ids: yield* Fixture.eventIds
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
const workAll = (own: Fixture.World, now: Time.Instant, most = limit) =>
  Effect.gen(function*() {
    const claimed: Array<CampaignWorkStep.Claimed> = []
    for (let pieces = 0;; pieces++) {
      assert.isBelow(pieces, 500, "work never ends")
      const worked = yield* work(own, now, most)
      if (worked === undefined) return claimed
      claimed.push(...worked.claimed)
    }
  })

/** A checked campaign with as many recipients. */
const ready = (own: Fixture.World, count: number, plan: Partial<Campaign.Plan> = {}) =>
  Effect.gen(function*() {
    const campaign = yield* draft(own, plan)
    assert.isTrue(yield* add(campaign, rows(count)))
    yield* changed(campaign, own.start, { _tag: "Check" })
    yield* workAll(own, own.start)
    const checked = yield* get(campaign)
    assert.strictEqual(checked.status, "ready")
    return checked
  })

/** A campaign that has begun to send to as many recipients. */
const running = (own: Fixture.World, count: number, plan: Partial<Campaign.Plan> = {}) =>
  Effect.tap(ready(own, count, plan), (campaign) => changed(campaign, own.start, { _tag: "Start" }))

/** The command to accept a recipient's message. */
const sendOf = (own: Fixture.World, { message }: Pick<CampaignWorkStep.Claimed, "message">, now: Time.Instant) =>
  MessageFixture.send(own, {
    now,
    apiKeyId: null,
    campaignId: message.campaignId!,
    route: Recipient.routeOf(message.campaignId!),
    key: message.content.to,
    fingerprint: Recipient.fingerprint,
    message: message.content
  })

/** Accepts a recipient's message, which must be claimed. */
const claim = (own: Fixture.World, recipient: CampaignWorkStep.Claimed, now: Time.Instant) =>
  Effect.gen(function*() {
    const command = yield* sendOf(own, recipient, now)
    const accepted = yield* MessageStore.MessageStore.use((store) => store.accept(command))
    if (accepted._tag !== "Claimed") return assert.fail(`expected a claim, got ${MessageFixture.describe(accepted)}`)
    return { accepted, command: { ...command, messageId: recipient.message.id, claimed: accepted.message } }
  })

/** Sends to a recipient, whom the provider accepts. */
const sent = (own: Fixture.World, recipient: CampaignWorkStep.Claimed, now: Time.Instant) =>
  Effect.gen(function*() {
    const { command } = yield* claim(own, recipient, now)
    assert.isTrue(yield* MessageFixture.settle(command, yield* MessageFixture.tookIt, now))
    return command
  })

const ended = (
  { message: { id: messageId } }: CampaignWorkStep.Claimed,
  now: Time.Instant,
  end: CampaignRecipientStep.RecipientEnd
) => CampaignStore.CampaignStore.use((store) => store.end({ now, messageId, end }))

const counts = (given: Partial<CampaignCounts.CampaignCounts>): CampaignCounts.CampaignCounts => ({
  ...CampaignCounts.none,
  ...given
})

const completions = (own: Fixture.World) =>
  Effect.map(MessageFixture.eventsOf(own), (events) => events.filter(({ type }) => type === "campaign.completed"))

const stored = (own: Fixture.World, id: Id.MessageId) =>
  Effect.map(MessageStore.MessageStore.use((store) => store.get(own.workspace.id, id)), Option.getOrThrow)

/** The provider changes a template. */
const told = (own: Fixture.World, name: string, change: Template.TemplateChange, at: Time.Instant) =>
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
const userId = (n: number) => `US.${n}3491208655302741918`

/** A row for a customer who is named so. */
const named = (to: string): Recipient.Row => ({ recipient: { to, variables: { number: to } } })

/** Reports both names of the `n`th customer without opening a window. */
const link = (own: Fixture.World, n: number) =>
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
const reportOf = ({ id, workspaceId }: Campaign.Campaign) =>
  Effect.map(
    CampaignStore.CampaignStore.use((store) => store.rows(workspaceId, id, { limit: 100, after: 0 })),
    (report) => report.map(({ message, problem }) => [problem?.reason, message?.content.to])
  )

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a campaign is found by its workspace, newest first, and by no other", () =>
    Effect.gen(function*() {
      const store = yield* CampaignStore.CampaignStore
      const [own, other] = [yield* world(), yield* world()]
      const [first, second] = [
        yield* draft(own),
        yield* draft(own, { name: "Second", share: 0.1, from: own.number.id })
      ]
      assert.deepStrictEqual(yield* get(second), second)
      assert.deepStrictEqual(yield* store.get(other.workspace.id, first.id), Option.none())
      const page = yield* store.list(own.workspace.id, { limit: 1, after: null })
      assert.deepStrictEqual(page, { items: [second], next: second.id })
      assert.deepStrictEqual(yield* store.list(own.workspace.id, { limit: 1, after: page.next }), {
        items: [first],
        next: null
      })
      assert.deepStrictEqual((yield* store.list(other.workspace.id, { limit: 1, after: null })).items, [])
      const foreign = { workspaceId: other.workspace.id, id: first.id, now: own.start }
      assert.isTrue(Option.isNone(yield* store.change({ ...foreign, change: { _tag: "Cancel" } })))
      assert.isFalse(yield* store.addRows({ ...foreign, ...whole, rows: rows(1) }))
      assert.isFalse(yield* store.remove(other.workspace.id, first.id))
      assert.deepStrictEqual(yield* get(first), first)
    }))

  it.effect("a change that is meant for a campaign of one sender leaves a campaign of another as it is", () =>
    Effect.gen(function*() {
      const store = yield* CampaignStore.CampaignStore
      const own = yield* world()
      const [ofDefault, named] = [yield* draft(own), yield* draft(own, { from: own.number.id })]
      const rename = (campaign: Campaign.Campaign, onlyFrom: string | null) =>
        Effect.map(
          store.change({
            workspaceId: own.workspace.id,
            id: campaign.id,
            now: own.start,
            onlyFrom,
            change: { _tag: "Edit", plan: { name: "Renamed" } }
          }),
          Option.getOrThrow
        )
      for (const [campaign, other] of [[ofDefault, own.number.id], [named, null]] as const) {
        const refused = yield* rename(campaign, other)
        assert(Result.isFailure(refused))
        assert.strictEqual(refused.failure.reason, "campaign_state")
        assert.deepStrictEqual(yield* get(campaign), campaign)
        assert.isTrue(Result.isSuccess(yield* rename(campaign, campaign.from)))
        assert.strictEqual((yield* get(campaign)).name, "Renamed")
      }
    }))

  it.effect("the parts of an upload count together once it has ended, and not at all if it is dropped", () =>
    Effect.gen(function*() {
      const store = yield* CampaignStore.CampaignStore
      const own = yield* world()
      const campaign = yield* draft(own)
      const all = () => store.rows(own.workspace.id, campaign.id, { limit: 100, after: 0 })
      const parts = (upload: string, end: CampaignStep.UploadEnd) =>
        Effect.gen(function*() {
          assert.isTrue(yield* put(campaign, upload, [row(1), row(2)], { isFirst: true }))
          assert.isTrue(yield* put(campaign, upload, [row(3)]))
          return yield* put(campaign, upload, end === "drop" ? [] : [row(4)], { end })
        })
      assert.isTrue(yield* parts("dropped", "drop"))
      assert.deepStrictEqual(yield* get(campaign), campaign)
      assert.deepStrictEqual(yield* all(), [])
      assert.isFalse(yield* put(campaign, "dropped", [row(1)]))
      assert.isFalse(yield* put(campaign, "dropped", [], { end: "drop" }))

      assert.isTrue(yield* parts("added", "add"))
      assert.deepStrictEqual(yield* get(campaign), { ...campaign, rows: 4 })
      // one that goes on is not checked with the others
      assert.isTrue(yield* put(campaign, "open", [row(8), row(9)], { isFirst: true }))
      yield* changed(campaign, own.start, { _tag: "Check" })
      assert.isFalse(yield* put(campaign, "open", [row(5)]))
      yield* workAll(own, own.start, 3)
      assert.deepInclude(yield* get(campaign), { status: "ready", rows: 4, checked: 4, problems: 0 })
      assert.strictEqual((yield* get(campaign)).counts.queued, 4)
      // another one ends it
      assert.isTrue(yield* add(campaign, [row(6)]))
      assert.isFalse(yield* put(campaign, "open", [row(5)]))
      assert.deepStrictEqual((yield* all()).map(({ place, value }) => [place, value]), [
        [1, customer(1)],
        [2, customer(2)],
        [3, customer(3)],
        [4, customer(4)],
        [5, customer(6)]
      ])
    }))

  it.effect("a file replaces all rows of a campaign with what checking made of them, whatever its parts", () =>
    Effect.gen(function*() {
      const store = yield* CampaignStore.CampaignStore
      const messages = yield* MessageStore.MessageStore
      const own = yield* world()
      const checked = yield* ready(own, 3)
      const before = yield* store.rows(own.workspace.id, checked.id, { limit: 100, after: 0 })
      assert.isTrue(yield* put(checked, "file", [row(2), row(5)], { isFirst: true }))
      // nothing happens before it is complete
      assert.deepStrictEqual(yield* get(checked), { ...checked, upload: { id: "file", rows: 2 } })
      assert.isTrue(yield* put(checked, "file", [row(2)], { end: "replace" }))
      const replaced = yield* get(checked)
      assert.deepStrictEqual(replaced, {
        ...checked,
        ...Campaign.make(checked, checked),
        rows: 3,
        replaced: 3
      })
      for (const { message } of before) {
        assert.deepStrictEqual(yield* messages.get(own.workspace.id, message!.id), Option.none())
      }
      // its template may change again
      yield* changed(checked, own.start, { _tag: "Edit", plan: { name: "Others", templateB: null } })
      yield* changed(checked, own.start, { _tag: "Check" })
      yield* workAll(own, own.start, 2)
      const again = yield* get(checked)
      assert.deepInclude(again, { status: "ready", rows: 3, checked: 3, problems: 1, replaced: 3 })
      assert.deepInclude(again.counts, { queued: 2 })
      const rows = yield* store.rows(own.workspace.id, checked.id, { limit: 100, after: 3 })
      assert.deepStrictEqual(rows.map(({ place, problem, value }) => [place, value, problem?.reason]), [
        [4, customer(2), undefined],
        [5, customer(5), undefined],
        [6, customer(2), "duplicate"]
      ])
      yield* changed(checked, own.start, { _tag: "Start" })
      assert.lengthOf(yield* workAll(own, own.start + minute), 2)
      assert.isFalse(yield* put(checked, "late", [row(1)], { isFirst: true, end: "replace" }))
    }))

  it.effect("another template makes a checked campaign a draft again, whose rows are checked anew", () =>
    Effect.gen(function*() {
      const store = yield* CampaignStore.CampaignStore
      const messages = yield* MessageStore.MessageStore
      const own = yield* world()
      const checked = yield* ready(own, 3)
      assert.isTrue(yield* add(checked, [row(1)]))
      yield* changed(checked, own.start, { _tag: "Check" })
      yield* workAll(own, own.start)
      const all = () => store.rows(own.workspace.id, checked.id, { limit: 100, after: 0 })
      const before = yield* all()
      assert.deepInclude(yield* get(checked), { status: "ready", problems: 1 })
      const template = { ...checked.template, bodyParams: ["{{number}}", "sent"] }
      const edited = yield* changed(checked, own.start, { _tag: "Edit", plan: { name: "Parcels", template } })
      assert.deepStrictEqual(yield* get(checked), edited)
      assert.deepStrictEqual(edited, { ...Campaign.make(checked, { ...checked, name: "Parcels", template }), rows: 4 })
      for (const { message } of before.slice(0, 3)) {
        assert.deepStrictEqual(yield* messages.get(own.workspace.id, message!.id), Option.none())
      }
      assert.isTrue((yield* all()).every(({ message, problem }) => message === null && problem === null))
      yield* changed(checked, own.start, { _tag: "Check" })
      yield* workAll(own, own.start)
      assert.deepInclude(yield* get(checked), { status: "ready", checked: 4, problems: 1 })
      const [first] = yield* all()
      assert.deepInclude(first!.message!.content, { template: { ...template, bodyParams: ["0", "sent"] } })
    }))

  it.effect("two rows that name one line in two forms are one customer, and the row keeps what its file says", () =>
    Effect.gen(function*() {
      const store = yield* CampaignStore.CampaignStore
      const own = yield* world()
      const campaign = yield* draft(own)
      const file = ["+44 7123 456789", "+44 (0)7123 456789", "+52 55 1234 5678", "5215512345678", "0052 1 55 1234 5678"]
      const variables = { number: "1" }
      assert.isTrue(
        yield* add(
          campaign,
          file.map((to, i) => Recipient.parseWritten({ to, variables }, { line: i + 2, country: "MX" }))
        )
      )
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* workAll(own, own.start, 2)
      const rows = yield* store.rows(own.workspace.id, campaign.id, { limit: 100, after: 0 })
      assert.deepStrictEqual(rows.map(({ line, problem, value }) => [line, value, problem?.reason]), [
        [2, file[0], undefined],
        [3, file[1], "duplicate"],
        [4, file[2], undefined],
        [5, file[3], "duplicate"],
        [6, file[4], "duplicate"]
      ])
    }))

  it.effect("checking queues one message to each customer and says what is wrong with every other row", () =>
    Effect.gen(function*() {
      const store = yield* CampaignStore.CampaignStore
      const contacts = yield* ContactStore.ContactStore
      const own = yield* world()
      const campaign = yield* draft(own, {
        template: { name: "promo", language: "en_US", bodyParams: ["{{number}}"] }
      })
      const optedOut = customer(7)
      yield* contacts.setPreference({
        now: own.start,
        providerNumberId: own.number.providerNumberId,
        hashes: MessageFixture.hashesOf({ phone: optedOut, userId: null }),
        customer: { phone: optedOut, userId: null },
        preference: "opt_out",
        at: own.start
      })
      const malformed: Recipient.Row = { problem: { reason: "malformed", message: "the line is not JSON" } }
      assert.isTrue(yield* add(campaign, [row(1), malformed, row(2), row(1), { recipient: { to: customer(3) } }]))
      assert.isTrue(
        yield* add(campaign, [
          row(7),
          row(2),
          { recipient: { to: customer(4), bodyParams: ["two", "values"] } },
          { recipient: { to: customer(5), bodyParams: ["own"] } }
        ])
      )
      assert.strictEqual((yield* get(campaign)).rows, 9)
      yield* changed(campaign, own.start, { _tag: "Check" })
      // in pieces: an earlier row may be in an earlier piece
      yield* workAll(own, own.start, 2)
      const checked = yield* get(campaign)
      assert.deepInclude(checked, {
        status: "ready",
        rows: 9,
        checked: 9,
        problems: 6,
        counts: counts({ queued: 3 })
      })
      const report = yield* store.rows(own.workspace.id, campaign.id, { limit: 100, after: 0 })
      assert.deepStrictEqual(
        report.map(({ message, place, problem }) => [place, problem?.reason, message?.content.to]),
        [
          [1, undefined, customer(1)],
          [2, "malformed", undefined],
          [3, undefined, customer(2)],
          [4, "duplicate", undefined],
          [5, "template_params_mismatch", undefined],
          [6, "opted_out", undefined],
          [7, "duplicate", undefined],
          [8, "template_params_mismatch", undefined],
          [9, undefined, customer(5)]
        ]
      )
      const { message } = report[0]!
      assert.deepStrictEqual(message, {
        ...message!,
        workspaceId: own.workspace.id,
        apiKeyId: null,
        campaignId: campaign.id,
        phoneNumberId: own.number.id,
        from: own.number.phoneNumber,
        status: "queued",
        content: {
          type: "template",
          to: customer(1),
          template: { name: "promo", language: "en_US", bodyParams: ["1"] }
        }
      })
      assert.deepStrictEqual(yield* stored(own, message!.id), message!)
      const later = yield* store.rows(own.workspace.id, campaign.id, { limit: 4, after: 2 })
      assert.deepStrictEqual(later.map(({ place }) => place), [3, 4, 5, 6])
    }))

  it.effect("checking reports customers who have opted out without a contact, by every form of their names", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* Fixture.phoneNumber(own.workspace.id, {
        providerAccountId: own.number.providerAccountId,
        isDefault: false
      })
      yield* PhoneNumberStore.PhoneNumberStore.use((store) => store.add(other))
      const choose = (name: string, options: Partial<ContactStep.Choose> = {}) =>
        ContactStore.ContactStore.use((store) =>
          store.choose({
            now: own.start,
            workspaceId: own.workspace.id,
            phoneNumberId: null,
            name: CustomerNames.keyOf(name),
            hashes: MessageFixture.hashesOf(CustomerNames.customerOf(name)),
            preference: "opt_out",
            source: "import",
            ...options
          })
        )
      // nothing is done, and nothing is lost, while names have no hashes
      const before = yield* draft(own, { template: { name: "promo", language: "en_US", bodyParams: ["x"] } })
      yield* choose("+551187654321")
      yield* choose("US.1")
      yield* choose(customer(2), { phoneNumberId: other.id })
      yield* choose(customer(3))
      yield* choose(customer(3), { phoneNumberId: own.number.id, preference: "opt_in" })
      yield* choose(customer(4), { phoneNumberId: own.number.id })
      yield* choose(customer(5))
      // whoever has written START since is opted in
      yield* MessageFixture.inbound(own, {
        customer: customer(5),
        at: own.start + second,
        now: own.start + second,
        content: { type: "text", content: { body: "START" } }
      })
      const names = ["+5511987654321", "US.1", ...[1, 2, 3, 4, 5].map(customer)]
      assert.isTrue(yield* add(before, names.map((to) => ({ recipient: { to } }))))
      yield* changed(before, own.start + second, { _tag: "Check" })
      yield* workAll(own, own.start + second, 3)
      assert.deepInclude(yield* get(before), {
        status: "ready",
        checked: 7,
        problems: 3,
        counts: counts({ queued: 4 })
      })
      const reasonsOf = (campaign: Campaign.Campaign) =>
        Effect.map(
          CampaignStore.CampaignStore.use((store) =>
            store.rows(own.workspace.id, campaign.id, { limit: 100, after: 0 })
          ),
          (report) => report.map(({ problem }) => problem?.reason)
        )
      assert.deepStrictEqual(yield* reasonsOf(before), [
        "opted_out",
        "opted_out",
        undefined,
        undefined,
        undefined,
        "opted_out",
        undefined
      ])
      // what is no marketing goes to all of them
      const utility = yield* draft(own, { template: { name: "order", language: "en_US", bodyParams: ["1", "x"] } })
      assert.isTrue(yield* add(utility, names.map((to) => ({ recipient: { to } }))))
      yield* changed(utility, own.start + second, { _tag: "Check" })
      yield* workAll(own, own.start + second)
      assert.deepInclude(yield* get(utility), { status: "ready", problems: 0, counts: counts({ queued: 7 }) })
    }))

  it.effect("rows are not checked before the opt-outs of their names are known", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const store = yield* CampaignStore.CampaignStore
      const contacts = yield* ContactStore.ContactStore
      const campaign = yield* draft(own, { template: { name: "promo", language: "en_US", bodyParams: ["x"] } })
      assert.isTrue(yield* add(campaign, [1, 2].map((n) => ({ recipient: { to: customer(n) } }))))
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* contacts.choose({
        now: own.start,
        workspaceId: own.workspace.id,
        phoneNumberId: null,
        name: customer(2),
        hashes: MessageFixture.hashesOf(MessageFixture.named(customer(2))),
        preference: "opt_out",
        source: "api"
      })
      const command = {
        now: own.start,
        limit,
        limits: Fixture.roomy,
        rateCard,
        provider: own.number.provider,
        messageIds: yield* Effect.replicateEffect(Fixture.id("msg"), 10),
        hashes: {},
        ids: yield* Fixture.eventIds
      }
      const asked = Option.getOrThrow(yield* store.work(command))
      assert.deepStrictEqual([asked.unhashed, asked.claimed], [[customer(1), customer(2)], []])
      const some = { ...command, hashes: MessageFixture.hashesOf(MessageFixture.named(customer(1))) }
      assert.deepStrictEqual(Option.getOrThrow(yield* store.work(some)).unhashed, [customer(2)])
      assert.deepInclude(yield* get(campaign), { status: "checking", checked: 0 })
      yield* workAll(own, own.start)
      assert.deepInclude(yield* get(campaign), { status: "ready", checked: 2, problems: 1 })
    }))

  it.effect("rows that are added to a ready campaign are checked before it starts", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* ready(own, 2)
      assert.isTrue(yield* add(campaign, [row(1), row(2), row(3)]))
      const start = yield* tried(campaign, own.start, { _tag: "Start" })
      assert.isTrue(Result.isFailure(start))
      yield* changed(campaign, own.start, { _tag: "Check" })
      assert.isFalse(yield* add(campaign, rows(1)))
      yield* workAll(own, own.start)
      assert.deepInclude(yield* get(campaign), { status: "ready", rows: 5, checked: 5, problems: 1 })
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ queued: 4 }))
    }))

  it.effect("a campaign whose template is not approved stays a draft and says why", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* draft(own, { template: { name: "stopped", language: "en_US" } })
      yield* add(campaign, rows(1))
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* workAll(own, own.start)
      assert.deepInclude(yield* get(campaign), {
        status: "draft",
        pausedFor: "template_not_approved",
        checked: 0,
        counts: CampaignCounts.none
      })
    }))

  it.effect("recipients are handed out at the pace of the share, each once until its lease ends", () =>
    Effect.gen(function*() {
      const own = yield* world({ number: { tier: "standard" } })
      const campaign = yield* running(own, 100, { share: 0.5 })
      const inHorizon = 40 * Duration.toSeconds(Pace.horizon)
      const first = yield* workAll(own, own.start)
      assert.strictEqual(first.length, inHorizon)
      assert.deepStrictEqual(first.map(({ slot }) => slot), first.map((_, i) => own.start + i * 25))
      const again = yield* workAll(own, own.start + 100)
      assert.deepStrictEqual(again, [])
      const next = yield* workAll(own, own.start + 250)
      assert.deepStrictEqual(next.map(({ slot }) => slot), next.map((_, i) => own.start + 500 + i * 25))
      const seen = new Set([...first, ...next].map(({ message }) => message.id))
      assert.strictEqual(seen.size, first.length + next.length)
      // nobody sent anything: they are handed out again, the longest waiting first
      let now = own.start + 250 + Duration.toMillis(CampaignWorkStep.lease)
      while (seen.size < 100 && now < own.start + 3 * minute) {
        for (const { message } of yield* workAll(own, now += 500)) seen.add(message.id)
      }
      assert.strictEqual(seen.size, 100)
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ queued: 100 }))
    }))

  it.effect("a recipient leaves the queue with its outcome, in the same step, and so does one that the sweep ends", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* running(own, 6)
      const claimed = yield* workAll(own, own.start)
      const [taken, refused, unknown, silent, unsent, delivered] = claimed
      const commands = yield* Effect.forEach(claimed, (recipient) => claim(own, recipient, own.start))
      const ends: ReadonlyArray<readonly [CampaignWorkStep.Claimed | undefined, MessageStore.SendEnd]> = [
        [taken, yield* MessageFixture.tookIt],
        [refused, yield* MessageFixture.refusedIt(own.start)],
        [unknown, { _tag: "Unknown" }],
        [unsent, yield* MessageFixture.notSent]
      ]
      // in one batch, of which only some leave the queue
      yield* Effect.forEach(ends, ([recipient, end]) =>
        Effect.map(
          MessageFixture.settle(commands[claimed.indexOf(recipient!)]!.command, end, own.start),
          (isSettled) => assert.isTrue(isSettled)
        ), { concurrency: "unbounded" })
      yield* MessageFixture.report({ status: "delivered", at: own.start, reference: delivered!.message.id })
      yield* MessageStore.MessageStore.use((store) => store.sweep(own.start + minute))
      const again = yield* workAll(own, own.start + Duration.toMillis(CampaignWorkStep.lease))
      assert.deepStrictEqual(again.map(({ message }) => message.id), [unsent!.message.id])
      assert.strictEqual((yield* stored(own, silent!.message.id)).status, "unknown")
      assert.deepStrictEqual(
        (yield* get(campaign)).counts,
        counts({ sent: 1, failed: 1, unknown: 2, queued: 1, delivered: 1 })
      )
    }))

  it.effect("the forecast of a checked campaign counts its messages and the customers outside a window", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* draft(own, { share: 0.5, holdout: 0.2 })
      yield* add(campaign, rows(50))
      yield* MessageFixture.inbound(own, { customer: customer(1), at: own.start })
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* work(own, own.start, 20)
      assert.isNull((yield* get(campaign)).forecast)
      yield* workAll(own, own.start, 20)
      const { forecast, limitedCustomers } = yield* get(campaign)
      const reached = rows(50).filter((row) => !Split.isIn(0.2, "holdout", campaign.id, Recipient.customerOf(row)!))
      const isReached = reached.some((row) => Recipient.customerOf(row) === Recipient.customerOf(rows(2)[1]!))
      assert.strictEqual(limitedCustomers, reached.length - (isReached ? 1 : 0))
      assert.deepInclude(forecast, { messages: reached.length, limitedCustomers, messagingLimit: null, days: 1 })
      // a utility message to the customer who wrote is free
      const [charged, free] = forecast!.lines
      assert.deepInclude(charged, { market: "US", category: "utility", billable: true, messages: limitedCustomers })
      assert.strictEqual(free?.messages, isReached ? 1 : undefined)
      assert.strictEqual(free?.cost ?? null, null)
      assert.deepStrictEqual(
        forecast!.costs.map(({ amount, currency }) => [currency, Number(amount)]),
        [["USD", (limitedCustomers * 4) / 1000]]
      )
    }))

  it.effect("a contact gets no more marketing templates of campaigns than the cap allows, and API sends count too", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const limits = { ...Fixture.roomy, frequencyCap: { messages: 2, days: 7 } }
      const promo = { name: "promo", language: "en_US", bodyParams: ["{{number}}"] }
      const at = own.start
      const by = (now: Time.Instant) => (command: Effect.Success<ReturnType<typeof sendOf>>) =>
        store.accept({ ...command, now, limits })
      const marketing = (n: number) => MessageFixture.template({ to: customer(n), name: "promo", bodyParams: ["x"] })
      // a program writes to the first customer twice, and to the second one once
      for (const n of [1, 1, 2]) {
        const command = yield* MessageFixture.send(own, { now: at, message: marketing(n), limits })
        assert.strictEqual((yield* store.accept(command))._tag, "Claimed")
      }
      yield* running(own, 4, { template: promo })
      const claimed = yield* workAll(own, at)
      const tags = Effect.fnUntraced(function*(now: Time.Instant) {
        const found: Record<string, string> = {}
        for (const recipient of claimed) {
          const command = yield* sendOf(own, recipient, now)
          const accepted = yield* by(now)(command)
          found[recipient.message.content.to] = accepted._tag
          if (accepted._tag !== "Claimed") continue
          const settled = { ...command, messageId: recipient.message.id, claimed: accepted.message }
          yield* MessageFixture.settle(settled, yield* MessageFixture.notSent, now)
        }
        return [0, 1, 2, 3].map((n) => found[customer(n)])
      })
      assert.deepStrictEqual(yield* tags(at), ["Claimed", "Capped", "Claimed", "Claimed"])
      // a try that sent nothing is repeated, and counted once
      assert.deepStrictEqual(yield* tags(at + minute), ["Claimed", "Capped", "Claimed", "Claimed"])
      yield* store.sweep(at + 2 * hour)
      const { id } = yield* running(own, 4, { template: promo, name: "Again" })
      const again = (yield* workAll(own, at + 2 * hour)).filter(({ message }) => message.campaignId === id)
      const next = yield* Effect.forEach(
        again,
        (recipient) => Effect.flatMap(sendOf(own, recipient, at), by(at + 2 * hour))
      )
      assert.sameMembers(next.map(({ _tag }) => _tag), ["Claimed", "Capped", "Capped", "Claimed"])
      const later = at + 7 * 24 * hour + minute
      const [first] = again.filter(({ message }) => message.content.to === customer(1))
      assert.strictEqual((yield* Effect.flatMap(sendOf(own, first!, later), by(later)))._tag, "Claimed")
    }))

  it.effect("rows that name one customer by number and by user id count once", () =>
    Effect.gen(function*() {
      for (const most of [1, limit]) {
        const own = yield* world()
        yield* link(own, 1)
        const campaign = yield* draft(own)
        yield* add(campaign, [named(userId(1)), row(1), named(userId(2)), named(userId(1))])
        yield* changed(campaign, own.start, { _tag: "Check" })
        yield* workAll(own, own.start, most)
        assert.deepStrictEqual(yield* reportOf(campaign), [
          [undefined, userId(1)],
          ["duplicate", undefined],
          [undefined, userId(2)],
          ["duplicate", undefined]
        ])
        // the one who was known when the first row was checked is still known with the last one
        assert.strictEqual((yield* get(campaign)).limitedCustomers, 2)
      }
    }))

  it.effect("a campaign that learns of a customer's two names while it sends writes to one of them", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* draft(own)
      yield* add(campaign, [named(userId(1)), row(1), named(userId(2)), row(2)])
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* workAll(own, own.start)
      yield* changed(campaign, own.start, { _tag: "Start" })
      const claimed = yield* workAll(own, own.start)
      assert.strictEqual(claimed.length, 4)
      const to = (name: string) => claimed.find(({ message }) => message.content.to === name)!
      yield* sent(own, to(userId(1)), own.start)
      yield* link(own, 1)
      yield* link(own, 2)
      const outcome = (recipient: CampaignWorkStep.Claimed) =>
        Effect.flatMap(
          sendOf(own, recipient, own.start),
          (command) => MessageStore.MessageStore.use((store) => store.accept(command))
        )
      assert.strictEqual((yield* outcome(to(customer(1))))._tag, "Duplicate")
      // of two that wait, the first one to come is sent
      const racing = yield* Effect.forEach([to(userId(2)), to(customer(2))], outcome, { concurrency: "unbounded" })
      assert.deepStrictEqual(racing.map(({ _tag }) => _tag).toSorted(), ["Claimed", "Duplicate"])
    }))

  it.effect("the frequency cap counts what a customer got under either name", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const limits = { ...Fixture.roomy, frequencyCap: { messages: 2, days: 7 } }
      const store = yield* MessageStore.MessageStore
      const marketing = (to: string, now: Time.Instant) =>
        Effect.flatMap(
          MessageFixture.send(own, {
            now,
            limits,
            message: MessageFixture.template({ to, name: "promo", bodyParams: ["x"] })
          }),
          store.accept
        )
      for (const n of [1, 2]) {
        yield* marketing(userId(n), own.start)
        yield* marketing(customer(n), own.start + second)
      }
      const campaign = yield* draft(own, { template: { name: "promo", language: "en_US", bodyParams: ["x"] } })
      yield* add(campaign, [named(userId(1)), named(userId(2))])
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* workAll(own, own.start)
      yield* changed(campaign, own.start, { _tag: "Start" })
      yield* link(own, 1)
      const outcomes = yield* Effect.forEach(yield* workAll(own, own.start), (recipient) =>
        Effect.flatMap(
          sendOf(own, recipient, own.start + 2 * second),
          (command) => Effect.map(store.accept({ ...command, limits }), ({ _tag }) => [command.message.to, _tag])
        ))
      assert.sameDeepMembers(outcomes, [[userId(1), "Capped"], [userId(2), "Claimed"]])
    }))

  it.effect("a row with a user id is left out of a campaign with an authentication template", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* told(own, "order", { category: "authentication" }, own.start + 1)
      const campaign = yield* draft(own)
      yield* add(campaign, [named(userId(1)), row(2)])
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* workAll(own, own.start)
      assert.deepStrictEqual(yield* reportOf(campaign), [["phone_number_required", undefined], [
        undefined,
        customer(2)
      ]])
    }))

  it.effect("customers of the holdout get nothing, and are counted with their reason", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* running(own, 100, { holdout: 0.3 })
      const out = rows(100).filter((row) => Split.isIn(0.3, "holdout", campaign.id, Recipient.customerOf(row)!))
      assert.isNotEmpty(out)
      const claimed: Array<CampaignWorkStep.Claimed> = []
      for (let at = own.start; at < own.start + minute / 2; at += 500) claimed.push(...yield* workAll(own, at))
      assert.strictEqual(claimed.length, 100 - out.length)
      const after = yield* get(campaign)
      assert.deepStrictEqual(after.counts, counts({ queued: 100 - out.length, skipped: out.length }))
      assert.deepStrictEqual(CampaignTally.reasonsOf(after.tallies), [
        { outcome: "skipped", reason: "holdout", recipients: out.length }
      ])
      const heldOut = new Set<string | null>(out.map(Recipient.customerOf))
      for (const { message } of claimed) {
        assert.isFalse(heldOut.has(Recipient.customerOf({ recipient: { to: message.content.to } })))
      }
    }))

  it.effect("each customer gets one of two variants, and outcomes are counted by variant", () =>
    Effect.gen(function*() {
      const store = yield* CampaignStore.CampaignStore
      const own = yield* world()
      const campaign = yield* draft(own, {
        templateB: { name: "promo", language: "en_US", bodyParams: ["{{number}}"] }
      })
      const customers = Array.from({ length: 60 }, (_, n) => ({
        n,
        variant: Variant.of(campaign, Recipient.customerOf(row(n))!),
        // values of its own, which fit the first template only
        hasValues: n % 3 === 0
      }))
      const isUnfit = ({ hasValues, variant }: (typeof customers)[number]) => hasValues && variant === "b"
      const ofA = customers.filter(({ variant }) => variant === "a").length
      const unfit = customers.filter(isUnfit).length
      const ofB = customers.length - ofA - unfit
      yield* add(
        campaign,
        customers.map(({ hasValues, n }): Recipient.Row =>
          hasValues ? { recipient: { to: customer(n), bodyParams: ["two", "values"] } } : row(n)
        )
      )
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* workAll(own, own.start, 16)
      const checked = yield* get(campaign)
      assert.deepInclude(checked, { status: "ready", problems: unfit, counts: counts({ queued: ofA + ofB }) })
      const report = yield* store.rows(own.workspace.id, campaign.id, { limit: 100, after: 0 })
      assert.deepStrictEqual(
        report.map(({ message, problem }) => [
          message?.variant,
          message?.content.type === "template" ? message.content.template.name : undefined,
          problem?.reason
        ]),
        customers.map((given) =>
          isUnfit(given)
            ? [undefined, undefined, "template_params_mismatch"]
            : [given.variant, given.variant === "a" ? "order" : "promo", undefined]
        )
      )
      const expected = checked.forecast!.lines.map(({ category, messages }) => [category, messages])
      assert.sameDeepMembers(expected, [["utility", ofA], ["marketing", ofB]])

      yield* changed(campaign, own.start, { _tag: "Start" })
      const claimed: Array<CampaignWorkStep.Claimed> = []
      for (let at = own.start; at < own.start + minute / 2; at += 500) claimed.push(...yield* workAll(own, at))
      // several writers change the counts
      yield* Effect.forEach(claimed, (recipient) =>
        Effect.gen(function*() {
          const { command } = yield* claim(own, recipient, own.start)
          const end = recipient.message.variant === "b" ? MessageFixture.tookIt : MessageFixture.refusedIt(own.start)
          yield* MessageFixture.settle(command, yield* end, own.start)
        }), { concurrency: 8 })
      const [first] = claimed.filter(({ message }) => message.variant === "b")
      yield* MessageFixture.report({ status: "read", at: own.start + second, reference: first!.message.id })
      const after = yield* get(campaign)
      assert.deepStrictEqual(after.counts, counts({ failed: ofA, sent: ofB - 1, read: 1 }))
      const compared = Comparison.of(after.tallies)
      assert.deepStrictEqual(compared.counts, { a: counts({ failed: ofA }), b: counts({ sent: ofB - 1, read: 1 }) })
      assert.deepInclude(compared.read, { a: 0, b: 1 / ofB })
    }))

  it.effect("a correction moves a recipient from the failures to what was true, in every count, once", () =>
    Effect.gen(function*() {
      const customers = yield* CustomerStore.CustomerStore
      const own = yield* world()
      const campaign = yield* draft(own, {
        templateB: { name: "order", language: "en_US", bodyParams: ["{{number}}", "here"] }
      })
      yield* add(campaign, rows(40))
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* workAll(own, own.start)
      yield* changed(campaign, own.start, { _tag: "Start" })
      const claimed: Array<CampaignWorkStep.Claimed> = []
      for (let at = own.start; claimed.length < 40; at += 500) claimed.push(...yield* workAll(own, at))
      const of = (variant: Variant.Variant) => claimed.filter((recipient) => recipient.message.variant === variant)
      const failedBy = (recipient: CampaignWorkStep.Claimed, n: number) =>
        Effect.gen(function*() {
          const { command } = yield* claim(own, recipient, own.start)
          if (n % 2 === 0) {
            yield* MessageFixture.settle(command, yield* MessageFixture.refusedIt(own.start), own.start)
          } else {
            yield* MessageFixture.settle(command, yield* MessageFixture.tookIt, own.start)
            yield* MessageFixture.report({ status: "failed", at: own.start, reference: command.messageId })
          }
        })
      yield* Effect.forEach(claimed, failedBy, { concurrency: 8 })
      const [ofA, ofB] = [of("a"), of("b")]
      const all = yield* get(campaign)
      assert.deepStrictEqual(all.counts, counts({ failed: 40 }))
      assert.deepStrictEqual(CampaignTally.reasonsOf(all.tallies), [
        { outcome: "failed", reason: "undeliverable", recipients: 40 }
      ])
      // the customers of some are erased before their failure is corrected
      for (const { message } of ofB.slice(0, 2)) {
        yield* customers.erase({
          workspaceId: own.workspace.id,
          names: CustomerRecords.namesOf(message.content.to, []),
          hashes: {},
          place: "messages",
          after: null,
          now: own.start
        })
      }
      const tell = (recipients: ReadonlyArray<CampaignWorkStep.Claimed>, status: Message.Report["status"]) =>
        Effect.forEach(
          [...recipients, ...recipients],
          ({ message: { id } }) => MessageFixture.report({ status, at: own.start + second, reference: id }),
          { concurrency: 8, discard: true }
        )
      yield* tell(claimed, "sent")
      yield* tell(ofA.slice(0, 3), "delivered")
      yield* tell(ofB.slice(0, 4), "read")
      yield* tell(claimed, "failed")
      const { counts: after, tallies } = yield* get(campaign)
      assert.deepStrictEqual(after, counts({ failed: 33, delivered: 3, read: 4 }))
      assert.deepStrictEqual(CampaignTally.reasonsOf(tallies), [
        { outcome: "failed", reason: "undeliverable", recipients: 33 }
      ])
      const compared = Comparison.of(tallies)
      assert.deepStrictEqual(compared.counts, {
        a: counts({ failed: ofA.length - 3, delivered: 3 }),
        b: counts({ failed: ofB.length - 4, read: 4 })
      })
      assert.deepInclude(compared.delivered, { a: 3 / ofA.length, b: 4 / ofB.length })
    }))

  it.effect("a campaign pauses itself if either variant's template is no longer approved", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const stopped = yield* draft(own, { templateB: { name: "stopped", language: "en_US" } })
      yield* add(stopped, rows(1))
      yield* changed(stopped, own.start, { _tag: "Check" })
      yield* workAll(own, own.start)
      assert.deepInclude(yield* get(stopped), { status: "draft", pausedFor: "template_not_approved", checked: 0 })
      const values = { order: { bodyParams: ["1", "ready"] }, promo: { bodyParams: ["shelves"] } }
      for (const [i, [name, other]] of ([["order", "promo"], ["promo", "order"]] as const).entries()) {
        const campaign = yield* running(own, 2, {
          template: { name, language: "en_US", ...values[name] },
          templateB: { name: other, language: "en_US", ...values[other] }
        })
        const at = own.start + (1 + i) * minute
        yield* told(own, "promo", { status: "paused" }, at)
        assert.deepStrictEqual(yield* workAll(own, at), [])
        assert.deepInclude(yield* get(campaign), { status: "paused", pausedFor: "template_not_approved" })
        yield* told(own, "promo", { status: "approved" }, at + second)
        yield* changed(campaign, at + second, { _tag: "Resume" })
        const resumed = yield* workAll(own, at + second)
        assert.deepStrictEqual(resumed.map(({ message }) => message.campaignId), [campaign.id, campaign.id])
        yield* changed(campaign, at + second, { _tag: "Cancel" })
      }
    }))

  it.effect("a campaign pauses itself if a template has another category than when it was checked", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* ready(own, 2, {
        templateB: { name: "promo", language: "en_US", bodyParams: ["{{number}}"] }
      })
      yield* told(own, "promo", { category: "utility" }, own.start + second)
      yield* changed(campaign, own.start + minute, { _tag: "Start" })
      assert.deepStrictEqual(yield* workAll(own, own.start + minute), [])
      assert.deepInclude(yield* get(campaign), { status: "paused", pausedFor: "template_category" })
      // a person knows of the change now
      yield* changed(campaign, own.start + 2 * minute, { _tag: "Resume" })
      assert.lengthOf(yield* workAll(own, own.start + 2 * minute), 2)
      yield* told(own, "promo", { category: "marketing" }, own.start + 3 * minute)
      assert.deepStrictEqual(yield* workAll(own, own.start + 4 * minute), [])
      assert.deepInclude(yield* get(campaign), { status: "paused", pausedFor: "template_category" })
      yield* changed(campaign, own.start + 4 * minute, { _tag: "Cancel" })
    }))

  it.effect("a recipient whose quiet hours last gets nothing until they end, and others do not wait for them", () =>
    Effect.gen(function*() {
      const own = yield* world()
      // a fixed offset, whatever the time of the test
      const hourAt = (at: Time.Instant) => `${Math.floor(at / hour) % 24}`.padStart(2, "0")
      const begun = own.start - own.start % hour
      const quietHours = { from: `${hourAt(begun)}:00`, to: `${hourAt(begun + 2 * hour)}:00` }
      const campaign = yield* draft(own, { quietHours })
      const inZone = (n: number, timeZone: string): Recipient.Row => ({
        recipient: { to: customer(n), variables: { number: `${n}` }, timeZone }
      })
      const [quiet, awake] = ["Etc/UTC", "Etc/GMT+6"]
      yield* add(campaign, Array.from({ length: 90 }, (_, n) => inZone(n, n % 9 === 8 ? awake : quiet)))
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* workAll(own, own.start)
      yield* changed(campaign, own.start, { _tag: "Start" })
      const numbersOf = (claimed: ReadonlyArray<CampaignWorkStep.Claimed>) =>
        claimed.map(({ message }) => message.content.to).toSorted()
      const now = yield* workAll(own, own.start)
      assert.deepStrictEqual(numbersOf(now), Array.from({ length: 10 }, (_, n) => customer(n * 9 + 8)).toSorted())
      for (const recipient of now) yield* ended(recipient, own.start, { _tag: "Done" })
      assert.deepStrictEqual(yield* workAll(own, begun + 2 * hour - 1), [])
      const morning = begun + 2 * hour
      let late = yield* workAll(own, morning)
      for (let at = morning; late.length < 80 && at < morning + minute / 2; at += 500) {
        late = [...late, ...yield* workAll(own, at + 500)]
      }
      assert.strictEqual(new Set(numbersOf(late)).size, 80)
      assert.strictEqual(late.length, 80)
    }))

  it.effect("concurrent workers hand out every recipient once", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* running(own, 60)
      const handed = yield* Effect.forEach(Array.from({ length: 24 }, (_, i) => i), (i) =>
        Effect.map(work(own, own.start + i * 1000, 10), (worked) => worked?.claimed ?? []), {
        concurrency: "unbounded"
      })
      const ids = handed.flat().map(({ message }) =>
        message.id
      )
      assert.strictEqual(new Set(ids).size, ids.length)
      assert.isAbove(ids.length, 0)
    }))

  it.effect("a campaign without recipients in its queue is completed once, with its counts", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* running(own, 4)
      const claimed = yield* workAll(own, own.start)
      assert.strictEqual(claimed.length, 4)
      const [a, b, c, d] = claimed as [
        CampaignWorkStep.Claimed,
        CampaignWorkStep.Claimed,
        CampaignWorkStep.Claimed,
        CampaignWorkStep.Claimed
      ]
      const at = own.start + second
      yield* sent(own, a, at)
      yield* sent(own, b, at)
      yield* MessageFixture.report({ status: "read", at: at + second, reference: b.message.id })
      const { command: refused } = yield* claim(own, c, at)
      assert.isTrue(yield* MessageFixture.settle(refused, yield* MessageFixture.refusedIt(at), at))
      yield* workAll(own, at + minute / 2)
      assert.strictEqual((yield* get(campaign)).status, "running")
      const { command: unknown } = yield* claim(own, d, at)
      assert.isTrue(yield* MessageFixture.settle(unknown, { _tag: "Unknown" }, at))
      // as a process does that finds an outcome
      yield* ended(d, at, { _tag: "Done" })
      yield* ended(d, at, { _tag: "Done" })
      const expected = counts({ sent: 1, read: 1, failed: 1, unknown: 1 })
      assert.deepStrictEqual((yield* get(campaign)).counts, expected)
      yield* Effect.forEach([0, 1, 2], () => workAll(own, at + minute), { concurrency: "unbounded" })
      assert.deepInclude(yield* get(campaign), { status: "completed", completedAt: at + minute, counts: expected })
      const [completed, ...more] = yield* completions(own)
      assert.deepStrictEqual(more, [])
      assert.deepStrictEqual(completed?.data, {
        campaign_id: campaign.id,
        name: "Orders",
        status: "completed",
        total: 4,
        ...expected
      })
      // counts go on with the provider's reports
      yield* MessageFixture.report({ status: "delivered", at: at + hour, reference: a.message.id })
      assert.deepStrictEqual(
        (yield* get(campaign)).counts,
        counts({ delivered: 1, read: 1, failed: 1, unknown: 1 })
      )
    }))

  it.effect("a message that the provider holds is counted as held until its next report", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* running(own, 2)
      const [first, second] = yield* workAll(own, own.start)
      for (const recipient of [first!, second!]) {
        const { command } = yield* claim(own, recipient, own.start)
        const end = { ...yield* MessageFixture.tookIt, isHeld: true }
        assert.isTrue(yield* MessageFixture.settle(command, end, own.start))
      }
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ held: 2 }))
      const { id, workspaceId } = campaign
      const rows = yield* CampaignStore.CampaignStore.use((store) =>
        store.rows(workspaceId, id, { limit: 9, after: 0 })
      )
      const held = rows.filter((row) => CheckedRow.isSelected(row, { outcome: "held" }))
      assert.deepStrictEqual(held.map(({ message }) => [message?.status, message?.isHeld]), [
        ["sent", true],
        ["sent", true]
      ])
      const at = own.start + hour
      yield* MessageFixture.report({ status: "sent", at, reference: first!.message.id })
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ sent: 1, held: 1 }))
      yield* MessageFixture.report({
        status: "failed",
        at,
        reference: second!.message.id,
        error: { code: "forbidden", reason: "template_not_approved", message: "the template is paused" }
      })
      const { counts: after, tallies } = yield* get(campaign)
      assert.deepStrictEqual(after, counts({ sent: 1, failed: 1 }))
      assert.deepStrictEqual(CampaignTally.reasonsOf(tallies), [
        { outcome: "failed", reason: "template_not_approved", recipients: 1 }
      ])
    }))

  it.effect("a recipient's send takes no token of the workspace, and its key never expires", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world({ number: { tier: "standard" } })
      yield* running(own, 1)
      const [recipient] = yield* workAll(own, own.start)
      const { accepted, command } = yield* claim(own, recipient!, own.start)
      assert.deepStrictEqual(accepted.readings.map(({ policy }) => policy.name), ["phone_number", "pair"])
      assert.deepInclude(accepted.message, { id: recipient!.message.id, status: "sending", apiKeyId: null })
      assert.isTrue(yield* MessageFixture.settle(command, yield* MessageFixture.tookIt, own.start))
      const later = own.start + 26 * hour
      yield* messages.sweep(later)
      const again = yield* messages.accept(yield* sendOf(own, recipient!, later))
      assert.strictEqual(again._tag, "Answered")
    }))

  it.effect("after its customer was erased, an unknown message fails in time, and its key finds no customer", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const customers = yield* CustomerStore.CustomerStore
      const own = yield* world()
      const campaign = yield* running(own, 1)
      const [recipient] = yield* workAll(own, own.start)
      const { command } = yield* claim(own, recipient!, own.start)
      assert.isTrue(yield* MessageFixture.settle(command, { _tag: "Unknown" }, own.start))
      const { erased } = yield* customers.erase({
        workspaceId: own.workspace.id,
        names: CustomerRecords.namesOf(recipient!.message.content.to, []),
        hashes: {},
        place: "messages",
        after: null,
        now: own.start
      })
      assert.strictEqual(erased, 1)
      const again = yield* messages.accept(yield* sendOf(own, recipient!, own.start + minute))
      assert.strictEqual(again._tag, "Unknown")
      yield* messages.sweep(own.start + Duration.toMillis(Message.unknownTimeout))
      assert.deepInclude(yield* stored(own, recipient!.message.id), {
        status: "failed",
        error: Message.deliveryUnknown
      })
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ failed: 1 }))
    }))

  it.effect("a campaign's message that does not exist is not sent", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world()
      const campaign = yield* running(own, 1)
      const [recipient] = yield* workAll(own, own.start)
      const stray = { message: { ...recipient!.message, content: MessageFixture.template({ to: customer(9) }) } }
      assert.strictEqual((yield* messages.accept(yield* sendOf(own, stray, own.start)))._tag, "Unknown")
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ queued: 1 }))
    }))

  it.effect("a try that sent nothing is repeated after a while, and a withdrawn one too", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world()
      const campaign = yield* running(own, 1)
      const [recipient] = yield* workAll(own, own.start)
      const first = yield* claim(own, recipient!, own.start)
      yield* MessageFixture.settle(first.command, yield* MessageFixture.notSent, own.start)
      yield* ended(recipient!, own.start, { _tag: "Again", after: Duration.minutes(5) })
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ queued: 1 }))
      assert.deepStrictEqual(yield* workAll(own, own.start + 4 * minute), [])
      const [again] = yield* workAll(own, own.start + 5 * minute)
      assert.deepInclude(again, { tries: 1 })
      assert.strictEqual(again!.message.id, recipient!.message.id)
      const second = yield* claim(own, again!, own.start + 5 * minute)
      yield* messages.abandon(second.command)
      yield* claim(own, again!, own.start + 6 * minute)
    }))

  it.effect("a recipient that missed its slot is due at once, and was not tried", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* running(own, 1)
      const [recipient] = yield* workAll(own, own.start)
      yield* ended(recipient!, own.start + second, { _tag: "Missed" })
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ queued: 1 }))
      const [again] = yield* workAll(own, own.start + second)
      assert.deepInclude(again, { tries: 0 })
      yield* sent(own, again!, own.start + second)
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ sent: 1 }))
    }))

  it.effect("a recipient whose try sent nothing is tried again after a pause of days", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world()
      const campaign = yield* running(own, 1, { notAfter: own.start + 10 * 24 * hour })
      const [recipient] = yield* workAll(own, own.start)
      const { command } = yield* claim(own, recipient!, own.start)
      yield* MessageFixture.settle(command, yield* MessageFixture.notSent, own.start)
      yield* ended(recipient!, own.start, { _tag: "Again", after: Duration.minutes(1) })
      yield* changed(campaign, own.start + second, { _tag: "Pause" })
      const monday = own.start + 3 * 24 * hour
      yield* messages.sweep(monday)
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ queued: 1 }))
      yield* changed(campaign, monday, { _tag: "Resume" })
      const [again] = yield* workAll(own, monday)
      yield* sent(own, again!, monday)
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ sent: 1 }))
    }))

  it.effect("a cancelled campaign skips all that wait, and what is being sent gets its outcome", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* running(own, 30)
      const [first] = yield* workAll(own, own.start, 3)
      const { command } = yield* claim(own, first!, own.start)
      const at = own.start + second
      assert.strictEqual((yield* changed(campaign, at, { _tag: "Cancel" })).status, "cancelled")
      assert.deepStrictEqual(yield* workAll(own, at, 7), [])
      assert.strictEqual((yield* get(campaign)).completedAt, null)
      assert.isTrue(yield* MessageFixture.settle(command, yield* MessageFixture.tookIt, at))
      // whoever had taken the others is gone
      yield* workAll(own, at + 2 * minute, 7)
      const after = yield* get(campaign)
      assert.deepStrictEqual(after.counts, counts({ sent: 1, skipped: 29 }))
      assert.isNotNull(after.completedAt)
      const [completed, ...more] = yield* completions(own)
      assert.deepStrictEqual([completed?.data["status"], more], ["cancelled", []])
      const left = yield* CampaignStore.CampaignStore.use((store) =>
        store.rows(own.workspace.id, campaign.id, { limit: 100, after: 0 })
      )
      const [skipped] = left.filter((row) => CheckedRow.isSelected(row, { outcome: "skipped" }))
      assert.strictEqual(skipped!.message!.error?.reason, "cancelled")
      const late = yield* MessageStore.MessageStore.use(Effect.fnUntraced(function*(store) {
        return yield* store.accept(yield* sendOf(own, { message: skipped!.message! }, at + 3 * minute))
      }))
      assert.strictEqual(late._tag, "Unknown")
    }))

  it.effect("nothing is sent after the campaign's last moment", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* running(own, 5, { notAfter: own.start + minute })
      assert.deepStrictEqual(yield* workAll(own, own.start + minute, 2), [])
      const after = yield* get(campaign)
      assert.deepInclude(after, { status: "completed", counts: counts({ skipped: 5 }) })
    }))

  it.effect("a scheduled campaign starts at its time, and a paused one waits for a person", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* ready(own, 3, { startAt: own.start + hour })
      assert.strictEqual((yield* changed(campaign, own.start, { _tag: "Start" })).status, "scheduled")
      assert.deepStrictEqual(yield* workAll(own, own.start + hour - 1), [])
      yield* changed(campaign, own.start + minute, { _tag: "Pause" })
      assert.deepStrictEqual(yield* workAll(own, own.start + hour), [])
      assert.deepInclude(yield* get(campaign), { status: "paused", pausedFor: "person", startedAt: null })
      yield* changed(campaign, own.start + 2 * hour, { _tag: "Resume" })
      assert.strictEqual((yield* workAll(own, own.start + 2 * hour)).length, 3)
      assert.deepInclude(yield* get(campaign), { status: "running", startedAt: own.start + 2 * hour })
    }))

  it.effect("a scheduled campaign follows a change of its time, and starts at once without one", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const [moved, freed] = [
        yield* ready(own, 1, { startAt: own.start + hour }),
        yield* ready(own, 1, { startAt: own.start + hour })
      ]
      yield* changed(moved, own.start, { _tag: "Start" })
      yield* changed(freed, own.start, { _tag: "Start" })
      yield* changed(moved, own.start, { _tag: "Edit", plan: { startAt: own.start + minute } })
      yield* changed(freed, own.start, { _tag: "Edit", plan: { startAt: null } })
      const campaignsAt = (at: Time.Instant) =>
        Effect.map(workAll(own, at), (claimed) => claimed.map(({ message }) => message.campaignId))
      assert.deepStrictEqual(yield* campaignsAt(own.start), [freed.id])
      assert.notInclude(yield* campaignsAt(own.start + minute - 1), moved.id)
      assert.include(yield* campaignsAt(own.start + minute), moved.id)
    }))

  it.effect("a campaign pauses itself once too many of its messages fail, and a person can resume it", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const count = 120
      const campaign = yield* running(own, 200, { maxFailureRate: 0.5 })
      const claimed = yield* workAll(own, own.start, count)
      assert.strictEqual(claimed.length, count)
      yield* Effect.forEach(claimed, (recipient) =>
        Effect.gen(function*() {
          const { command } = yield* claim(own, recipient, own.start)
          yield* MessageFixture.settle(command, yield* MessageFixture.refusedIt(own.start), own.start)
        }), { concurrency: 16 })
      assert.deepStrictEqual(yield* workAll(own, own.start + second), [])
      const paused = yield* get(campaign)
      assert.deepInclude(paused, { status: "paused", pausedFor: "failure_rate" })
      assert.deepStrictEqual(paused.counts, counts({ failed: count, queued: 200 - count }))
      yield* changed(campaign, own.start + minute, { _tag: "Resume" })
      assert.isNotEmpty(yield* workAll(own, own.start + minute))
      assert.strictEqual(FailureRate.rateOf((yield* get(campaign)).snapshots, paused.counts), undefined)
    }))

  it.effect("a resumed campaign whose earlier failures were corrected pauses itself again for later ones", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const count = 120
      const campaign = yield* running(own, 4 * count, { maxFailureRate: 0.5 })
      const failed = (recipients: ReadonlyArray<CampaignWorkStep.Claimed>, now: Time.Instant) =>
        Effect.forEach(recipients, (recipient) =>
          Effect.gen(function*() {
            const { messageId } = yield* sent(own, recipient, now)
            yield* MessageFixture.report({ status: "failed", at: now, reference: messageId })
            return messageId
          }), { concurrency: 16 })
      const first = yield* failed(yield* workAll(own, own.start, count), own.start)
      assert.strictEqual(first.length, count)
      assert.deepStrictEqual(yield* workAll(own, own.start + second), [])
      assert.deepInclude(yield* get(campaign), { status: "paused", pausedFor: "failure_rate" })
      yield* changed(campaign, own.start + minute, { _tag: "Resume" })
      yield* Effect.forEach(
        first,
        (reference) => MessageFixture.report({ status: "delivered", at: own.start + minute, reference }),
        { concurrency: 16 }
      )
      const more = yield* workAll(own, own.start + minute, count)
      assert.isNotEmpty(more)
      assert.deepInclude((yield* get(campaign)).counts, { failed: 0, delivered: count })
      yield* failed(more, own.start + minute)
      yield* workAll(own, own.start + minute + second, count)
      assert.deepInclude(yield* get(campaign), { status: "paused", pausedFor: "failure_rate" })
    }))

  it.effect("a recipient that our own rules stop is skipped with the reason, and only once", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const campaign = yield* running(own, 1)
      const [recipient] = yield* workAll(own, own.start)
      const error: Message.MessageError = { code: "forbidden", reason: "opted_out", message: "the recipient opted out" }
      yield* ended(recipient!, own.start, { _tag: "Skipped", error })
      yield* ended(recipient!, own.start, { _tag: "Skipped", error: { ...error, reason: "other" } })
      assert.deepInclude(yield* stored(own, recipient!.message.id), { status: "skipped", error })
      assert.deepStrictEqual((yield* get(campaign)).counts, counts({ skipped: 1 }))
      assert.deepStrictEqual(CampaignTally.reasonsOf((yield* get(campaign)).tallies), [
        { outcome: "skipped", reason: "opted_out", recipients: 1 }
      ])
      assert.deepStrictEqual(yield* MessageFixture.eventsOf(own), [])
    }))

  it.effect("the messages and rows of an old campaign are deleted once it has ended, and its counts stay", () =>
    Effect.gen(function*() {
      const store = yield* CampaignStore.CampaignStore
      const messages = yield* MessageStore.MessageStore
      const own = yield* world()
      const id = Fixture.idAt("cmp", own.start)
      const campaign = yield* draft(own, {}, id)
      yield* add(campaign, rows(2))
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* workAll(own, own.start)
      yield* changed(campaign, own.start, { _tag: "Start" })
      const [first] = yield* workAll(own, own.start, 1)
      const { messageId } = yield* sent(own, first!, own.start)
      // a message's own time is that of its id, which is never earlier than another test's
      const later = Math.max(own.start, Id.timeOf(messageId)) + minute
      const forgetAll = Forgetting.all(messages.forget(later))
      yield* forgetAll
      assert.isTrue(Option.isSome(yield* messages.get(own.workspace.id, messageId)), "it would be sent to again")
      yield* changed(campaign, own.start + minute, { _tag: "Cancel" })
      yield* workAll(own, own.start + minute)
      const before = yield* get(campaign)
      assert.strictEqual(before.status, "cancelled")
      yield* forgetAll
      assert.isTrue(Option.isNone(yield* messages.get(own.workspace.id, messageId)))
      assert.deepStrictEqual(yield* store.rows(own.workspace.id, id, { limit: 10, after: 0 }), [])
      assert.deepStrictEqual(yield* get(campaign), before)
    }))

  it.effect("a campaign that has not started can be removed with its messages", () =>
    Effect.gen(function*() {
      const store = yield* CampaignStore.CampaignStore
      const own = yield* world()
      const [campaign, started] = [yield* ready(own, 2), yield* running(own, 2)]
      const [row] = yield* store.rows(own.workspace.id, campaign.id, { limit: 1, after: 0 })
      assert.isTrue(yield* store.remove(own.workspace.id, campaign.id))
      assert.deepStrictEqual(yield* store.get(own.workspace.id, campaign.id), Option.none())
      const messages = yield* MessageStore.MessageStore
      assert.deepStrictEqual(yield* messages.get(own.workspace.id, row!.message!.id), Option.none())
      assert.isFalse(yield* store.remove(own.workspace.id, started.id))
    }))

  it.effect("in a restored database campaigns wait for a person, and heartbeats otherwise change nothing", () =>
    Effect.gen(function*() {
      const store = yield* CampaignStore.CampaignStore
      const own = yield* world()
      const at = own.start
      const [sends, scheduled, done, draft] = [
        yield* running(own, 2),
        yield* ready(own, 1, { startAt: at + hour }),
        yield* running(own, 1),
        yield* ready(own, 1)
      ]
      yield* changed(scheduled, at, { _tag: "Start" })
      yield* changed(done, at, { _tag: "Pause" })
      const statuses = Effect.forEach(
        [sends, scheduled, done, draft],
        (campaign) => Effect.map(get(campaign), ({ pausedFor, status }) => [status, pausedFor])
      )
      const before = yield* statuses
      // other tests have written heartbeats at other times
      const { at: first } = yield* store.beat({ now: at, last: null, isRestored: false })
      assert.strictEqual(first, at)
      const next = yield* store.beat({ now: at + 5 * second, last: at, isRestored: false })
      assert.deepStrictEqual(next, { at: at + 5 * second, waiting: 0 })
      assert.deepStrictEqual(yield* statuses, before)
      assert.deepStrictEqual((yield* store.paused(own.workspace.id)).map(({ id }) => id), [done.id])

      const late = at + 10 * minute
      const found = yield* store.beat({ now: late, last: null, isRestored: false })
      assert.isAtLeast(found.waiting, 2)
      assert.deepStrictEqual(yield* statuses, [
        ["paused", "restored"],
        ["paused", "restored"],
        ["paused", "person"],
        ["ready", null]
      ])
      assert.deepStrictEqual(yield* workAll(own, late), [])
      const waiting = yield* store.paused(own.workspace.id)
      assert.sameMembers(waiting.map(({ id }) => id), [sends.id, scheduled.id, done.id])
      assert.includeMembers((yield* store.paused(null)).map(({ id }) => id), [sends.id, scheduled.id])

      assert.strictEqual((yield* changed(sends, late, { _tag: "Resume" })).status, "running")
      yield* store.beat({ now: late, last: null, isRestored: false })
      assert.strictEqual((yield* get(sends)).status, "running")
      yield* store.beat({ now: late, last: null, isRestored: true })
      assert.strictEqual((yield* get(sends)).pausedFor, "restored")
    }))

  it.effect("of processes that start together in a restored database, one makes the campaigns wait", () =>
    Effect.gen(function*() {
      const store = yield* CampaignStore.CampaignStore
      const own = yield* world()
      const campaign = yield* running(own, 1)
      yield* store.beat({ now: own.start, last: null, isRestored: false })
      const late = { now: own.start + 6 * minute, last: null, isRestored: false }
      const found = yield* Effect.forEach([1, 2, 3], () => store.beat(late), { concurrency: "unbounded" })
      assert.isAbove(Math.max(...found.map(({ waiting }) => waiting)), 0)
      assert.strictEqual((yield* get(campaign)).pausedFor, "restored")
      yield* changed(campaign, late.now, { _tag: "Resume" })
      assert.strictEqual((yield* store.beat(late)).waiting, 0)
      assert.strictEqual((yield* get(campaign)).status, "running")
    }))
}
