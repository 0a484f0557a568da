import { assert, it } from "@effect/vitest"
import { Api } from "@wac/api"
import { Errors, Id, type KeptAnswer, KeptAnswerStore, StoreError } from "@wac/core"
import { Clock, Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { Digest } from "effect/crypto"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { TestClock } from "effect/testing"
import * as KeptAnswers from "../../src/requests/KeptAnswers.ts"

const person = {
  workspaceId: Id.WorkspaceId.make("ws_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
  caller: "usr_01ARZ3NDEKTSV4RRFFQ69G5FAV ana@shop.example"
}

const request = HttpServerRequest.fromWeb(
  new Request("http://localhost/internal/campaigns", { method: "POST", headers: { "idempotency-key": "k" } })
)

type Store = KeptAnswerStore.KeptAnswerStore["Service"]

/** Keeps answers in a store of which some steps are given, and records what is settled, in order. */
const keeping = Effect.fnUntraced(
  function*(given: { readonly claim?: Store["claim"]; readonly fails?: () => Effect.Effect<boolean> } = {}) {
    const { claim = () => Effect.succeed({ _tag: "Claimed" }), fails = () => Effect.succeed(false) } = given
    const recorded: Array<KeptAnswer.Answer | null> = []
    const store = KeptAnswerStore.KeptAnswerStore.of({
      claim,
      unname: () => Effect.succeed({ next: null }),
      forget: () => Effect.succeed({ removed: 0, isMore: false }),
      settle: (_place, _token, answer) =>
        Effect.flatMap(
          fails(),
          (isFailing) => isFailing ? Effect.fail(unreachable) : Effect.sync(() => void recorded.push(answer))
        )
    })
    const server = yield* Scope.make()
    yield* Effect.addFinalizer(() => Scope.close(server, Exit.void))
    const around = yield* KeptAnswers.make.pipe(
      Effect.provideService(KeptAnswerStore.KeptAnswerStore, store),
      Effect.provide(Digest.layerWebCrypto),
      Scope.provide(server)
    )
    return { around, recorded, stop: Scope.close(server, Exit.void) }
  }
)

const unreachable = new StoreError.StoreError({ operation: "KeptAnswerStore" })

const { create } = Api.groups.campaignsDashboard.endpoints

const made = HttpServerResponse.text("{}", { status: 201 })

/** Handles a request with a key that is free, and gives what was recorded of it, in order. */
const recordedOf = Effect.fnUntraced(
  function*<E>(
    handled: (stop: Effect.Effect<void>) => Effect.Effect<HttpServerResponse.HttpServerResponse, E>,
    endpoint: HttpApiEndpoint.Top = create
  ) {
    const { around, recorded, stop } = yield* keeping()
    const begun = yield* Deferred.make<void>()
    const work = handled(Deferred.complete(begun, Effect.void))
    yield* Effect.exit(Effect.raceFirst(
      around(endpoint, person, request, work),
      Effect.andThen(Deferred.await(begun), stop)
    ))
    return recorded
  },
  Effect.scoped
)

it.effect("a refusal gives the key back", () =>
  Effect.gen(function*() {
    const refusal = new Errors.InvalidBody({ reason: "invalid_field", message: "no" })
    assert.deepStrictEqual(yield* recordedOf(() => Effect.fail(refusal)), [null])
  }))

it.effect("an answer is kept", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* recordedOf(() => Effect.succeed(made)), [{ status: 201, body: "{}" }])
  }))

it.effect("work that a stop cuts off keeps its key, as it may have been done", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* recordedOf((stop) => Effect.andThen(stop, Effect.never)), [])
  }))

it.effect("work that may be repeated gives its key back when a stop cuts it off", () =>
  Effect.gen(function*() {
    const cutOff = (stop: Effect.Effect<void>) => Effect.andThen(stop, Effect.never)
    assert.deepStrictEqual(yield* recordedOf(cutOff, Api.groups.messages.endpoints.batch), [null])
  }))

