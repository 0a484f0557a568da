import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import type { WorkspaceId } from "../../src/Id.ts"
import { StoreError } from "../../src/StoreError.ts"
import * as ReplayRunner from "../../src/webhooks/ReplayRunner.ts"
import { type CreateReplay, Replays } from "../../src/webhooks/Replays.ts"
import { ReplayStore } from "../../src/webhooks/ReplayStore.ts"
import { Webhooks } from "../../src/webhooks/Webhooks.ts"
import { hour, minute, second } from "../checks.ts"
import { advance } from "../clock.ts"
import { start } from "../samples.ts"
import { deliveries, posted, receiver, scheduling, startScheduler } from "../scheduling.ts"
import { world } from "../world.ts"

const replays = Effect.provide(Replays, Replays.layer)

const create = (workspaceId: WorkspaceId, fields: Partial<CreateReplay> = {}) =>
  Effect.flatMap(
    replays,
    (service) => service.create({ workspaceId, since: start, until: undefined, status: undefined, ...fields })
  )

/** Starts the runner like a process. `stop` closes its scope. */
const startRunner = Effect.gen(function*() {
  const scope = yield* Scope.make()
  yield* Layer.buildWithScope(Layer.fresh(ReplayRunner.layer), scope)
  return { stop: Scope.close(scope, Exit.void) }
})

describe("replays", () => {
  it.effect(
    "a replay posts delivered events again, byte for byte and in the order of recording, while new events flow",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, workspace } = yield* receiver()
        yield* startScheduler
        const { stop } = yield* startRunner
        const first = yield* Effect.replicateEffect(Effect.tap(happens, advance(second)), 20)
        yield* advance(minute)
        const before = yield* posted
        assert.deepStrictEqual(before.map(({ eventId }) => eventId), first)

        const job = yield* create(workspace.id, { since: start + 2 * second, until: start + 12 * second })
        assert.deepStrictEqual([job.state, job.total, job.replayed], ["running", 10, 0])
        const fresh = yield* happens
        yield* advance(2 * second)
        const ended = yield* Effect.flatMap(replays, ({ get }) => get(workspace.id, job.id))
        assert.deepStrictEqual([ended.state, ended.total, ended.replayed], ["completed", 10, 10])
        const again = (yield* posted).slice(20)
        const replayed = again.filter(({ eventId }) => eventId !== fresh)
        assert.deepStrictEqual(
          replayed.map(({ body, eventId }) => [eventId, body]),
          before.slice(2, 12).map(({ body, eventId }) => [eventId, body])
        )
        assert.lengthOf(again, 11)
        yield* advance(hour)
        assert.lengthOf(yield* posted, 31)
        yield* stop
      })
    )
  )

  it.effect(
    "a replay can be listed and cancelled, and does not cover later events",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, workspace } = yield* receiver()
        yield* startScheduler
        yield* happens
        yield* advance(second)
        const service = yield* replays
        const cancelled = yield* create(workspace.id)
        assert.strictEqual((yield* service.cancel(workspace.id, cancelled.id)).state, "cancelled")
        const job = yield* create(workspace.id, { until: start + hour })
        assert.deepStrictEqual([job.until, job.total], [start + second, 1])
        yield* happens
        yield* advance(second)
        yield* startRunner
        yield* advance(2 * second)
        assert.deepStrictEqual(
          (yield* deliveries(workspace.id)).map(({ delivery }) => delivery.trigger),
          ["replay", "automatic"]
        )
        const { items } = yield* service.list(workspace.id, { limit: 10, after: null })
        assert.deepStrictEqual(items.map(({ id, state }) => [id, state]), [
          [job.id, "completed"],
          [cancelled.id, "cancelled"]
        ])
      })
    )
  )

  it.effect(
    "a replay is refused for an empty range, without a webhook, and for other workspaces",
    scheduling(() =>
      Effect.gen(function*() {
        const { workspace } = yield* receiver()
        const other = yield* world()
        for (const until of [start, start - 1]) {
          const error = yield* Effect.flip(create(workspace.id, { until }))
          assert.deepInclude(error, { _tag: "InvalidBody", param: "until" })
        }
        assert.strictEqual((yield* Effect.flip(create(other.workspace.id)))._tag, "NotFound")
        const job = yield* create(workspace.id)
        const service = yield* replays
        for (const ask of [service.get, service.cancel]) {
          assert.strictEqual((yield* Effect.flip(ask(other.workspace.id, job.id)))._tag, "NotFound")
        }
        assert.deepStrictEqual((yield* service.list(other.workspace.id, { limit: 10, after: null })).items, [])
        yield* Webhooks.use((webhooks) => webhooks.remove(workspace.id))
        yield* startRunner
        yield* advance(second)
        assert.strictEqual((yield* service.get(workspace.id, job.id)).state, "cancelled")
      })
    )
  )
})

describe("the runner", () => {
  it.effect(
    "the runner takes steps until none is due, continues after a failure, and stops with its scope",
    scheduling(() =>
      Effect.gen(function*() {
        const steps: Array<number> = []
        const answers = [true, true, false, "fails", true, false]
        const store = Layer.mock(ReplayStore, {
          step: (now: number) =>
            Effect.suspend(() => {
              steps.push(now - start)
              const answer = answers.shift() ?? false
              return answer === "fails"
                ? Effect.fail(new StoreError({ operation: "ReplayStore.step" }))
                : Effect.succeed(answer === true)
            })
        })
        const scope = yield* Scope.make()
        yield* Layer.buildWithScope(Layer.provide(Layer.fresh(ReplayRunner.layer), store), scope)
        yield* advance(3 * second)
        assert.deepStrictEqual(steps, [1, 1, 1, 2, 3, 3].map((seconds) => seconds * second))
        yield* Scope.close(scope, Exit.void)
        yield* advance(minute)
        assert.lengthOf(steps, 6)
      })
    )
  )
})
