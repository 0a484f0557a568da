/**
 * Keeps answers to requests under their Idempotency-Keys (contract §14): the first request with a key does its work
 * once, and equal requests get its answer.
 */
import { EndpointAnnotations } from "@wac/api"
import {
  type ApiKey,
  Elapsed,
  Errors,
  Idempotency,
  KeptAnswer,
  KeptAnswerStore,
  RepeatedFailure,
  type Session,
  StoreError
} from "@wac/core"
import { Cause, Clock, Context, Duration, Effect, Fiber, FiberSet, Schedule } from "effect"
import { Digest } from "effect/crypto"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import * as RequestBody from "../bodies/RequestBody.ts"
import { Exchange } from "../Exchange.ts"

/** How often a request that waits for an equal one looks for its answer. */
const lookEvery = Duration.millis(100)

/** How often the recording of an answer is tried again before its caller gets it. */
const recordingRetries = 3

/**
 * The longest pause between two tries in the background. It is well below the lease, so that the key of a request that
 * gave it back during an outage is free soon after.
 */
const longestPause = Duration.seconds(10)

const pauses = Schedule.min([Schedule.exponential("1 second"), Schedule.spaced(longestPause)])

/** Tries to record the end of a request again, with growing pauses, until the storage does or the time is over. */
const later = (settled: Effect.Effect<void, StoreError.StoreError>, within: Duration.Duration) =>
  settled.pipe(
    Effect.retry({ schedule: Schedule.upTo(pauses, { duration: within }), while: ({ fault }) => fault === "storage" }),
    Effect.delay("1 second")
  )

const inProgress = new Errors.ServerError({
  reason: "in_progress",
  message: "the first request with this Idempotency-Key still runs; repeat the request to get its answer",
  retryAfter: Idempotency.joinRetryAfter
})

/** The body of a request as JSON; `null` if it is empty, and text if it is not JSON, which its decoder refuses. */
const jsonOf = (bytes: Uint8Array): unknown => {
  const text = new TextDecoder().decode(bytes)
  try {
    return text === "" ? null : JSON.parse(text)
  } catch {
    return text
  }
}

/** The text that identifies the person of a session as the caller to whom an Idempotency-Key belongs. */
export const callerOf = ({ email, userId }: Pick<Session.Session, "email" | "userId">): string => `${userId} ${email}`

/**
 * The text that identifies API keys as the caller to whom an Idempotency-Key belongs. It is the same for all keys with
 * the same numbers, so that changing a key does not break a retry, and no key gets an answer about other numbers.
 */
export const programOf = Effect.fnUntraced(function*(
  digest: Digest.Digest["Service"],
  { phoneNumberIds }: Pick<ApiKey.ApiKey, "phoneNumberIds">
) {
  return phoneNumberIds === null ? "keys" : `keys ${yield* Idempotency.fingerprint(digest, phoneNumberIds)}`
})

const pathOf = (url: string): string => url.split("?", 1)[0]!

const answerOf = (
  { body, status }: HttpServerResponse.HttpServerResponse,
  secrets: ReadonlyArray<string>
): KeptAnswer.Answer | null => {
  if (status >= 300) return null
  const text = body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""
  return { status, body: KeptAnswer.without(text, secrets) }
}

const responseOf = ({ body, status }: KeptAnswer.Answer): HttpServerResponse.HttpServerResponse =>
  body === ""
    ? HttpServerResponse.empty({ status })
    : HttpServerResponse.text(body, { status, contentType: "application/json" })

/** Handles a caller's request to an endpoint, or returns the kept answer to an equal request. */
type Around = <E, R>(
  endpoint: HttpApiEndpoint.Top,
  caller: Pick<KeptAnswer.Place, "workspaceId" | "caller">,
  request: HttpServerRequest.HttpServerRequest,
  handled: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) => Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  E | Errors.IdempotencyConflict | Errors.InvalidBody | Errors.ServerError,
  R
>

/** How the result of work becomes a kept answer, and a kept answer a result. */
export interface AnswerCodec<A> {
  /** `null` if the result is not kept; the key is then free again. */
  readonly answerOf: (result: A) => KeptAnswer.Answer | null
  readonly resultOf: (answer: KeptAnswer.Answer) => A
}

/**
 * Does work once for each place: an equal request gets its result, marked as replayed. `token` identifies the request.
 * If the first request ended without an answer, work that may be repeated is done again.
 */
type Keep = <A, E, R>(
  place: KeptAnswer.Place,
  asked: { readonly body: unknown; readonly token: string; readonly isRepeatable?: boolean },
  work: Effect.Effect<A, E, R>,
  kept: AnswerCodec<A>
) => Effect.Effect<
  { readonly isReplayed: boolean; readonly result: A },
  E | Errors.IdempotencyConflict | Errors.ServerError,
  R
>

