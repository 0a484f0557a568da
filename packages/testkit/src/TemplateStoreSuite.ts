/**
 * Conformance of `TemplateStore`.
 */
import { assert } from "@effect/vitest"
import { type Id, type StoreError, type Template, TemplateStore } from "@wac/core"
import { Effect } from "effect"
import * as Fixture from "./Fixture.ts"

const { hour, templates, world } = Fixture

const listed = (
  { workspace }: Fixture.World,
  filter: TemplateStore.TemplateFilter = {}
): Effect.Effect<ReadonlyArray<Template.Template>, StoreError.StoreError, TemplateStore.TemplateStore> =>
  Effect.map(
    TemplateStore.TemplateStore.use((store) => store.list(workspace.id, filter, { limit: 100, after: null })),
    ({ items }) => items
  )

const names = (items: ReadonlyArray<Template.Template>) => items.map(({ name }) => name).sort()

const sync = (world: Fixture.World, list: ReadonlyArray<Template.ProviderTemplate>, now = world.start) =>
  Effect.gen(function*() {
    const ids: ReadonlyArray<Id.TemplateId> = yield* Effect.replicateEffect(Fixture.id("tpl"), list.length)
    const store = yield* TemplateStore.TemplateStore
    yield* store.replaceAll({ now, workspaceId: world.workspace.id, listed: list, ids })
    return ids
  })

const plain = templates[0]!

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("replaceAll keeps every field and derives the variables", () =>
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
        variables: ["first_name", "order"],
        syncedAt: own.start + 7
      }])
    }))

  it.effect("replaceAll keeps the ids of those it knows, adds, changes and removes", () =>
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
        variables: ["1"],
        syncedAt: own.start + hour
      })
      const fresh = after.filter(({ id }) => id !== before.get("plain")!.id).map(({ id }) => id)
      assert.strictEqual(new Set(fresh).size, 2)
      assert.deepStrictEqual(fresh.filter((id) => !ids.includes(id)), [])
    }))

  it.effect("replaceAll is safe to repeat, and nothing is left when nothing is listed", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const before = yield* listed(own)
      yield* sync(own, templates)
      assert.deepStrictEqual(yield* listed(own), before)
      yield* sync(own, [])
      assert.deepStrictEqual(yield* listed(own), [])
      // a template that comes back is a new one
      yield* sync(own, [plain])
      assert.deepStrictEqual((yield* listed(own)).filter(({ id }) => before.some((one) => one.id === id)), [])
    }))

  it.effect("racing replaceAlls leave the list of one of them", () =>
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

  it.effect("list filters by exact match of every given field", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* sync(own, [...templates, { ...plain, language: "en" }])
      assert.deepStrictEqual(names(yield* listed(own, { status: "approved" })), ["order", "plain", "plain", "promo"])
      assert.deepStrictEqual(names(yield* listed(own, { status: "pending" })), ["waiting"])
      assert.deepStrictEqual(names(yield* listed(own, { category: "marketing" })), ["promo"])
      assert.deepStrictEqual(names(yield* listed(own, { language: "en" })), ["plain"])
      assert.deepStrictEqual(names(yield* listed(own, { name: "plain" })), ["plain", "plain"])
      assert.deepStrictEqual(names(yield* listed(own, { name: "plain", language: "en_US" })), ["plain"])
      assert.deepStrictEqual(names(yield* listed(own, { name: "promo", category: "utility" })), [])
      assert.deepStrictEqual(names(yield* listed(own, { name: "Plain" })), [])
      assert.deepStrictEqual(names(yield* listed(own, { name: "pl%" })), [])
    }))

  it.effect("list gives every status, newest first, in pages", () =>
    Effect.gen(function*() {
      const store = yield* TemplateStore.TemplateStore
      const own = yield* world()
      const all = yield* listed(own)
      assert.deepStrictEqual(all.map(({ id }) => id), all.map(({ id }) => id).sort().reverse())
      assert.strictEqual(all.length, 6)
      const first = yield* store.list(own.workspace.id, {}, { limit: 4, after: null })
      assert.deepStrictEqual(first, { items: all.slice(0, 4), next: all[3]!.id })
      const second = yield* store.list(own.workspace.id, {}, { limit: 4, after: first.next })
      assert.deepStrictEqual(second, { items: all.slice(4), next: null })
      const approved = yield* store.list(own.workspace.id, { status: "approved" }, { limit: 2, after: null })
      const rest = yield* store.list(own.workspace.id, { status: "approved" }, { limit: 2, after: approved.next })
      assert.deepStrictEqual(names([...approved.items, ...rest.items]), ["order", "plain", "promo"])
    }))

  it.effect("each workspace has templates of its own", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world({ start: own.start })
      const before = yield* listed(other)
      yield* sync(own, [{ ...plain, status: "rejected" }])
      assert.deepStrictEqual(yield* listed(other), before)
      assert.strictEqual(
        Fixture.describe((yield* Fixture.accept(own)).accepted),
        "forbidden/template_not_approved"
      )
      assert.strictEqual((yield* Fixture.accept(other)).accepted._tag, "Claimed")
    }))
}