/** A claim that is committed a second before its verdict arrives. */
const slowClaim = Effect.map(Deferred.make<void>(), (committed) => ({
  committed: Deferred.await(committed),
  claim: () =>
    Effect.as(Effect.andThen(Deferred.succeed(committed, undefined), Effect.sleep("1 second")), {
      _tag: "Claimed" as const
    })
}))

it.effect("a caller that leaves while its key is claimed binds the key to an answer", () =>
  Effect.gen(function*() {
    const { claim, committed } = yield* slowClaim
    const { around, recorded } = yield* keeping({ claim })
    const asking = yield* Effect.forkScoped(around(create, person, request, Effect.succeed(made)))
    yield* committed
    yield* Fiber.interrupt(asking)
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(recorded, [{ status: 201, body: "{}" }])
  }))

it.effect("a stop while a key is claimed gives the key back, as nothing was begun", () =>
  Effect.gen(function*() {
    const { claim, committed } = yield* slowClaim
    const { around, recorded, stop } = yield* keeping({ claim })
    let hasBegun = false
    const work = Effect.sync(() => {
      hasBegun = true
      return made
    })
    yield* Effect.forkScoped(around(create, person, request, work))
    yield* committed
    const stopping = yield* Effect.forkScoped(stop)
    yield* TestClock.adjust("1 second")
    yield* Fiber.join(stopping)
    assert.deepStrictEqual([recorded, hasBegun], [[null], false])
  }))

/** Whether 30 s of the test have not passed yet. */
const outage = () => Effect.map(Clock.currentTimeMillis, (now) => now < 30_000)

it.effect("a key that cannot be given back during an outage is given back soon after it, within its lease", () =>
  Effect.gen(function*() {
    const { around, recorded } = yield* keeping({ fails: outage })
    const unavailable = StoreError.toServerError(unreachable)
    assert.deepStrictEqual(
      yield* Effect.flip(around(create, person, request, Effect.fail(unavailable))),
      unavailable
    )
    yield* TestClock.adjust("29 seconds")
    assert.deepStrictEqual(recorded, [])
    yield* TestClock.adjust("15 seconds")
    assert.deepStrictEqual(recorded, [null])
    yield* TestClock.adjust("2 minutes")
    assert.deepStrictEqual(recorded, [null])
  }))

it.effect("an answer that cannot be kept during an outage is kept soon after it", () =>
  Effect.gen(function*() {
    const { around, recorded } = yield* keeping({ fails: outage })
    yield* around(create, person, request, Effect.succeed(made))
    assert.deepStrictEqual(recorded, [])
    yield* TestClock.adjust("44 seconds")
    assert.deepStrictEqual(recorded, [{ status: 201, body: "{}" }])
  }))

it.effect("a key whose claim failed is given back after the outage, and once more, as the claim may come late", () =>
  Effect.gen(function*() {
    const { around, recorded } = yield* keeping({ claim: () => Effect.fail(unreachable), fails: outage })
    const refused = yield* Effect.flip(around(create, person, request, Effect.succeed(made)))
    assert.deepStrictEqual(refused, StoreError.toServerError(unreachable))
    yield* TestClock.adjust("44 seconds")
    assert.deepStrictEqual(recorded, [null])
    yield* TestClock.adjust("15 seconds")
    assert.deepStrictEqual(recorded, [null, null])
  }))

it.effect("a claim that the storage certainly did not record gives nothing back", () =>
  Effect.gen(function*() {
    const undone = new StoreError.StoreError({ operation: "KeptAnswerStore.claim", isUndone: true })
    const { around, recorded } = yield* keeping({ claim: () => Effect.fail(undone) })
    assert.deepStrictEqual(
      yield* Effect.flip(around(create, person, request, Effect.succeed(made))),
      StoreError.toServerError(undone)
    )
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(recorded, [])
  }))
