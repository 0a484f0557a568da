import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { TemplatesUnavailable } from "../src/Provider.ts"
import { Templates } from "../src/Templates.ts"
import { hour } from "./checks.ts"
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

it.effect("a workspace whose sync fails does not stop the others, and keeps what it has", () => {
  const { layer, provider } = setUp()
  return Effect.gen(function*() {
    yield* TestClock.setTime(start)
    const [one, other] = [yield* world(), yield* world()]
    let calls = 0
    provider.templates = Effect.suspend(() =>
      ++calls === 1
        ? Effect.fail(new TemplatesUnavailable({ message: "upstream is down" }))
        : Effect.succeed([templates[0]!])
    )
    yield* Templates.use((_) => _.syncAll)
    assert.strictEqual(calls, 2)
    assert.deepStrictEqual([(yield* list(one.workspace.id)).length, (yield* list(other.workspace.id)).length], [3, 1])
    calls = 0
    assert.strictEqual(
      (yield* Effect.flip(Templates.use((_) => _.sync(one.workspace.id))))._tag,
      "TemplatesUnavailable"
    )
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