/** Keeps answers under keys, for callers in the process. */
export const keeper = Effect.gen(function*() {
  const store = yield* KeptAnswerStore.KeptAnswerStore
  const digest = yield* Digest.Digest
  const scope = yield* Effect.scope

  // without the context of a request, which holds its body
  const fork = yield* FiberSet.makeRuntime<never>()

  const log = RepeatedFailure.make()

  const inBackground = (tries: Effect.Effect<void, StoreError.StoreError>) =>
    Effect.sync(() => void fork(Effect.ignore(tries)))

  const settle = (place: KeptAnswer.Place, token: string, answer: KeptAnswer.Answer | null) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => store.settle(place, token, answer, now))

  /** Records the end of a request, in the background for as long as the storage fails. */
  const record = (place: KeptAnswer.Place, token: string, answer: KeptAnswer.Answer | null) => {
    const settled = settle(place, token, answer)
    const failure = answer === null
      ? "an Idempotency-Key could not be given back"
      : "an answer could not be kept under its Idempotency-Key"
    return settled.pipe(
      Effect.retry({ times: recordingRetries }),
      Effect.catch((error) =>
        error.fault === "command"
          ? log(failure, failure, Cause.fail(error))
          : Effect.andThen(
            log(failure, `${failure}; it is tried again`, Cause.fail(error)),
            inBackground(later(settled, Idempotency.retention))
          )
      )
    )
  }

  /**
   * Undoes a claim that may exist although it failed. Nothing was begun, so the key must not become unknown when the
   * lease ends. The place is given back twice, as the failed statement may still be on its way to the storage.
   */
  const undo = (place: KeptAnswer.Place, token: string) => {
    const settled = settle(place, token, null)
    const again = later(settled, KeptAnswer.lease)
    return Effect.andThen(
      Effect.ignore(settled),
      inBackground(Effect.andThen(Effect.ignore(again), Effect.delay(again, longestPause)))
    )
  }

  /**
   * Claims a place, and does the work if it was free. Claim and work are one fiber, which continues even if the caller
   * disconnects: otherwise a claim whose caller left before its verdict would bind the key, with nothing begun.
   */
  const attempt = <A, E, R>(
    place: KeptAnswer.Place,
    asked: KeptAnswer.ClaimRequest,
    work: Effect.Effect<A, E, R>,
    answerOf: AnswerCodec<A>["answerOf"]
  ) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const { isRepeatable, token } = asked
        const now = yield* Clock.currentTimeMillis
        const verdict = yield* store.claim(place, asked, now).pipe(
          Effect.tapError(({ isUndone }) => isUndone === true ? Effect.void : undo(place, token)),
          StoreError.orUnavailable
        )
        if (verdict._tag !== "Claimed") return verdict
        let hasBegun = false
        const begun = Effect.suspend(() => {
          hasBegun = true
          return work
        })
        const result = yield* restore(Effect.tap(begun, (result) => record(place, token, answerOf(result)))).pipe(
          // interrupted work may have been done: its key stays claimed, and later requests learn that its outcome is
          // unknown
          Effect.onError((cause) =>
            Cause.hasInterrupts(cause) && hasBegun && !isRepeatable ? Effect.void : record(place, token, null)
          )
        )
        return { _tag: "Done", result } as const
      })
    )

  const keep: Keep = (place, { body, isRepeatable = false, token }, work, { answerOf, resultOf }) =>
    Effect.gen(function*() {
      const fingerprint = yield* Idempotency.fingerprint(digest, body)
      const attempted = Effect.flatMap(
        Effect.forkIn(attempt(place, { fingerprint, token, isRepeatable }, work, answerOf), scope),
        Fiber.join
      )
      const until = (yield* Elapsed.now) + Duration.toMillis(Idempotency.joinTimeout)
      while (true) {
        const end = yield* attempted
        switch (end._tag) {
          case "Done":
            return { isReplayed: false, result: end.result }
          case "Answered":
            return { isReplayed: true, result: resultOf(end.answer) }
          case "Conflict":
            return yield* KeptAnswer.conflict()
          case "Lost":
            return yield* KeptAnswer.lost()
          case "Running":
            // an equal request runs
            if ((yield* Elapsed.now) >= until) return yield* inProgress
            yield* Effect.sleep(lookEvery)
        }
      }
    })
  return keep
})

/** Keeps answers under keys, for requests over HTTP. */
export const make = Effect.gen(function*() {
  const keep = yield* keeper

  const around: Around = (endpoint, caller, request, handled) => {
    const header = request.headers["idempotency-key"]
    if (header === undefined || EndpointAnnotations.useOfKey(endpoint) !== "kept") return handled
    return Effect.gen(function*() {
      const exchange = yield* Exchange
      const place: KeptAnswer.Place = {
        ...caller,
        route: `${request.method} ${pathOf(request.url)}`,
        key: yield* Effect.fromResult(Idempotency.parseKey(header))
      }
      const secrets = Context.get(endpoint.annotations, EndpointAnnotations.ShownOnce)
      const bytes = exchange.body ?? new Uint8Array()
      const body = jsonOf(bytes)
      yield* RequestBody.turn(bytes)
      const { isReplayed, result } = yield* keep(
        place,
        {
          body,
          token: exchange.ownId,
          isRepeatable: EndpointAnnotations.has(endpoint, EndpointAnnotations.IsRepeatable)
        },
        // decoding walks through the body again, so other work gets its turn before it
        Effect.andThen(RequestBody.turn(bytes), handled),
        { answerOf: (response) => answerOf(response, secrets), resultOf: responseOf }
      )
      if (isReplayed) exchange.isReplayed = true
      return result
    })
  }
  return around
})
