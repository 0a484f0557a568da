/**
 * Conformance of `KeptAnswerStore`: how requests under an idempotency key claim a place, and how its answer is kept.
 */
import { assert } from "@effect/vitest"
import { CustomerRecords, type Id, type Idempotency, KeptAnswer, KeptAnswerStore } from "@wac/core"
import { Duration, Effect } from "effect"
import * as Fixture from "../Fixture.ts"
import * as Forgetting from "../Forgetting.ts"

const { day, hour, world } = Fixture

const lease = Duration.toMillis(KeptAnswer.lease)

const placeIn = (workspaceId: Id.WorkspaceId) =>
  Effect.map(Fixture.word, (word): KeptAnswer.Place => ({
    workspaceId,
    caller: "usr_1",
    route: "POST /internal/campaigns",
    key: word as Idempotency.IdempotencyKey
  }))

/** A request with a body and a token; it takes no other's place. */
const asked = (fingerprint: string, token: string): KeptAnswer.ClaimRequest => ({
  fingerprint,
  token,
  isRepeatable: false
})

const answer: KeptAnswer.Answer = { status: 201, body: `{"id":"cmp_1","name":"Ünïcode “é”"}` }

/** Removes names from every answer of a workspace. */
const unname = (workspaceId: Id.WorkspaceId, texts: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const store = yield* KeptAnswerStore.KeptAnswerStore
    const names = CustomerRecords.written({ texts, keys: [] })
    for (let after: string | null = null, isMore = true; isMore; isMore = after !== null) {
      after = (yield* store.unname({ workspaceId, names, after })).next
    }
  })

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a place is claimed once, and what is answered is kept for 24 hours after the answer", () =>
    Effect.gen(function*() {
      const store = yield* KeptAnswerStore.KeptAnswerStore
      const { start, workspace } = yield* world()
      const place = yield* placeIn(workspace.id)
      const first = asked("f", "one")
      const second = asked("f", "two")
      assert.deepStrictEqual(yield* store.claim(place, first, start), { _tag: "Claimed" })
      assert.deepStrictEqual(yield* store.claim(place, first, start), { _tag: "Claimed" })
      assert.deepStrictEqual(yield* store.claim(place, second, start + 1), { _tag: "Running" })
      yield* store.settle(place, "one", answer, start + hour)
      for (const at of [start + hour, start + hour + day - 1]) {
        assert.deepStrictEqual(yield* store.claim(place, second, at), { _tag: "Answered", answer })
      }
      assert.deepStrictEqual(yield* store.claim(place, second, start + hour + day), { _tag: "Claimed" })
      assert.deepStrictEqual(
        yield* store.claim(place, { ...second, token: "three" }, start + hour + day),
        { _tag: "Running" }
      )
    }))

  it.effect("another body under the same key is a conflict, answered or not", () =>
    Effect.gen(function*() {
      const store = yield* KeptAnswerStore.KeptAnswerStore
      const { start, workspace } = yield* world()
      const place = yield* placeIn(workspace.id)
      yield* store.claim(place, asked("f", "one"), start)
      const other = asked("g", "two")
      assert.deepStrictEqual(yield* store.claim(place, other, start), { _tag: "Conflict" })
      yield* store.settle(place, "one", { status: 204, body: "" }, start)
      assert.deepStrictEqual(yield* store.claim(place, other, start), { _tag: "Conflict" })
      assert.deepStrictEqual(yield* store.claim(place, { ...other, fingerprint: "f" }, start), {
        _tag: "Answered",
        answer: { status: 204, body: "" }
      })
    }))

  it.effect("a place that is given back binds nothing, and only its owner gives it back or answers", () =>
    Effect.gen(function*() {
      const store = yield* KeptAnswerStore.KeptAnswerStore
      const { start, workspace } = yield* world()
      const place = yield* placeIn(workspace.id)
      yield* store.claim(place, asked("f", "one"), start)
      yield* store.settle(place, "another", null, start)
      yield* store.settle(place, "another", answer, start)
      const other = asked("g", "two")
      assert.deepStrictEqual(yield* store.claim(place, { ...other, fingerprint: "f" }, start), { _tag: "Running" })
      yield* store.settle(place, "one", null, start)
      assert.deepStrictEqual(yield* store.claim(place, other, start), { _tag: "Claimed" })
    }))

  it.effect("a request whose process ended is lost, and is never claimed by another, until its owner answers after all", () =>
    Effect.gen(function*() {
      const store = yield* KeptAnswerStore.KeptAnswerStore
      const { start, workspace } = yield* world()
      const place = yield* placeIn(workspace.id)
      yield* store.claim(place, asked("f", "one"), start)
      const again = asked("f", "two")
      assert.deepStrictEqual(yield* store.claim(place, again, start + lease - 1), { _tag: "Running" })
      for (const at of [start + lease, start + day - 1]) {
        assert.deepStrictEqual(yield* store.claim(place, again, at), { _tag: "Lost" })
      }
      yield* store.settle(place, "one", answer, start + lease)
      assert.deepStrictEqual(yield* store.claim(place, again, start + lease), { _tag: "Answered", answer })
    }))

  it.effect("a request that may be repeated takes the place of an equal one that is lost, which then records nothing", () =>
    Effect.gen(function*() {
      const store = yield* KeptAnswerStore.KeptAnswerStore
      const { start, workspace } = yield* world()
      const place = yield* placeIn(workspace.id)
      const again = (fingerprint: string, token: string) => ({ ...asked(fingerprint, token), isRepeatable: true })
      const lost = start + KeptAnswer.leaseOf({ isRepeatable: true })
      assert.deepStrictEqual(yield* store.claim(place, again("f", "one"), start), { _tag: "Claimed" })
      assert.deepStrictEqual(yield* store.claim(place, again("f", "two"), lost - 1), { _tag: "Running" })
      assert.deepStrictEqual(yield* store.claim(place, again("g", "two"), lost), { _tag: "Conflict" })
      assert.deepStrictEqual(yield* store.claim(place, again("f", "two"), lost), { _tag: "Claimed" })
      assert.deepStrictEqual(yield* store.claim(place, again("f", "three"), lost + 1), { _tag: "Running" })
      yield* store.settle(place, "one", { status: 200, body: "{}" }, lost + 1)
      yield* store.settle(place, "one", null, lost + 1)
      yield* store.settle(place, "two", answer, lost + 2)
      assert.deepStrictEqual(yield* store.claim(place, again("f", "three"), lost + lease), { _tag: "Answered", answer })
    }))

  it.effect("another workspace, person, route or key is another place", () =>
    Effect.gen(function*() {
      const store = yield* KeptAnswerStore.KeptAnswerStore
      const { start, workspace } = yield* world()
      const there = yield* world({ start })
      const place = yield* placeIn(workspace.id)
      const others = [
        place,
        { ...place, workspaceId: there.workspace.id },
        { ...place, caller: "usr_2" },
        { ...place, route: "POST /internal/webhook/replays" },
        yield* placeIn(workspace.id)
      ]
      for (const [i, each] of others.entries()) {
        assert.deepStrictEqual(yield* store.claim(each, asked(`${i}`, `${i}`), start), {
          _tag: "Claimed"
        })
      }
    }))

  it.effect("names are removed from where a workspace's answers name a customer, and the answers still answer equal requests", () =>
    Effect.gen(function*() {
      const store = yield* KeptAnswerStore.KeptAnswerStore
      const { start, workspace } = yield* world()
      const there = yield* world({ start })
      const answered = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId, value: object) {
        const place = yield* placeIn(workspaceId)
        const answer = { status: 200, body: JSON.stringify(value) }
        yield* store.claim(place, asked("f", "one"), start)
        yield* store.settle(place, "one", answer, start)
        return { place, answer }
      })
      const bodyOf = (place: KeptAnswer.Place) =>
        Effect.map(
          store.claim(place, asked("f", "two"), start),
          (verdict) => verdict._tag === "Answered" ? JSON.parse(verdict.answer.body) : verdict
        )
      const named = [
        [{ customer: "+12025550123", attemptCount: 2 }, { customer: "", attemptCount: 2 }],
        [
          { results: [{ message: `"+12025550123" is +12025550123.` }, { customer: "pending", status: "pending" }] },
          { results: [{ message: `"" is .` }, { customer: "", status: "pending" }] }
        ],
        [[{ customer: "US.1" }, { customer: `x"y\\z(` }], [{ customer: "" }, { customer: "" }]]
      ] as const
      const others = [
        { customer: "+120255501234" },
        { customer: "12025550123" },
        [{ customer: "US.12" }, { customer: "a US.1" }, { customer: "USA1" }],
        { message: "+120255501234", phone_number: "+12025550123", text: "a +12025550123" },
        { status: "pending", pending: 1, list: ["US.1"], message: "pending" },
        { message: "a", body: `"message":"+12025550123" and "customer":"US.1"` }
      ]
      const places = yield* Effect.forEach(named, ([before]) => answered(workspace.id, before))
      const unnamed = yield* Effect.forEach(others, (each) => answered(workspace.id, each))
      const elsewhere = yield* answered(there.workspace.id, named[0][0])
      const empty = yield* answered(workspace.id, {})
      yield* store.settle(empty.place, "one", { status: 204, body: "" }, start)
      const running = yield* placeIn(workspace.id)
      yield* store.claim(running, asked("f", "one"), start)
      yield* unname(workspace.id, ["US.1", "pending", "+12025550123", `x"y\\z(`])
      for (const [i, { place }] of places.entries()) assert.deepStrictEqual(yield* bodyOf(place), named[i]![1])
      for (const { answer, place } of [...unnamed, elsewhere, { ...empty, answer: { status: 204, body: "" } }]) {
        assert.deepStrictEqual(yield* store.claim(place, asked("f", "two"), start), { _tag: "Answered", answer })
      }
      assert.deepStrictEqual(yield* store.claim(running, asked("f", "two"), start), { _tag: "Running" })
    }))

  it.effect("names are removed in steps, however many answers there are", () =>
    Effect.gen(function*() {
      const store = yield* KeptAnswerStore.KeptAnswerStore
      const { start, workspace } = yield* world()
      const places = yield* Effect.replicateEffect(placeIn(workspace.id), 401)
      for (const place of places) {
        yield* store.claim(place, asked("f", "one"), start)
        yield* store.settle(place, "one", { status: 200, body: `{"customer":"+12025550123"}` }, start)
      }
      yield* unname(workspace.id, ["+12025550123"])
      for (const place of places) {
        const verdict = yield* store.claim(place, asked("f", "two"), start)
        assert.deepStrictEqual(verdict, { _tag: "Answered", answer: { status: 200, body: `{"customer":""}` } })
      }
    }))

  it.effect("a binding is deleted once it has expired, answered or not", () =>
    Effect.gen(function*() {
      const store = yield* KeptAnswerStore.KeptAnswerStore
      const { start, workspace } = yield* world()
      const places = yield* Effect.replicateEffect(placeIn(workspace.id), 3)
      for (const place of places) yield* store.claim(place, asked("f", "one"), start)
      yield* store.settle(places[0]!, "one", answer, start)
      yield* Forgetting.all(store.forget(start + day - 1))
      assert.deepStrictEqual(yield* store.claim(places[0]!, asked("f", "two"), start), { _tag: "Answered", answer })
      assert.isAtLeast(yield* Forgetting.all(store.forget(start + day)), 3)
      for (const place of places) {
        assert.deepStrictEqual(yield* store.claim(place, asked("f", "two"), start), { _tag: "Claimed" })
      }
    }))

  it.effect("of 20 racing requests with one key, exactly one claims it", () =>
    Effect.gen(function*() {
      const store = yield* KeptAnswerStore.KeptAnswerStore
      const { start, workspace } = yield* world()
      const place = yield* placeIn(workspace.id)
      const verdicts = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, i) => `${i}`),
        (token) => store.claim(place, asked("f", token), start),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(verdicts.filter(({ _tag }) => _tag === "Claimed").length, 1)
      assert.strictEqual(verdicts.filter(({ _tag }) => _tag === "Running").length, 19)
    }))
}
