/**
 * Conformance of `TemplateStore`: listings of the provider, reports about single templates, and changes made here.
 */
import { assert } from "@effect/vitest"
import { type Id, PhoneNumberStore, type StoreError, type Template, TemplateStore } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"

const { day, hour, second, templates, world } = Fixture

const listed = (
  { workspace }: Fixture.World,
  filter: TemplateStore.StoredTemplateFilter = {}
): Effect.Effect<ReadonlyArray<Template.Template>, StoreError.StoreError, TemplateStore.TemplateStore> =>
  Effect.map(
    TemplateStore.TemplateStore.use((store) => store.list(workspace.id, filter, { limit: 100, after: null })),
    ({ items }) => items
  )

const names = (items: ReadonlyArray<Template.Template>) => items.map(({ name }) => name).sort()

/** Applies a listing of the account of a world's number. */
const sync = (
  { number: { providerAccountId }, start, workspace }: Fixture.World,
  listed: ReadonlyArray<Template.ProviderTemplate>,
  listedAt = start
) =>
  Effect.gen(function*() {
    const ids: ReadonlyArray<Id.TemplateId> = yield* Effect.replicateEffect(Fixture.id("tpl"), listed.length)
    const store = yield* TemplateStore.TemplateStore
    yield* store.replaceAll({ now: start + day, listedAt, workspaceId: workspace.id, providerAccountId, listed, ids })
    return ids
  })

/** The same workspace with a further number in another account. */
const elsewhere = (own: Fixture.World) =>
  Effect.gen(function*() {
    const number = yield* Fixture.phoneNumber(own.workspace.id, { isDefault: false })
    yield* PhoneNumberStore.PhoneNumberStore.use((store) => store.add(number))
    return { ...own, number }
  })

/** The answer to a send of `plain` from a world's number. */
const sent = (world: Fixture.World) =>
  Effect.map(
    MessageFixture.accept(world, { message: MessageFixture.template({ from: world.number.id }) }),
    ({ accepted }) =>
      accepted._tag === "Claimed" ? accepted.template!.providerTemplateId : MessageFixture.describe(accepted)
  )

const plain = templates[0]!

/** Applies a provider report about the template `plain`, by default at the start. */
const update = (
  { number, start }: Fixture.World,
  told: Partial<Parameters<TemplateStore.TemplateStore["Service"]["update"]>[0]>
) =>
  TemplateStore.TemplateStore.use((store) =>
    store.update({
      now: start + day,
      providerAccountId: number.providerAccountId,
      name: plain.name,
      language: plain.language,
      at: start,
      change: {},
      ...told
    })
  )

/** Keeps a template as if it was created or changed here. */
const put = ({ number, start, workspace }: Fixture.World, template: Template.ProviderTemplate, at = start) =>
  Effect.flatMap(Fixture.id("tpl"), (id) =>
    TemplateStore.TemplateStore.use((store) =>
      store.put({
        now: start + day,
        at,
        workspaceId: workspace.id,
        providerAccountId: number.providerAccountId,
        template,
        id
      })
    ))

