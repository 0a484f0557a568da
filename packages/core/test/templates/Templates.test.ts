import { assert, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Forbidden, ServerError } from "../../src/Errors.ts"
import { PhoneNumberStore } from "../../src/numbers/PhoneNumberStore.ts"
import { Provider, TemplatesUnavailable } from "../../src/provider/Provider.ts"
import { TemplateRequests } from "../../src/templates/TemplateRequests.ts"
import { Templates } from "../../src/templates/Templates.ts"
import { TemplateStore } from "../../src/templates/TemplateStore.ts"
import { hour, second } from "../checks.ts"
import { logged } from "../logged.ts"
import { start } from "../samples.ts"
import { foundation, newId, stubProvider, templates, world } from "../world.ts"

const setUp = () => {
  const provider = stubProvider()
  return { provider, layer: Templates.layer.pipe(Layer.provide(provider.layer), Layer.provideMerge(foundation)) }
}

const list = (workspaceId: Parameters<Templates["Service"]["sync"]>[0]) =>
  Effect.map(
    Templates.use((_) => _.list(workspaceId, {}, { limit: 100, after: null })),
    ({ items }) => [...items].sort((a, b) => a.name < b.name ? -1 : 1)
  )

it.effect("a sync makes the workspace's templates equal to the provider's, and known ones keep their id", () => {
  const { layer, provider } = setUp()
  return Effect.gen(function*() {
    yield* TestClock.setTime(start)
    const { workspace } = yield* world()
    const before = yield* list(workspace.id)
    assert.deepStrictEqual(before.map(({ name, variables }) => [name, variables]), [
      ["order", ["1", "2"]],
      ["plain", []],
      ["promo", ["1"]]
    ])
    yield* TestClock.adjust(hour)
    const [plain, order] = templates
    provider.templates = Effect.succeed([
      plain!,
      { ...order!, status: "paused", components: [{ type: "BODY", text: "Order {{1}}." }] },
      { ...plain!, language: "pt_BR" }
    ])
    yield* Templates.use((_) => _.sync(workspace.id))
    const after = yield* list(workspace.id)
    const seen = after.map(({ language, name, status, syncedAt, variables }) => ({
      language,
      name,
      status,
      syncedAt,
      variables
    }))
    assert.sameDeepMembers(seen, [
      { name: "plain", language: "en_US", status: "approved", variables: [], syncedAt: start + hour },
      { name: "plain", language: "pt_BR", status: "approved", variables: [], syncedAt: start + hour },
      { name: "order", language: "en_US", status: "paused", variables: ["1"], syncedAt: start + hour }
    ])
    assert.strictEqual(after.find(({ name }) => name === "order")?.id, before.find(({ name }) => name === "order")?.id)
  }).pipe(Effect.provide(layer))
})

it.effect("the first list is awaited for 20 seconds, and a workspace that has templates does not list them", () => {
  const { layer, provider } = setUp()
  return logged((lines) =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const { number, workspace } = yield* world()
      const syncFirst = Templates.use((_) => _.syncFirst(workspace.id))
      let listings = 0
      provider.listed = () => void listings++
      provider.templates = Effect.never
      yield* syncFirst
      assert.strictEqual(listings, 0)
      const { providerAccountId, workspaceId } = number
      yield* TemplateStore.use((store) =>
        store.replaceAll({
          now: start + 1,
          listedAt: start + 1,
          workspaceId,
          providerAccountId,
          listed: [],
          ids: []
        })
      )
      const waiting = yield* Effect.forkChild(syncFirst)
      yield* TestClock.adjust(20 * second)
      yield* Fiber.join(waiting)
      assert.strictEqual(listings, 1)
      assert.deepStrictEqual(lines.map(({ level, message }) => [level, message]), [
        ["Warn", "the provider has not yet listed its templates"]
      ])
      provider.templates = Effect.succeed(templates)
      yield* syncFirst
      assert.strictEqual((yield* list(workspace.id)).length, 3)
    })
  ).pipe(Effect.provide(layer))
})

it.effect("a failed sync leaves the templates as they are", () => {
  const { layer, provider } = setUp()
  return Effect.gen(function*() {
    yield* TestClock.setTime(start)
    const { workspace } = yield* world()
    provider.templates = Effect.fail(new TemplatesUnavailable({ message: "upstream is down" }))
    const error = yield* Effect.flip(Templates.use((_) => _.sync(workspace.id)))
    assert.strictEqual(error._tag, "TemplatesUnavailable")
    assert.strictEqual((yield* list(workspace.id)).length, 3)
  }).pipe(Effect.provide(layer))
})

