/**
 * Conformance of `CampaignStore.work` on a campaign that is checked.
 */
import { assert } from "@effect/vitest"
import {
  type Campaign,
  CampaignCounts,
  CampaignStore,
  Capabilities,
  type ContactStep,
  ContactStore,
  PhoneNumberStore,
  ProblemKind,
  Recipient,
  Split
} from "@wac/core"
import { Effect, Option } from "effect"
import * as CustomerFixture from "../contacts/CustomerFixture.ts"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import * as CampaignFixture from "./CampaignFixture.ts"

const { second, world } = Fixture
const { customer } = MessageFixture
const { add, changed, counts, draft, get, limit, put, rateCard, row, rows, stored, work, workAll } = CampaignFixture

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
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
          from: own.number.phoneNumber,
          type: "template",
          to: customer(1),
          template: { name: "promo", language: "en_US", bodyParams: ["1"] }
        }
      })
      assert.deepStrictEqual(yield* stored(own, message!.id), message!)
      const later = yield* store.rows(own.workspace.id, campaign.id, { limit: 4, after: 2 })
      assert.deepStrictEqual(later.map(({ place }) => place), [3, 4, 5, 6])
    }))

  it.effect("checking counts the problems by kind, and names the first rows of each by their places", () =>
    Effect.gen(function*() {
      const store = yield* CampaignStore.CampaignStore
      const own = yield* world()
      const campaign = yield* draft(own, {
        template: { name: "promo", language: "en_US", bodyParams: ["{{number}}"] }
      })
      const shortened = Recipient.parseWritten({ to: "1.55512E+10" }, { line: 2, country: undefined })
      const bare = (n: number, line: number): Recipient.Row => ({ recipient: { to: customer(n) }, line })
      const check = (piece: number) =>
        Effect.gen(function*() {
          yield* changed(campaign, own.start, { _tag: "Check" })
          yield* workAll(own, own.start, piece)
          return yield* get(campaign)
        })
      const kindsOf = ({ problemKinds }: Campaign.Campaign) => problemKinds.map(({ message: _, ...kind }) => kind)
      const at = (places: ReadonlyArray<number>) =>
        Effect.map(
          store.rowsAt(own.workspace.id, campaign.id, places),
          (rows) =>
            rows.map(({ line, message, place, problem, value }) => [place, line, value, problem?.reason, message])
        )
      yield* add(campaign, [shortened, row(1), row(1), bare(2, 5), ...Array.from({ length: 7 }, () => row(1))])
      const first = yield* check(2)
      assert.deepInclude(first, { status: "ready", checked: 11, problems: 10 })
      assert.deepStrictEqual(kindsOf(first), [
        { reason: "malformed", rows: 1, places: [1] },
        { reason: "duplicate", rows: 8, places: [3, 5, 6, 7, 8] },
        { reason: "template_params_mismatch", rows: 1, places: [4] }
      ])
      assert.deepStrictEqual(yield* at(ProblemKind.placesOf(first.problemKinds).slice(0, 3)), [
        [1, 2, "1.55512E+10", "malformed", null],
        [3, null, customer(1), "duplicate", null],
        [4, 5, customer(2), "template_params_mismatch", null]
      ])
      // rows that are added are counted with the others
      yield* add(campaign, [row(1), bare(3, 2)])
      const added = yield* check(2)
      assert.deepInclude(added, { checked: 13, problems: 12 })
      assert.deepStrictEqual(kindsOf(added).map(({ rows }) => rows), [1, 9, 2])
      assert.deepStrictEqual((yield* at([13, 99, 2, 13])).map(([place]) => place), [2, 13])
      // and those of another file in the place of all
      yield* put(campaign, "another", [row(4), bare(5, 3)], { isFirst: true, end: "replace" })
      assert.deepStrictEqual((yield* get(campaign)).problemKinds, [])
      const replaced = yield* check(10)
      assert.deepStrictEqual(kindsOf(replaced), [
        { reason: "template_params_mismatch", rows: 1, places: [replaced.replaced + 2] }
      ])
      assert.deepStrictEqual(yield* at([1, replaced.replaced + 2]), [
        [replaced.replaced + 2, 3, customer(5), "template_params_mismatch", null]
      ])
      const other = yield* world()
      assert.deepStrictEqual(yield* store.rowsAt(other.workspace.id, campaign.id, [replaced.replaced + 2]), [])
    }))

  it.effect("checking reports customers who have opted out without a contact, by every form of their names", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* Fixture.phoneNumber(own.workspace.id, {
        providerAccountId: own.number.providerAccountId,
        isDefault: false
      })
      yield* PhoneNumberStore.PhoneNumberStore.use((store) => store.add(other))
      const choose = (
        name: string,
        options: Partial<Pick<ContactStep.Choose, "phoneNumberId" | "preference">> = {}
      ) =>
        CustomerFixture.choose({
          now: own.start,
          workspaceId: own.workspace.id,
          phoneNumberId: null,
          name,
          preference: "opt_out",
          source: "import",
          ...options
        })
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
      const campaign = yield* draft(own, { template: { name: "promo", language: "en_US", bodyParams: ["x"] } })
      assert.isTrue(yield* add(campaign, [1, 2].map((n) => ({ recipient: { to: customer(n) } }))))
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* CustomerFixture.choose({
        now: own.start,
        workspaceId: own.workspace.id,
        phoneNumberId: null,
        name: customer(2),
        preference: "opt_out",
        source: "api"
      })
      const command = {
        now: own.start,
        limit,
        limits: Fixture.roomy,
        rateCard,
        provider: own.number.provider,
        capabilities: Capabilities.all,
        messageIds: yield* Effect.replicateEffect(Fixture.id("msg"), 10),
        hashes: {},
        hashedFor: own.workspace.id,
        ids: yield* Fixture.eventIds
      }
      const asked = Option.getOrThrow(yield* store.work(command))
      assert.deepStrictEqual([asked.unhashed, asked.claimed], [[customer(1), customer(2)], []])
      const some = { ...command, hashes: MessageFixture.hashesOf(MessageFixture.customerOf(customer(1))) }
      assert.deepStrictEqual(Option.getOrThrow(yield* store.work(some)).unhashed, [customer(2)])
      // hashes for a campaign of another workspace, which the same customers may be in
      const ofOther = {
        ...command,
        hashes: MessageFixture.hashesOf(...[1, 2].map((n) => MessageFixture.customerOf(customer(n)))),
        hashedFor: yield* Fixture.id("ws")
      }
      assert.deepStrictEqual(Option.getOrThrow(yield* store.work(ofOther)).unhashed, [customer(1), customer(2)])
      assert.deepInclude(yield* get(campaign), { status: "checking", checked: 0 })
      yield* workAll(own, own.start)
      assert.deepInclude(yield* get(campaign), { status: "ready", checked: 2, problems: 1 })
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
      const { perSecond } = forecast!
      yield* changed(campaign, own.start, { _tag: "Edit", plan: { share: 0.01 } })
      assert.deepStrictEqual((yield* get(campaign)).forecast, {
        ...forecast!,
        seconds: Math.ceil(reached.length / (perSecond! * 0.01))
      })
    }))

  it.effect("the forecast counts the customers whose quiet hours never end, and follows a change of these hours", () =>
    Effect.gen(function*() {
      const own = yield* world()
      // in any year, Russia has zones that are more than an hour apart
      const always = { from: "10:00", to: "09:00" }
      const campaign = yield* draft(own, { quietHours: always })
      const inRussia = (n: number, given: Partial<Recipient.Recipient> = {}): Recipient.Row => ({
        recipient: { to: `+7916123450${n}`, variables: { number: `${n}` }, ...given }
      })
      yield* add(campaign, [
        inRussia(1),
        inRussia(2, { timeZone: "Europe/Moscow" }),
        inRussia(3),
        inRussia(4, { timeZone: "Etc/UTC" })
      ])
      yield* changed(campaign, own.start, { _tag: "Check" })
      // the counts of all pieces are added up
      yield* workAll(own, own.start, 1)
      const forecast = Effect.map(get(campaign), ({ forecast }) => forecast)
      const checked = yield* forecast
      assert.deepInclude(checked, { messages: 4, alwaysQuiet: 2 })
      for (
        const [quietHours, alwaysQuiet] of [
          [{ from: "03:00", to: "04:00" }, 0],
          [always, 2],
          [null, 0]
        ] as const
      ) {
        yield* changed(campaign, own.start, { _tag: "Edit", plan: { quietHours } })
        assert.deepStrictEqual(yield* forecast, { ...checked!, alwaysQuiet })
      }
    }))

  it.effect("on a channel without service windows, no customer counts against a messaging limit and no message is free", () =>
    Effect.gen(function*() {
      const own = yield* world({ number: { messagingLimit: 3 } })
      const campaign = yield* draft(own)
      yield* add(campaign, rows(10))
      yield* MessageFixture.inbound(own, { customer: customer(1), at: own.start })
      const check = (capabilities: Capabilities.Capabilities) =>
        Effect.gen(function*() {
          yield* changed(campaign, own.start, { _tag: "Edit", plan: { from: own.number.phoneNumber } })
          yield* changed(campaign, own.start, { _tag: "Check" })
          yield* work(own, own.start, limit, { capabilities })
          const { forecast, status } = yield* get(campaign)
          assert.strictEqual(status, "ready")
          const { days, limitedCustomers, lines, messagingLimit } = forecast!
          return { days, limitedCustomers, messagingLimit, billable: lines.map(({ billable }) => billable) }
        })
      assert.deepStrictEqual(yield* check(Capabilities.all), {
        days: 3,
        limitedCustomers: 9,
        messagingLimit: 3,
        billable: [true, false]
      })
      assert.deepStrictEqual(yield* check({ ...Capabilities.none, templates: true }), {
        days: 1,
        limitedCustomers: 0,
        messagingLimit: null,
        billable: [true]
      })
    }))
}