const got = ({ workspace }: Fixture.World, { id }: Template.Template) =>
  Effect.map(
    TemplateStore.TemplateStore.use((store) => store.get(workspace.id, id)),
    Option.getOrUndefined
  )

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a template that was created here is there at once, and keeps its id when it is put again", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const made = { ...plain, name: "made", components: [{ type: "BODY", text: "Hi {{1}}, here." }] }
      const first = yield* put(own, made)
      assert.deepInclude(first, { ...made, variables: ["1"], unfillable: null, syncedAt: own.start })
      assert.deepStrictEqual(yield* got(own, first!), first)
      const again = yield* put(own, { ...made, category: "marketing", status: "pending" }, own.start + second)
      assert.deepStrictEqual(again, {
        ...first!,
        category: "marketing",
        status: "pending",
        syncedAt: own.start + second
      })
      assert.deepStrictEqual(yield* got(own, first!), again)
      assert.deepStrictEqual(names(yield* listed(own, { name: "made" })), ["made"])
    }))

  it.effect("a listing that began before a template was created does not delete it, and a later one does", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const made = yield* put(own, { ...plain, name: "made" }, own.start + hour)
      yield* sync(own, templates, own.start + second)
      assert.deepStrictEqual(yield* got(own, made!), made)
      yield* sync(own, templates, own.start + 2 * hour)
      assert.isUndefined(yield* got(own, made!))
    }))

  it.effect("a report about a template that was created here applies", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const made = yield* put(own, { ...plain, status: "pending" })
      yield* update(own, { at: own.start + second, change: { status: "approved" } })
      assert.strictEqual((yield* got(own, made!))?.status, "approved")
    }))

  it.effect("a template of an account in which the workspace has no number is not kept", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const strange = { ...own, number: { ...own.number, providerAccountId: "nobody's" } }
      assert.isUndefined(yield* put(strange, { ...plain, name: "made" }))
      assert.deepStrictEqual(yield* listed(own, { name: "made" }), [])
    }))

  it.effect("removing forgets one template of one workspace, and may be repeated", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world()
      const store = yield* TemplateStore.TemplateStore
      const made = (yield* put(own, { ...plain, name: "made" }))!
      const twin = (yield* put(own, { ...plain, name: "made", language: "pt_BR" }))!
      yield* store.remove({ workspaceId: other.workspace.id, id: made.id })
      assert.deepStrictEqual(yield* got(own, made), made)
      assert.isUndefined(yield* got(other, made))
      for (let i = 0; i < 2; i++) {
        yield* store.remove({ workspaceId: own.workspace.id, id: made.id })
        assert.isUndefined(yield* got(own, made))
      }
      assert.deepStrictEqual(yield* got(own, twin), twin)
    }))

  it.effect("replaceAll stores every field and derives the variables", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const rich: Template.ProviderTemplate = {
        providerTemplateId: "1234567890",
        name: "rich",
        language: "pt_BR",
        category: "a_new_category",
        status: "in_appeal",
        parameterFormat: "named",
        components: [
          { type: "HEADER", format: "IMAGE", example: { header_handle: ["https://cdn.example/a.png"] } },
          { type: "BODY", text: "Olá {{first_name}}, {{order}} — {{first_name}}" },
          { type: "BUTTONS", buttons: [{ type: "QUICK_REPLY", text: "Não \"isso\"" }, null, 1.5, true] }
        ],
        quality: "green",
        rejectionReason: "incorrect_category"
      }
      const ids = yield* sync(own, [rich], own.start + 7)
      assert.deepStrictEqual(yield* listed(own), [{
        ...rich,
        id: ids[0]!,
        workspaceId: own.workspace.id,
        providerAccountId: own.number.providerAccountId,
        variables: ["first_name", "order"],
        unfillable: "its header needs a value of its own: image",
        syncedAt: own.start + 7
      }])
    }))

  it.effect("a list for one provider holds only templates of its numbers' accounts", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const number = yield* Fixture.phoneNumber(own.workspace.id, { provider: "whatsapp", isDefault: false })
      yield* PhoneNumberStore.PhoneNumberStore.use((store) => store.add(number))
      yield* sync({ ...own, number }, [plain, { ...plain, name: "added" }])
      assert.deepStrictEqual(names(yield* listed(own, { provider: "whatsapp" })), ["added", "plain"])
      assert.deepStrictEqual(names(yield* listed(own, { provider: "whatsapp", name: "added" })), ["added"])
      assert.deepStrictEqual(
        names(yield* listed(own, { provider: "sandbox" })),
        templates.map(({ name }) => name).sort()
      )
      assert.deepStrictEqual(yield* listed(own, { provider: "another" }), [])
      assert.lengthOf(yield* listed(own), templates.length + 2)
    }))

  it.effect("replaceAll keeps the ids of known templates, and adds, changes and removes", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const before = new Map((yield* listed(own)).map((one) => [one.name, one]))
      const changed = { ...plain, status: "paused", components: [{ type: "BODY", text: "Hello {{1}}." }] }
      const added = { ...plain, name: "added" }
      const otherLanguage = { ...plain, language: "en" }
      const ids = yield* sync(own, [added, changed, otherLanguage], own.start + hour)
      const after = yield* listed(own)
      assert.deepStrictEqual(names(after), ["added", "plain", "plain"])
      assert.deepStrictEqual(after.find(({ language, name }) => name === "plain" && language === "en_US"), {
        ...changed,
        id: before.get("plain")!.id,
        workspaceId: own.workspace.id,
        providerAccountId: own.number.providerAccountId,
        variables: ["1"],
        unfillable: null,
        syncedAt: own.start + hour
      })
      const fresh = after.filter(({ id }) => id !== before.get("plain")!.id).map(({ id }) => id)
      assert.strictEqual(new Set(fresh).size, 2)
      assert.deepStrictEqual(fresh.filter((id) => !ids.includes(id)), [])
    }))

  it.effect("replaceAll is safe to repeat, and an empty listing removes everything", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const before = yield* listed(own)
      yield* sync(own, templates)
      assert.deepStrictEqual(yield* listed(own), before)
      yield* sync(own, [])
      assert.deepStrictEqual(yield* listed(own), [])
      // a template that returns is a new one
      yield* sync(own, [plain])
      assert.deepStrictEqual((yield* listed(own)).filter(({ id }) => before.some((one) => one.id === id)), [])
    }))

  it.effect("racing replaceAlls leave the listing of one of them", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const lists = Array.from({ length: 8 }, (_, i) =>
        Array.from({ length: 3 }, (_, j) => ({ ...plain, name: j === 0 ? "shared" : `of${i}_${j}`, quality: `q${i}` })))
      yield* Effect.forEach(lists, (list) =>
        sync(own, list), { concurrency: "unbounded" })
      const after = yield* listed(own)
      const winner = lists.find((list) =>
        list[0]!.quality === after[0]!.quality
      )!
      assert.deepStrictEqual(names(after), winner.map(({ name }) => name).sort())
      assert.deepStrictEqual(after.map(({ quality }) => quality), winner.map(({ quality }) => quality))
    }))

  it.effect("a listing that began before an applied one changes nothing", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* sync(own, [plain], own.start + 2)
      const after = yield* listed(own)
      yield* sync(own, templates, own.start + 1)
      assert.deepStrictEqual(yield* listed(own), after)
    }))

  it.effect("update changes the reported fields in every workspace of the account, and accept sees it immediately", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world({ start: own.start })
      const before = yield* listed(own)
      const others = yield* listed(other)
      const change = { status: "paused", quality: "red", category: "marketing" }
      assert.strictEqual(yield* update(own, { change }), 1)
      const after = yield* listed(own)
      assert.deepStrictEqual(after, before.map((one) => one.name === "plain" ? { ...one, ...change } : one))
      assert.deepStrictEqual(yield* listed(other), others)
      assert.strictEqual(
        MessageFixture.describe((yield* MessageFixture.accept(own)).accepted),
        "forbidden/template_not_approved"
      )
      // both belong to one account from now on
      const { providerAccountId } = own.number
      yield* PhoneNumberStore.PhoneNumberStore.use((store) => store.configure(other.number.id, { providerAccountId }))
      yield* sync({ ...other, number: own.number }, [plain])
      const approved = { status: "approved", rejectionReason: null, quality: null }
      assert.strictEqual(yield* update(own, { at: own.start + 1, change: approved }), 2)
      assert.strictEqual((yield* MessageFixture.accept(own)).accepted._tag, "Claimed")
      // an unknown template, and an unknown account
      assert.strictEqual(yield* update(own, { name: "none", change }), 0)
      assert.strictEqual(yield* update(own, { language: "en", change }), 0)
      assert.strictEqual(yield* update(own, { providerAccountId: "nobody", change }), 0)
    }))

  it.effect("older reports undo no newer ones, field by field, and a time in the future counts as now", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const seen = Effect.map(listed(own), (all) => {
        const { category, quality, rejectionReason, status } = all.find(({ name }) => name === "plain")!
        return [status, category, quality, rejectionReason]
      })
      yield* update(own, { at: own.start + 5 * second, change: { status: "paused" } })
      yield* update(own, { at: own.start + 3 * second, change: { status: "disabled", quality: "red" } })
      yield* update(own, { at: own.start - second, change: { category: "marketing" } })
      assert.deepStrictEqual(yield* seen, ["paused", "utility", "red", null])
      yield* update(own, { now: own.start + 6 * second, at: own.start + hour, change: { status: "rejected" } })
      yield* update(own, { at: own.start + 7 * second, change: { status: "approved" } })
      assert.deepStrictEqual(yield* seen, ["approved", "utility", "red", null])
      // a listing that began in between: older than the status, newer than the quality
      yield* sync(
        own,
        [{ ...plain, status: "pending", category: "marketing", quality: "yellow" }],
        own.start + 6 * second
      )
      assert.deepStrictEqual(yield* seen, ["approved", "marketing", "yellow", null])
      yield* sync(own, [plain], own.start + 9 * second)
      yield* update(own, { at: own.start + 7 * second, change: { status: "paused" } })
      assert.deepStrictEqual(yield* seen, ["approved", "utility", null, null])
    }))

  it.effect("racing reports and listings leave the newest value", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* Effect.forEach(
        Array.from({ length: 30 }, (_, i) => (i * 7) % 30),
        (n) =>
          n % 5 === 0
            ? Effect.asVoid(sync(own, [{ ...plain, status: `list${n}` }], own.start + n * second))
            : Effect.asVoid(update(own, { at: own.start + n * second, change: { status: `word${n}` } })),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual((yield* listed(own)).map(({ status }) => status), ["word29"])
    }))

  it.effect("list filters by exact match of every given field", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* sync(own, [...templates, { ...plain, language: "en" }])
      assert.deepStrictEqual(names(yield* listed(own, { status: "approved" })), [
        "order",
        "picture",
        "plain",
        "plain",
        "promo"
      ])
      assert.deepStrictEqual(names(yield* listed(own, { status: "pending" })), ["waiting"])
      assert.deepStrictEqual(names(yield* listed(own, { category: "marketing" })), ["promo"])
      assert.deepStrictEqual(names(yield* listed(own, { language: "en" })), ["plain"])
      assert.deepStrictEqual(names(yield* listed(own, { name: "plain" })), ["plain", "plain"])
      assert.deepStrictEqual(names(yield* listed(own, { name: "plain", language: "en_US" })), ["plain"])
      assert.deepStrictEqual(names(yield* listed(own, { name: "promo", category: "utility" })), [])
      assert.deepStrictEqual(names(yield* listed(own, { name: "Plain" })), [])
      assert.deepStrictEqual(names(yield* listed(own, { name: "pl%" })), [])
    }))

  it.effect("list finds templates by a part of their name, which is text and no pattern", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const of = (nameContains: string, filter: TemplateStore.StoredTemplateFilter = {}) =>
        Effect.map(listed(own, { ...filter, nameContains }), names)
      yield* sync(own, ["order_update", "old_order", "orderxupdate", "promo"].map((name) => ({ ...plain, name })))
      assert.deepStrictEqual(yield* of("order"), ["old_order", "order_update", "orderxupdate"])
      assert.deepStrictEqual(yield* of("r_u"), ["order_update"])
      for (const none of ["Order", "%", "order%", ".*", "nothing"]) assert.deepStrictEqual(yield* of(none), [], none)
      assert.deepStrictEqual(yield* of("order", { status: "rejected" }), [])
      assert.deepStrictEqual(yield* of("order", { name: "old_order" }), ["old_order"])
      const store = yield* TemplateStore.TemplateStore
      const first = yield* store.list(own.workspace.id, { nameContains: "order" }, { limit: 2, after: null })
      const rest = yield* store.list(own.workspace.id, { nameContains: "order" }, { limit: 2, after: first.next })
      assert.deepStrictEqual(names([...first.items, ...rest.items]), ["old_order", "order_update", "orderxupdate"])
      assert.strictEqual(rest.next, null)
    }))

  it.effect("list returns every status, newest first, in pages", () =>
    Effect.gen(function*() {
      const store = yield* TemplateStore.TemplateStore
      const own = yield* world()
      const all = yield* listed(own)
      assert.deepStrictEqual(all.map(({ id }) => id), all.map(({ id }) => id).sort().reverse())
      assert.strictEqual(all.length, 7)
      const first = yield* store.list(own.workspace.id, {}, { limit: 4, after: null })
      assert.deepStrictEqual(first, { items: all.slice(0, 4), next: all[3]!.id })
      const second = yield* store.list(own.workspace.id, {}, { limit: 4, after: first.next })
      assert.deepStrictEqual(second, { items: all.slice(4), next: null })
      const approved = yield* store.list(own.workspace.id, { status: "approved" }, { limit: 2, after: null })
      const rest = yield* store.list(own.workspace.id, { status: "approved" }, { limit: 2, after: approved.next })
      assert.deepStrictEqual(names([...approved.items, ...rest.items]), ["order", "picture", "plain", "promo"])
    }))

  it.effect("each account has its own templates, which its numbers send", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* elsewhere(own)
      assert.strictEqual(yield* sent(other), "forbidden/template_not_found")
      const before = yield* listed(own)
      yield* sync(other, [{ ...plain, providerTemplateId: "elsewhere" }], own.start - hour)
      assert.strictEqual((yield* listed(own)).length, before.length + 1)
      assert.deepStrictEqual([yield* sent(own), yield* sent(other)], [plain.providerTemplateId, "elsewhere"])
      assert.strictEqual(yield* update(own, { change: { status: "paused" } }), 1)
      assert.deepStrictEqual([yield* sent(own), yield* sent(other)], ["forbidden/template_not_approved", "elsewhere"])
      yield* sync(other, [])
      assert.deepStrictEqual(names(yield* listed(own)), names(before))
    }))

  it.effect("templates of an account in which the workspace has no number are removed by the next listing, and not added", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* elsewhere(own)
      yield* sync(other, [{ ...plain, name: "elsewhere" }])
      const moved = { ...other, number: { ...other.number, providerAccountId: yield* Fixture.word } }
      const { id, providerAccountId } = moved.number
      yield* PhoneNumberStore.PhoneNumberStore.use((store) => store.configure(id, { providerAccountId }))
      yield* sync(other, [plain, { ...plain, name: "too late" }])
      assert.include(names(yield* listed(own)), "elsewhere")
      assert.notInclude(names(yield* listed(own)), "too late")
      yield* sync(moved, [{ ...plain, name: "moved" }])
      assert.deepStrictEqual(names(yield* listed(own)), [...templates.map(({ name }) => name), "moved"].sort())
    }))

  it.effect("each workspace has its own templates", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world({ start: own.start })
      const before = yield* listed(other)
      yield* sync(own, [{ ...plain, status: "rejected" }])
      assert.deepStrictEqual(yield* listed(other), before)
      assert.strictEqual(
        MessageFixture.describe((yield* MessageFixture.accept(own)).accepted),
        "forbidden/template_not_approved"
      )
      assert.strictEqual((yield* MessageFixture.accept(other)).accepted._tag, "Claimed")
    }))
}