it.effect("a sync lists each account of the workspace's numbers once, and a failed one does not stop the others", () => {
  const { layer, provider } = setUp()
  return Effect.gen(function*() {
    yield* TestClock.setTime(start)
    const { number, workspace } = yield* world()
    yield* Effect.forEach(["account-1", "account-2", "account-2"], (providerAccountId, i) =>
      Effect.gen(function*() {
        const further = { id: yield* newId("pn"), phoneNumber: `+1415555020${i}`, providerNumberId: `number-${i}` }
        const added = { ...number, ...further, providerAccountId, isDefault: false }
        assert.isTrue(yield* PhoneNumberStore.use((store) => store.add(added)))
      }))
    const asked: Array<string> = []
    provider.listed = ({ providerAccountId }) => void asked.push(providerAccountId)
    provider.templates = Effect.suspend(() => Effect.succeed(templates.slice(asked.length)))
    assert.deepStrictEqual(yield* Templates.use((_) => _.sync(workspace.id)), { count: 3, listedAt: start })
    assert.deepStrictEqual(asked, ["account-1", "account-2"])
    const of = Effect.map(
      list(workspace.id),
      (all) => all.map(({ name, providerAccountId }) => `${name} ${providerAccountId}`).sort()
    )
    const before = yield* of
    assert.strictEqual(before.length, 3)
    yield* TestClock.adjust(hour)
    provider.templates = Effect.suspend(() =>
      asked.at(-1) === "account-1"
        ? Effect.fail(new TemplatesUnavailable({ message: "upstream is down" }))
        : Effect.succeed([])
    )
    assert.strictEqual((yield* Effect.flip(Templates.use((_) => _.sync(workspace.id))))._tag, "TemplatesUnavailable")
    assert.deepStrictEqual(yield* of, before.filter((name) => name.endsWith("account-1")))
  }).pipe(Effect.provide(layer))
})

it.effect("a report during a listing outranks the listing", () => {
  const { layer, provider } = setUp()
  return Effect.gen(function*() {
    yield* TestClock.setTime(start)
    const { number, workspace } = yield* world()
    provider.templates = Effect.gen(function*() {
      yield* TestClock.adjust(5 * second)
      const now = yield* Clock.currentTimeMillis
      const { providerAccountId } = number
      const told = { now, at: now - second, providerAccountId, name: "plain", language: "en_US" }
      yield* TemplateStore.use((store) => store.update({ ...told, change: { status: "paused" } })).pipe(
        Effect.provideContext(services),
        Effect.orDie
      )
      return templates
    })
    const services = yield* Effect.context<TemplateStore>()
    assert.deepStrictEqual(yield* Templates.use((_) => _.sync(workspace.id)), { count: 3, listedAt: start })
    const plain = (yield* list(workspace.id)).find(({ name }) => name === "plain")
    assert.deepStrictEqual([plain?.status, plain?.syncedAt], ["paused", start])
  }).pipe(Effect.provide(layer))
})

it.effect("a workspace without a number has nothing to sync", () => {
  const { layer, provider } = setUp()
  return Effect.gen(function*() {
    let calls = 0
    provider.templates = Effect.sync(() => {
      calls++
      return []
    })
    yield* Templates.use((_) => Effect.flatMap(newId("ws"), _.sync))
    assert.strictEqual(calls, 0)
  }).pipe(Effect.provide(layer))
})

it.effect("after an edit of a template that the provider no longer has, its account is listed", () => {
  const { provider } = setUp()
  const unused = () => Effect.die("unused")
  const lost = new Forbidden({ reason: "template_not_found", message: "the provider does not know this template" })
  const busy = new ServerError({ reason: "provider_unavailable", message: "not now" })
  const refusals: Array<Forbidden | ServerError> = [busy, lost]
  const editing = Layer.effect(
    Provider,
    Provider.use((all) =>
      Effect.succeed(
        Provider.of({
          ...all,
          templateEditor: {
            create: unused,
            edit: () => Effect.suspend(() => Effect.fail(refusals.shift()!)),
            uploadSample: unused,
            remove: unused
          }
        })
      )
    )
  ).pipe(Layer.provide(provider.layer))
  return Effect.gen(function*() {
    yield* TestClock.setTime(start)
    const { number, workspace } = yield* world()
    const [first] = yield* list(workspace.id)
    const requests = yield* TemplateRequests
    yield* requests.take
    const edit = Effect.flip(Templates.use((_) => _.edit(workspace.id, first!.id, { messageSendTtlSeconds: 60 })))
    assert.strictEqual(yield* edit, busy)
    assert.deepStrictEqual(yield* requests.take, [])
    assert.strictEqual(yield* edit, lost)
    assert.deepStrictEqual(yield* requests.take, [number.providerAccountId])
  }).pipe(Effect.provide(Templates.layer.pipe(Layer.provide(editing), Layer.provideMerge(foundation))))
})

it.effect("after a template is deleted, its account is listed, since a listing that began before may bring it back", () => {
  const { provider } = setUp()
  const unused = () => Effect.die("unused")
  const editing = Layer.effect(
    Provider,
    Provider.use((all) =>
      Effect.succeed(
        Provider.of({
          ...all,
          templateEditor: {
            create: unused,
            edit: unused,
            uploadSample: unused,
            remove: () => Effect.void
          }
        })
      )
    )
  ).pipe(Layer.provide(provider.layer))
  return Effect.gen(function*() {
    yield* TestClock.setTime(start)
    const { number, workspace } = yield* world()
    const [first] = yield* list(workspace.id)
    const requests = yield* TemplateRequests
    yield* requests.take
    yield* Templates.use((_) => _.remove(workspace.id, first!.id))
    assert.deepStrictEqual(yield* requests.take, [number.providerAccountId])
  }).pipe(Effect.provide(Templates.layer.pipe(Layer.provide(editing), Layer.provideMerge(foundation))))
})
