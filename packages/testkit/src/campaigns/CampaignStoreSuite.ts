/**
 * Conformance of `CampaignStore`: how campaigns and their rows are created, changed, listed and deleted.
 */
import { assert } from "@effect/vitest"
import { Campaign, type CampaignStep, CampaignStore, Id, MessageStore, type Page, Recipient } from "@wac/core"
import { Effect, Option, Result } from "effect"
import * as Fixture from "../Fixture.ts"
import * as Forgetting from "../Forgetting.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import * as CampaignFixture from "./CampaignFixture.ts"

const { minute, world } = Fixture
const { customer } = MessageFixture
const { add, changed, counts, draft, get, put, ready, row, rows, running, sent, tried, whole, workAll } =
  CampaignFixture

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
      const page = yield* store.list(own.workspace.id, {}, { limit: 1, after: null })
      assert.deepStrictEqual(page, { items: [second], next: second.id })
      assert.deepStrictEqual(yield* store.list(own.workspace.id, {}, { limit: 1, after: page.next }), {
        items: [first],
        next: null
      })
      assert.deepStrictEqual((yield* store.list(other.workspace.id, {}, { limit: 1, after: null })).items, [])
      const foreign = { workspaceId: other.workspace.id, id: first.id, now: own.start }
      assert.isTrue(Option.isNone(yield* store.change({ ...foreign, change: { _tag: "Cancel" } })))
      assert.isFalse(yield* store.addRows({ ...foreign, ...whole, rows: rows(1) }))
      assert.isFalse(yield* store.remove(other.workspace.id, first.id))
      assert.deepStrictEqual(yield* get(first), first)
    }))

  it.effect("campaigns are listed by status and by a part of their name in either case, newest first, in pages", () =>
    Effect.gen(function*() {
      const store = yield* CampaignStore.CampaignStore
      const own = yield* world()
      const [spring, summer, again] = [
        yield* draft(own, { name: "Spring offer" }),
        yield* draft(own, { name: String.raw`Summer 50% off_er: ^(1.5 + [2]* | {3}?)/$4 \ &-1 🌞` }),
        yield* draft(own, { name: "SPRING für Łódź" })
      ]
      yield* draft(yield* world(), { name: "Spring offer" })
      yield* add(spring, [row(1)])
      yield* changed(spring, own.start, { _tag: "Check" })
      const listed = (filter: CampaignStore.CampaignFilter, limit = 10) =>
        Effect.gen(function*() {
          const ids: Array<ReadonlyArray<string>> = []
          let after: string | null = null
          do {
            const page: Page.Page<Campaign.Campaign> = yield* store.list(own.workspace.id, filter, { limit, after })
            ids.push(page.items.map(({ id }) => id))
            after = page.next
          } while (after !== null)
          return ids
        })
      assert.deepStrictEqual(yield* listed({ nameContains: "sprinG" }), [[again.id, spring.id]])
      assert.deepStrictEqual(yield* listed({ nameContains: "spring" }, 1), [[again.id], [spring.id]])
      assert.deepStrictEqual(yield* listed({ nameContains: "offer" }), [[spring.id]])
      assert.deepStrictEqual(yield* listed({ nameContains: "FÜR łÓDŹ" }), [[again.id]])
      // no letter stands for another
      assert.deepStrictEqual(yield* listed({ nameContains: "50% OFF_" }), [[summer.id]])
      for (const part of ["%", ".", String.raw`: ^(1.5 + [2]* | {3}?)/$4 \ &-1 🌞`]) {
        assert.deepStrictEqual(yield* listed({ nameContains: part }), [[summer.id]], part)
      }
      assert.deepStrictEqual(yield* listed({ status: "draft" }), [[again.id, summer.id]])
      assert.deepStrictEqual(yield* listed({ status: "checking", nameContains: "spring" }), [[spring.id]])
      assert.deepStrictEqual(yield* listed({ status: "draft", nameContains: "autumn" }), [[]])
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

  it.effect("a campaign has a maximum number of rows, up to which uploads may add or replace them", () =>
    Effect.gen(function*() {
      const store = yield* CampaignStore.CampaignStore
      const own = yield* world()
      const full = { ...(yield* draft(own)), id: yield* Fixture.id("cmp"), rows: Campaign.maxRows - 2 }
      yield* store.create(full)
      assert.isFalse(yield* put(full, "three", rows(3), { isFirst: true, end: "add" }))
      assert.deepStrictEqual(yield* get(full), full)
      assert.isTrue(yield* put(full, "parts", rows(2), { isFirst: true }))
      assert.isFalse(yield* put(full, "parts", rows(1), { end: "add" }))
      assert.isTrue(yield* put(full, "parts", [], { end: "add" }))
      assert.strictEqual((yield* get(full)).rows, Campaign.maxRows)
      assert.isFalse(yield* put(full, "more", rows(1), { isFirst: true, end: "add" }))
      assert.isTrue(yield* put(full, "others", rows(3), { isFirst: true, end: "replace" }))
      assert.strictEqual((yield* get(full)).rows, 3)
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

  it.effect("the messages of an old campaign are deleted once it has ended, its rows by the time of its end, and its counts stay", () =>
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
      yield* changed(campaign, later, { _tag: "Cancel" })
      yield* forgetAll
      const kept = Effect.map(store.rows(own.workspace.id, id, { limit: 10, after: 0 }), ({ length }) => length)
      assert.strictEqual(yield* kept, 2, "it still has recipients")
      yield* workAll(own, later)
      const before = yield* get(campaign)
      assert.deepStrictEqual([before.status, before.completedAt], ["cancelled", later])
      yield* forgetAll
      assert.isTrue(Option.isNone(yield* messages.get(own.workspace.id, messageId)))
      assert.strictEqual(yield* kept, 2)
      yield* Forgetting.all(messages.forget(later + 1))
      assert.strictEqual(yield* kept, 0)
      assert.deepStrictEqual(yield* get(campaign), before)
    }))
}
