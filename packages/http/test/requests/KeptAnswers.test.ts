import { assert, it } from "@effect/vitest"
import { Api } from "@wac/api"
import { Errors, Id, type KeptAnswer, KeptAnswerStore } from "@wac/core"
import { Deferred, Effect, Exit, Scope } from "effect"
import { Digest } from "effect/crypto"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import * as KeptAnswers from "../../src/requests/KeptAnswers.ts"

const person = {
  workspaceId: Id.WorkspaceId.make("ws_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
  caller: "usr_01ARZ3NDEKTSV4RRFFQ69G5FAV ana@shop.example"
}

const request = HttpServerRequest.fromWeb(
  new Request("http://localhost/internal/campaigns", { method: "POST", headers: { "idempotency-key": "k" } })
)

/** Handles a request with a key that is free, and gives what was recorded of it, in order. */
const recordedOf = Effect.fnUntraced(
  function*<E>(
    handled: (stop: Effect.Effect<void>) => Effect.Effect<HttpServerResponse.HttpServerResponse, E>,
    endpoint: HttpApiEndpoint.Top = Api.groups.campaignsDashboard.endpoints.create
  ) {
    const recorded: Array<KeptAnswer.Answer | null> = []
    const store = KeptAnswerStore.KeptAnswerStore.of({
      claim: () => Effect.succeed({ _tag: "Claimed" }),
      settle: (_place, _token, answer) => Effect.sync(() => void recorded.push(answer))
    })
    const server = yield* Scope.make()
    const around = yield* KeptAnswers.make.pipe(
      Effect.provideService(KeptAnswerStore.KeptAnswerStore, store),
      Effect.provide(Digest.layerWebCrypto),
      Scope.provide(server)
    )
    const begun = yield* Deferred.make<void>()
    const work = handled(Deferred.complete(begun, Effect.void))
    yield* Effect.exit(Effect.raceFirst(
      around(endpoint, person, request, work),
      Effect.andThen(Deferred.await(begun), Scope.close(server, Exit.void))
    ))
    return recorded
  }
)

it.effect("a refusal gives the key back", () =>
  Effect.gen(function*() {
    const refusal = new Errors.InvalidBody({ reason: "invalid_field", message: "no" })
    assert.deepStrictEqual(yield* recordedOf(() => Effect.fail(refusal)), [null])
  }))

it.effect("an answer is kept", () =>
  Effect.gen(function*() {
    const made = HttpServerResponse.text("{}", { status: 201 })
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
