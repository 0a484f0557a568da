/**
 * A `WebhookTransport` without a network: a function responds, and every request is recorded with the clock's time.
 * With it and a memory storage, the scheduler's days run in a moment under the test clock.
 */
import { WebhookTransport } from "@wac/core"
import { Clock, Context, Duration, Effect, Layer } from "effect"
import * as Arrivals from "../Arrivals.ts"

/** A request that was posted. */
export interface PostedRequest extends WebhookTransport.WebhookRequest {
  readonly at: number
}

/** Responds to a request. It may sleep, or never end: it is then cut off at the timeout. */
export type Answer = (request: PostedRequest) => Effect.Effect<WebhookTransport.WebhookAnswer>

/** The response of a receiver with this status. */
export const answered = (
  statusCode: number,
  rest: Partial<WebhookTransport.WebhookAnswer> = {}
): WebhookTransport.WebhookAnswer => ({
  outcome: statusCode === 200 ? "delivered" : statusCode >= 300 && statusCode < 400 ? "redirect" : "status",
  statusCode,
  message: statusCode === 200 ? "answered 200" : `answered ${statusCode}; only 200 counts`,
  address: null,
  timings: null,
  response: { headers: {}, body: "" },
  retryAfter: null,
  ...rest
})

/** The result if no connection is established. */
export const unreachable: WebhookTransport.WebhookAnswer = {
  outcome: "connect",
  statusCode: null,
  message: "the connection was refused",
  address: null,
  timings: null,
  response: null,
  retryAfter: null
}

/** The result of a timeout. */
const timedOut = (timeout: Duration.Duration): WebhookTransport.WebhookAnswer => ({
  ...unreachable,
  outcome: "timeout",
  message: `did not answer within ${Duration.toSeconds(timeout)} seconds`
})

/** Accepts every request. */
export const ok: Answer = () => Effect.succeed(answered(200))

/** Never responds. */
export const hang: Answer = () => Effect.never

export class StubTransport extends Context.Service<StubTransport, {
  /** Every request so far, in the order of posting. */
  readonly requests: Effect.Effect<ReadonlyArray<PostedRequest>>
  /** The earliest request that `next` has not returned yet. Suspends until there is one. */
  readonly next: Effect.Effect<PostedRequest>
  /** Suspends until at least `count` requests have been posted in total. Returns all of them. */
  readonly waitFor: (count: number) => Effect.Effect<ReadonlyArray<PostedRequest>>
  /** Sets the response to later requests. */
  readonly answerWith: (answer: Answer) => Effect.Effect<void>
  /** How many requests have no response yet, and the maximum so far. */
  readonly inFlight: Effect.Effect<{ readonly now: number; readonly most: number }>
  /** How many requests were cut off by their timeout or their caller. */
  readonly interrupted: Effect.Effect<number>
}>()("@wac/testkit/webhooks/StubTransport") {}

/** The transport, and the service that controls it. */
export const layer = (first: Answer = ok): Layer.Layer<StubTransport | WebhookTransport.WebhookTransport> =>
  Layer.effectContext(Effect.gen(function*() {
    const requests = yield* Arrivals.make<PostedRequest>()
    let answer = first
    let now = 0
    let most = 0
    let interrupted = 0

    const cutOff = Effect.sync(() => interrupted++)

    const post = (request: WebhookTransport.WebhookRequest) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const posted = { ...request, at: yield* Clock.currentTimeMillis }
          most = Math.max(most, ++now)
          yield* requests.add(posted)
          const answering = Effect.timeoutOrElse(Effect.suspend(() => answer(posted)), {
            duration: request.timeout,
            orElse: () => Effect.as(cutOff, timedOut(request.timeout))
          })
          return yield* Effect.onInterrupt(restore(answering), () => cutOff)
        }).pipe(Effect.ensuring(Effect.sync(() => now--)))
      )

    return Context.empty().pipe(
      Context.add(WebhookTransport.WebhookTransport, { post }),
      Context.add(StubTransport, {
        requests: requests.all,
        next: requests.next,
        waitFor: requests.waitFor,
        answerWith: (next) => Effect.sync(() => void (answer = next)),
        inFlight: Effect.sync(() => ({ now, most })),
        interrupted: Effect.sync(() => interrupted)
      })
    )
  }))
