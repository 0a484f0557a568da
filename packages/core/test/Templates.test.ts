import { assert, it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { TemplatesUnavailable } from "../src/Provider.ts"
import { Templates } from "../src/Templates.ts"
import { TemplateStore } from "../src/TemplateStore.ts"
import { hour, second } from "./checks.ts"
import { start } from "./samples.ts"
import { foundation, newId, stubProvider, templates, world } from "./world.ts"

const setUp = () => {
  const provider = stubProvider()
  return { provider, layer: Templates.layer.pipe(Layer.provide(provider.layer), Layer.provideMerge(foundation)) }
}

const list = (workspaceId: Parameters<Templates["Service"]["sync"]>[0]) =>
  Effect.map(
    Templates.use((_) => _.list(workspaceId, {}, { limit: 100, after: null })),
    ({ items }) => [...items].sort((a, b) => a.name < b.name ? -1 : 1)
  )

it.effect("a sync makes the workspace's templates those of the provider; known ones keep their id", () => {
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

it.effect("a sync that fails leaves the templates as they are", () => {
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

it.effect("what upstream tells while it lists holds against the list", () => {
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
