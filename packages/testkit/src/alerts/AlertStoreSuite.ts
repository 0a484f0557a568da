/**
 * Conformance of `AlertStore`: when alerts open and close, and the settings of their notices.
 */
import { assert } from "@effect/vitest"
import { Alert, AlertStep, AlertStore } from "@wac/core"
import { Duration, Effect } from "effect"
import * as Fixture from "../Fixture.ts"
import * as Forgetting from "../Forgetting.ts"

const { day, hour, world } = Fixture

const all = { limit: 100, after: null }

const failing: Alert.Problem = { kind: "webhook_failing", subject: "whk", message: "The webhook is failing: “x”." }
const high: Alert.Problem = { kind: "quota_high", subject: "2026-01", message: "80 of 100" }

/** Observes, and finishes the notifications unless the process stops before. */
const observe = (own: Fixture.World, problems: ReadonlyArray<Alert.Problem>, now = own.start, isFinished = true) =>
  Effect.gen(function*() {
    const store = yield* AlertStore.AlertStore
    const ids = yield* Effect.forEach(problems, () => Fixture.id("alr"))
    const observed = yield* store.observe({ now, workspaceId: own.workspace.id, problems, ids })
    if (isFinished) {
      yield* Effect.forEach([...observed.opened, ...observed.closed, ...observed.unfinished], store.finish)
    }
    return observed
  })

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a problem has one alert, from when it is noticed until it ends", () =>
    Effect.gen(function*() {
      const store = yield* AlertStore.AlertStore
      const own = yield* world()
      const first = yield* observe(own, [failing])
      const [opened] = first.opened
      assert.deepStrictEqual(first, {
        opened: [{ ...failing, id: opened!.id, workspaceId: own.workspace.id, openedAt: own.start, closedAt: null }],
        closed: [],
        unfinished: []
      })
      const second = yield* observe(own, [{ ...failing, message: "other words" }, high], own.start + 1)
      assert.deepStrictEqual(second.opened.map(({ kind }) => kind), ["quota_high"])
      const third = yield* observe(own, [high], own.start + hour)
      const closed = { ...opened!, closedAt: own.start + hour }
      assert.deepStrictEqual(third, { opened: [], closed: [closed], unfinished: [] })
      const nothing = { opened: [], closed: [], unfinished: [] }
      assert.deepStrictEqual(yield* observe(own, [high], own.start + hour), nothing)
      // if it recurs, it has another alert
      const again = yield* observe(own, [high, failing], own.start + 2 * hour)
      assert.deepStrictEqual(again.opened.map(({ kind }) => kind), ["webhook_failing"])
      const list = (filter: { readonly open?: boolean }) =>
        Effect.map(store.list(own.workspace.id, filter, all), ({ items }) => items)
      assert.deepStrictEqual(yield* list({}), [again.opened[0]!, second.opened[0]!, closed])
      assert.deepStrictEqual(yield* list({ open: true }), [again.opened[0]!, second.opened[0]!])
      assert.deepStrictEqual((yield* store.list((yield* world()).workspace.id, {}, all)).items, [])
    }))

  it.effect("an alert of a kind that only a later version knows stays open, and is not listed", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const later = { kind: "of_a_later_version", subject: "it", message: "Something." } as unknown as Alert.Problem
      assert.lengthOf((yield* observe(own, [later, failing])).opened, 1 + 1)
      const list = AlertStore.AlertStore.use((store) => store.list(own.workspace.id, {}, all))
      assert.deepStrictEqual((yield* list).items.map(({ kind }) => kind), [failing.kind])
      assert.deepStrictEqual((yield* observe(own, [])).closed.map(({ kind }) => kind), [failing.kind])
    }))

  it.effect("the alerts about a subject that were open in a part of a range are found, oldest first", () =>
    Effect.gen(function*() {
      const store = yield* AlertStore.AlertStore
      const own = yield* world()
      const other = { ...failing, subject: "another" }
      yield* observe(own, [failing, high, other], own.start)
      yield* observe(own, [], own.start + 2 * hour)
      yield* observe(own, [{ ...failing, kind: "webhook_paused" }, high], own.start + 4 * hour)
      const during = (since: number, until: number) =>
        Effect.map(
          store.during(own.workspace.id, failing.subject, {
            since: own.start + since * hour,
            until: own.start + until * hour
          }),
          (found) => found.map(({ closedAt, kind, openedAt }) => [kind, openedAt - own.start, closedAt] as const)
        )
      const first = ["webhook_failing", 0, own.start + 2 * hour] as const
      const second = ["webhook_paused", 4 * hour, null] as const
      assert.deepStrictEqual(yield* during(0, 5), [first, second])
      assert.deepStrictEqual(yield* during(1, 4), [first])
      assert.deepStrictEqual(yield* during(2, 4), [])
      assert.deepStrictEqual(yield* during(5, 6), [second])
      const range = { since: 0, until: Number.MAX_SAFE_INTEGER }
      assert.deepStrictEqual(yield* store.during((yield* world()).workspace.id, failing.subject, range), [])
    }))

  it.effect("of concurrent observers, one learns that a problem began, and one that it ended", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const race = (problems: ReadonlyArray<Alert.Problem>) =>
        Effect.replicateEffect(observe(own, problems), 8, { concurrency: "unbounded" })
      assert.strictEqual((yield* race([failing])).flatMap(({ opened }) => opened).length, 1)
      assert.strictEqual((yield* race([])).flatMap(({ closed }) => closed).length, 1)
    }))

  it.effect("a change whose notifications a process did not finish is given to another, one after the lease", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const lease = Duration.toMillis(AlertStep.lease)
      const stopped = (problems: ReadonlyArray<Alert.Problem>, now: number) => observe(own, problems, now, false)
      const { opened: [opened] } = yield* stopped([failing], own.start)
      assert.deepStrictEqual((yield* stopped([failing], own.start + lease - 1)).unfinished, [])
      const race = yield* Effect.replicateEffect(stopped([failing], own.start + lease), 4, { concurrency: "unbounded" })
      assert.deepStrictEqual(race.flatMap(({ unfinished }) => unfinished), [opened!])
      const { closed: [closed] } = yield* stopped([], own.start + lease + 1)
      // both changes are returned, each as it left the alert
      const late = own.start + 3 * lease
      assert.sameDeepMembers([...(yield* observe(own, [], late)).unfinished], [opened!, closed!])
      assert.deepStrictEqual((yield* observe(own, [], late + lease)).unfinished, [])
      assert.deepStrictEqual((yield* observe(yield* world(), [], late + lease)).unfinished, [])
    }))

  it.effect("settings are stored, and have no recipients at first", () =>
    Effect.gen(function*() {
      const store = yield* AlertStore.AlertStore
      const own = yield* world()
      assert.deepStrictEqual(yield* store.settings(own.workspace.id), Alert.noSettings)
      for (
        const settings of [
          { emails: ["ada@example.com", "ben@example.com"], url: "https://alerts.example.com/" },
          Alert.noSettings
        ]
      ) {
        yield* store.configure(own.workspace.id, settings)
        assert.deepStrictEqual(yield* store.settings(own.workspace.id), settings)
      }
    }))

  it.effect("alerts that closed before a time are deleted, and open ones stay", () =>
    Effect.gen(function*() {
      const store = yield* AlertStore.AlertStore
      const own = yield* world()
      yield* observe(own, [failing, high], own.start - day)
      yield* observe(own, [high], own.start - hour)
      yield* Forgetting.all(store.forget(own.start))
      const { items } = yield* store.list(own.workspace.id, {}, all)
      assert.deepStrictEqual(items.map(({ kind }) => kind), ["quota_high"])
    }))
}
