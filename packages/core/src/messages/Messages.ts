/**
 * The service that sends messages (contract §3 and §4): *accept*, the provider, *settle*, and joining a send that is in
 * progress. Writes through `MessageStore` and calls the provider.
 */
import {
  Cause,
  Clock,
  Context,
  Deferred,
  Duration,
  Effect,
  Exit,
  Fiber,
  FiberSet,
  Layer,
  Option,
  Result,
  Schedule
} from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import * as Recipient from "../campaigns/Recipient.ts"
import * as Contact from "../contacts/Contact.ts"
import * as Deadlines from "../Deadlines.ts"
import { type DomainError, IdempotencyConflict, type NotFound, reasonOf, ServerError } from "../Errors.ts"
import * as Id from "../Id.ts"
import { CurrentLimits } from "../limits/Limits.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import * as Lookup from "../Lookup.ts"
import { SendableMedia } from "../media/SendableMedia.ts"
import * as Metrics from "../Metrics.ts"
import type { Page, PageRequest } from "../Page.ts"
import * as Span from "../Span.ts"
import { Stopping } from "../Stopping.ts"
import { orUnavailable, type StoreError } from "../StoreError.ts"
import type { Activity } from "../usage/Activity.ts"
import { UsageRecorder } from "../usage/UsageRecorder.ts"
import * as Idempotency from "./Idempotency.ts"
import * as Message from "./Message.ts"
import {
  type AcceptSend,
  type ClaimedSend,
  type KeyedRequest,
  type MessageFilter,
  MessageStore,
  type SendEnd
} from "./MessageStore.ts"
import * as Policy from "./Policy.ts"
import { Provider, type ProviderOutcome } from "./Provider.ts"
import * as Referral from "./Referral.ts"
import type { Resolved } from "./Referred.ts"

/** The provider's deadline. Past it, the outcome is unknown. */
export const providerTimeout = Duration.seconds(8)

/** How often a request that joined checks for an answer stored by another process. */
const joinPoll = Duration.millis(100)

/** The maximum number of sends in progress per process. At 1,000 sends a second, a provider that hangs holds 8,000. */
export const MaxInFlight = Context.Reference<number>("@wac/core/Messages/MaxInFlight", { defaultValue: () => 10_000 })

/** The `Retry-After` when the maximum is reached. */
const overloadRetryAfter = Duration.seconds(1)

/**
 * Retries to undo a claim after its answer was lost, for as long as a statement may still be on its way to the storage.
 */
const takingBack = Schedule.exponential("1 second").pipe(Schedule.upTo({ times: 4 }))

/**
 * The delay before an outcome is recorded again after a failure. Further retries follow `takingBack`, within the lease.
 */
const firstRepetition = Duration.seconds(1)

/** Method and route: the scope of a send's idempotency key. */
const routeOf = ({ apiKeyId }: SendRequest): string =>
  apiKeyId === null ? "POST /internal/messages" : "POST /v1/messages"

/** The request of an authenticated caller to send a message. */
export interface SendRequest {
  readonly workspaceId: Id.WorkspaceId
  /** `null` if a person sends the message from the dashboard. */
  readonly apiKeyId: Id.ApiKeyId | null
  readonly key: Idempotency.IdempotencyKey
  readonly requestId: Id.RequestId
  readonly message: Message.OutboundMessage
}

/** What came of a try to send a queued message. */
export type QueuedEnd =
  /** It has got its outcome, and so left the campaign's queue. */
  | { readonly _tag: "Settled" }
  /** It had an outcome before, or is no longer there. */
  | { readonly _tag: "Ended" }
  /** The provider did not take it this time. */
  | { readonly _tag: "NotSent"; readonly error: DomainError }
  /** Our own checks refused it. */
  | { readonly _tag: "Refused"; readonly error: DomainError }
  /** The contact has got as many marketing templates as campaigns may send. */
  | { readonly _tag: "Capped" }
  /** The campaign has already written to the contact under another name. */
  | { readonly _tag: "Duplicate" }
  /** It was too late once it was claimed. The provider was not called. */
  | { readonly _tag: "TooLate" }
  /** Another process may be sending it, or the storage could not be reached. */
  | { readonly _tag: "Busy" }

export class Messages extends Context.Service<Messages, {
  /**
   * Sends a message once per idempotency key (contract §3). From *accept* to *settle* it runs to completion, even if
   * the caller stops waiting. Fails with the errors of contract §2; only `outcome_unknown` and `delivery_unknown` mean
   * that the message may have been sent. Calls `Idempotency.ReplayObserver` if the answer is that of another request.
   */
  readonly send: (request: SendRequest) => Effect.Effect<Idempotency.Sent, DomainError>
  /**
   * Tries once to send a campaign's queued message (contract §11). Never fails, and may be repeated until the message
   * has ended: like a send with an idempotency key, it is never sent twice. `isTooLate` is asked once
   * the message is claimed: if so, the provider is not called, and the message can be tried again.
   */
  readonly sendQueued: (message: Message.Message, isTooLate: Effect.Effect<boolean>) => Effect.Effect<QueuedEnd>
  readonly get: (workspaceId: Id.WorkspaceId, id: string) => Effect.Effect<Message.Message, NotFound | StoreError>
  /** Newest first. With a filter, a page may hold fewer messages than its limit, or none, even if more follow. */
  readonly list: (
    workspaceId: Id.WorkspaceId,
    filter: MessageFilter,
    page: PageRequest
  ) => Effect.Effect<Page<Message.Message>, StoreError>
}>()("@wac/core/messages/Messages") {
  static readonly layer = Layer.effect(
    Messages,
    Effect.gen(function*() {
      const store = yield* MessageStore
      const provider = yield* Provider
      const limits = yield* CurrentLimits
      const maxInFlight = yield* MaxInFlight
      const record = yield* UsageRecorder
      const library = yield* SendableMedia
      const random = yield* SecureRandom.SecureRandom
      const digest = yield* Digest.Digest

      const deadlines = yield* Deadlines.make
      const inFlight = yield* FiberSet.make()
      const stopping = yield* Stopping
      // the remaining time covers the provider's deadline; a send that is not settled by then becomes unknown
      yield* Effect.addFinalizer(() =>
        Effect.flatMap(stopping.left, (left) => Effect.timeoutOption(FiberSet.awaitEmpty(inFlight), left))
      )
      /** Fibers that undo claims, or record outcomes, after the storage failed. */
      const lost = yield* FiberSet.make()
      /** The sends in progress in this process, by key, each with its future answer for the requests that join. */
      const running = new Map<string, Deferred.Deferred<Idempotency.Answer>>()

      /** Fails with a refusal by our own checks and counts it. */
      const refused = <E extends DomainError>(error: E): Effect.Effect<never, E> =>
        Effect.andThen(Metrics.sendEnded("refused", reasonOf(error)), Effect.fail(error))

      /** Calls the provider. Anything that interrupts the call leaves the outcome unknown. */
      const ask = (claimed: ClaimedSend, refers: Resolved): Effect.Effect<ProviderOutcome> =>
        Effect.contextWith((context: Context.Context<never>) =>
          Effect.callback((resume) => {
            const asked = Effect.runForkWith(context)(Effect.suspend(() =>
              provider.send({
                messageId: claimed.message.id,
                sender: claimed.sender,
                message: claimed.message.content,
                template: claimed.template,
                refers
              })
            ))
            const meet = deadlines.set(providerTimeout, () => {
              resume(Effect.succeed({ _tag: "Unknown" }))
              asked.interruptUnsafe()
            })
            asked.addObserver((exit) => {
              meet()
              resume(exit)
            })
            return Fiber.interrupt(asked)
          })
        )

      /**
       * Records an outcome again after the storage failed, so that repeated requests can learn it within the lease. It
       * logs at debug level, as operators need not know of a storage that recovers in time.
       */
      const settleLater = (
        messageId: Id.MessageId,
        settle: Effect.Effect<boolean, StoreError>,
        cause: Cause.Cause<StoreError>
      ) =>
        Effect.logDebug(`the outcome of ${messageId} is not recorded yet`, cause).pipe(
          Effect.andThen(Effect.delay(settle, firstRepetition)),
          Effect.retry(takingBack),
          Effect.catchCause((cause) => Effect.logError(`the outcome of ${messageId} could not be recorded`, cause)),
          Effect.asVoid
        )

      /** Ends a claim. Returns false if that is not recorded. */
      const endClaim = Effect.fnUntraced(
        function*({ message }: ClaimedSend, claimToken: string, end: SendEnd, now: number) {
          const settle = store.settle({
            now,
            message,
            claimToken,
            end,
            ids: { events: [yield* Id.generate(random, "evt")], deliveries: [yield* Id.generate(random, "dlv")] }
          })
          return yield* settle.pipe(
            Effect.catchCause((cause) => Effect.as(FiberSet.run(lost, settleLater(message.id, settle, cause)), false))
          )
        }
      )

      const settle = Effect.fnUntraced(
        function*(claimed: ClaimedSend, claimToken: string, outcome: ProviderOutcome, requestId: Id.RequestId) {
          const now = yield* Clock.currentTimeMillis
          const { message } = claimed
          const settled = yield* endClaim(claimed, claimToken, endOf(outcome, now, requestId), now)
          // if it is not recorded, the message may have been sent
          const known: ProviderOutcome = settled ? outcome : { _tag: "Unknown" }
          record({ workspaceId: message.workspaceId, at: now, activity: activityOf(known) })
          yield* countOf(known)
          return known
        }
      )

      /**
       * Undoes a claim that may exist although its answer was lost. The provider was not called, so the key should not
       * become unknown when the lease ends. It repeats for a while, as the lost statement may still be on its way to
       * the storage.
       */
      const takeBack = Effect.fnUntraced(
        function*(keyed: KeyedRequest, claimToken: string, message: Message.OutboundMessage) {
          yield* Effect.flatMap(
            Clock.currentTimeMillis,
            (now) => store.abandon({ now, request: keyed, message, claimToken, limits })
          ).pipe(
            Effect.catchCause((cause) => Effect.logDebug("a claim could not be withdrawn yet", cause)),
            Effect.repeat(takingBack)
          )
        }
      )

      /**
       * Sends a claimed message. Returns the outcome as it was recorded, or why it was withdrawn before the provider was
       * called.
       */
      const carryOut = Effect.fnUntraced(
        function*(
          claimed: ClaimedSend,
          claimToken: string,
          keyed: KeyedRequest,
          requestId: Id.RequestId,
          askedAt: bigint
        ): Effect.fn.Return<ProviderOutcome | Withdrawn, ServerError> {
          const { content: message } = claimed.message
          const now = yield* Clock.currentTimeMillis
          const late = Policy.windowRefusal({
            contact: claimed.contact,
            message,
            // the storage's time: the time of the claim plus the time since the request for it
            now: claimed.message.statusAt + Number((yield* Clock.monotonicTimeNanos) - askedAt) / 1e6
          })
          const refers = late === undefined
            ? yield* Effect.result(Referral.resolve(claimed, store, library))
            : Result.fail(late)
          if (Result.isFailure(refers)) {
            yield* store.abandon({ now, request: keyed, message, claimToken, limits }).pipe(orUnavailable)
            yield* Metrics.sendEnded("refused", reasonOf(refers.failure))
            return { _tag: "Withdrawn", error: refers.failure }
          }
          const asked = yield* Effect.exit(Effect.interruptible(ask(claimed, refers.success)))
          // the interruption comes from stopping the process and is not the adapter's fault
          if (Exit.isFailure(asked) && !Cause.hasInterruptsOnly(asked.cause)) {
            yield* Effect.logError("the provider's adapter failed", asked.cause)
          }
          const outcome: ProviderOutcome = Exit.isSuccess(asked) ? asked.value : { _tag: "Unknown" }
          return yield* settle(claimed, claimToken, outcome, requestId)
        },
        Effect.uninterruptible
      )

      const replay = (answer: Idempotency.Answer): Effect.Effect<Idempotency.Sent, DomainError> =>
        Effect.andThen(
          Effect.andThen(Metrics.sendEnded("replayed"), Idempotency.observeReplay(answer)),
          answer._tag === "Sent" ? Effect.succeed(answer) : Effect.fail(answer.error)
        )

      const inProgress = () =>
        refused(
          new ServerError({
            reason: "in_progress",
            message: "the same send is still running; repeat the request with the same Idempotency-Key",
            retryAfter: Idempotency.joinRetryAfter
          })
        )

      /**
       * Waits for the outcome of a send that runs in this or another process, until the process starts to stop.
       * `requestId` is the id of the waiting request.
       */
      const join = (keyed: KeyedRequest, requestId: Id.RequestId): Effect.Effect<Idempotency.Sent, DomainError> =>
        Effect.gen(function*() {
          while (true) {
            const here = running.get(nameOf(keyed))
            if (here !== undefined) return yield* replay(yield* Deferred.await(here))
            yield* Effect.sleep(joinPoll)
            const verdict = yield* store.lookUp(keyed, yield* Clock.currentTimeMillis).pipe(orUnavailable)
            switch (verdict._tag) {
              case "Running":
                continue
              case "Answered":
                return yield* replay(verdict.answer)
              case "Unknown":
                // the answer of the first request, although its request id was not stored
                return yield* replay({ _tag: "Failed", error: Idempotency.unknown(verdict.reason), requestId })
              case "Released":
                return verdict.lastFailure === null ? yield* inProgress() : yield* replay(verdict.lastFailure)
              case "Unbound":
              case "Conflict":
                // the first request was refused just before the provider was called; a repeated request is judged anew
                return yield* inProgress()
            }
          }
        }).pipe(
          Effect.raceFirst(Effect.andThen(stopping.begun, Effect.suspend(inProgress))),
          Effect.timeoutOrElse({ duration: Idempotency.joinTimeout, orElse: inProgress })
        )

      /** Accepts a send. If the storage fails, the claim that may exist is withdrawn in the background. */
      const accept = Effect.fnUntraced(function*(
        keyed: KeyedRequest,
        send: Pick<AcceptSend, "apiKeyId" | "campaignId" | "message">
      ) {
        const now = yield* Clock.currentTimeMillis
        const askedAt = yield* Clock.monotonicTimeNanos
        const claimToken = yield* random.uuidV4({})
        const accepted = yield* store.accept({
          ...send,
          now,
          request: keyed,
          messageId: yield* Id.generate(random, "msg"),
          claimToken,
          leaseUntil: now + Duration.toMillis(Idempotency.lease),
          limits,
          provider: provider.name
        }).pipe(Effect.tapError(() => FiberSet.run(lost, takeBack(keyed, claimToken, send.message))))
        return { accepted, askedAt, claimToken, now }
      })

      const acceptAndCarryOut = Effect.fnUntraced(function*(request: SendRequest) {
        const { apiKeyId, message } = request
        const keyed: KeyedRequest = {
          workspaceId: request.workspaceId,
          route: routeOf(request),
          key: request.key,
          fingerprint: yield* Idempotency.fingerprint(digest, message)
        }
        const { accepted, askedAt, claimToken, now } = yield* accept(keyed, { apiKeyId, campaignId: null, message })
          .pipe(orUnavailable, Effect.tapError(({ reason }) => Metrics.sendEnded("refused", reason)))
        yield* RateLimit.observe(accepted.readings)
        switch (accepted._tag) {
          case "Refused":
            record({ workspaceId: request.workspaceId, at: now, activity: "sendsRefused" })
            return yield* refused(accepted.error)
          case "Conflict":
            return yield* refused(
              new IdempotencyConflict({
                reason: "payload_mismatch",
                message: "the Idempotency-Key was already used with a different body"
              })
            )
          case "Capped":
          case "Duplicate":
            return yield* Effect.die(new Error("only a campaign leaves customers out"))
          case "Answered":
            return yield* replay(accepted.answer)
          case "Unknown":
            yield* Metrics.sendEnded("replayed")
            return yield* Idempotency.unknown(accepted.reason)
          case "Running":
            return yield* join(keyed, request.requestId)
          case "Claimed": {
            const name = nameOf(keyed)
            const ended = Deferred.makeUnsafe<Idempotency.Answer>()
            running.set(name, ended)
            return yield* carryOut(accepted, claimToken, keyed, request.requestId, askedAt).pipe(
              Effect.flatMap((outcome) => answering(accepted.message, outcome)),
              Effect.onExit((exit) =>
                Effect.sync(() => {
                  running.delete(name)
                  Deferred.doneUnsafe(ended, Exit.succeed(answerOf(exit, request.requestId)))
                })
              )
            )
          }
        }
      })

      /** A message whose outcome is unknown has ended once that is its status; until then the sweep has to look at it. */
      const unknownOrBusy = (workspaceId: Id.WorkspaceId, id: Id.MessageId): Effect.Effect<QueuedEnd, StoreError> =>
        Effect.map(
          store.get(workspaceId, id),
          (found) => Option.isSome(found) && found.value.status === "sending" ? { _tag: "Busy" } : { _tag: "Ended" }
        )

      const attempt = Effect.fnUntraced(function*(
        { apiKeyId, campaignId, content, id, workspaceId }: Message.Message,
        isTooLate: Effect.Effect<boolean>
      ) {
        const keyed: KeyedRequest = {
          workspaceId,
          route: Recipient.routeOf(campaignId!),
          key: Contact.keyOf(content.to) as Idempotency.IdempotencyKey,
          fingerprint: Recipient.fingerprint
        }
        const { accepted, askedAt, claimToken, now } = yield* accept(keyed, { apiKeyId, campaignId, message: content })
        switch (accepted._tag) {
          case "Claimed": {
            const requestId = yield* Id.generate(random, "req")
            if (yield* isTooLate) {
              const answer = { _tag: "Failed", error: tooLate, requestId } as const
              yield* endClaim(accepted, claimToken, { _tag: "NotSent", answer }, yield* Clock.currentTimeMillis)
              return { _tag: "TooLate" } as const
            }
            const outcome = yield* carryOut(accepted, claimToken, keyed, requestId, askedAt)
            return outcome._tag === "Withdrawn"
              ? { _tag: "Refused", error: outcome.error } as const
              : outcome._tag === "NotSent"
              ? outcome
              : outcome._tag === "Unknown"
              ? yield* unknownOrBusy(workspaceId, id)
              : { _tag: "Settled" } as const
          }
          case "Refused":
            record({ workspaceId, at: now, activity: "sendsRefused" })
            yield* Metrics.sendEnded("refused", reasonOf(accepted.error))
            return { _tag: "Refused", error: accepted.error } as const
          case "Capped":
          case "Duplicate":
            return { _tag: accepted._tag } as const
          case "Running":
            return { _tag: "Busy" } as const
          case "Unknown":
            return yield* unknownOrBusy(workspaceId, id)
          case "Answered":
          case "Conflict":
            return { _tag: "Ended" } as const
        }
      })

      const sendQueued = Effect.fnUntraced(function*(
        message: Message.Message,
        isTooLate: Effect.Effect<boolean>
      ): Effect.fn.Return<QueuedEnd> {
        if ((yield* FiberSet.size(inFlight)) >= maxInFlight) return { _tag: "Busy" }
        const exit = yield* Fiber.await(yield* FiberSet.run(inFlight, attempt(message, isTooLate)))
        // whatever was left behind, the next try finds out
        return Exit.isSuccess(exit) ? exit.value : { _tag: "Busy" }
      })

      /** Runs in its own fiber, as the caller may stop waiting. Stopping the process waits for it. */
      const send = Effect.fnUntraced(function*(request: SendRequest) {
        if ((yield* FiberSet.size(inFlight)) >= maxInFlight) {
          return yield* refused(
            new ServerError({
              reason: "overloaded",
              message: "too many sends are in flight; repeat the request with the same Idempotency-Key",
              retryAfter: overloadRetryAfter
            })
          )
        }
        const exit = yield* Fiber.await(yield* FiberSet.run(inFlight, acceptAndCarryOut(request)))
        return yield* Exit.hasInterrupts(exit) ? Idempotency.unknown("outcome_unknown") : exit
      })

      const get = (workspaceId: Id.WorkspaceId, text: string) =>
        Lookup.find("message", Id.parse(Id.MessageId, text), (id) => store.get(workspaceId, id))

      const withSpan = yield* Span.ifTraced("Messages.send")
      return Messages.of({ send: (request) => withSpan(send(request)), sendQueued, get, list: store.list })
    })
  )
}

/** Why a campaign's message was not sent although it had been claimed. */
const tooLate = new ServerError({
  reason: "overloaded",
  message: "the message was too late for its slot; the campaign tries it again"
})

const nameOf = ({ key, route, workspaceId }: KeyedRequest): string => `${workspaceId} ${route} ${key}`

/** The outcome of a send, for the requests that joined it. */
const answerOf = (exit: Exit.Exit<Idempotency.Sent, DomainError>, requestId: Id.RequestId): Idempotency.Answer =>
  Exit.isSuccess(exit) ? exit.value : {
    _tag: "Failed",
    error: Option.getOrElse(Exit.findErrorOption(exit), () => Idempotency.unknown("outcome_unknown")),
    requestId
  }

/** A claim that was withdrawn before the provider was called, and the reason. */
interface Withdrawn {
  readonly _tag: "Withdrawn"
  readonly error: DomainError
}

/** The answer to the request of a send with this outcome. */
const answering = (
  message: Message.Message,
  outcome: ProviderOutcome | Withdrawn
): Effect.Effect<Idempotency.Sent, DomainError> =>
  outcome._tag === "Accepted"
    ? Effect.succeed(Idempotency.sent(message, outcome.providerMessageId))
    : Effect.fail(outcome._tag === "Unknown" ? Idempotency.unknown("outcome_unknown") : outcome.error)

/** Counts the outcome of a send for operators. */
const countOf = (outcome: ProviderOutcome): Effect.Effect<void> => {
  switch (outcome._tag) {
    case "Accepted":
      return Metrics.sendEnded("sent")
    case "Refused":
      return Metrics.sendEnded("failed", reasonOf(outcome.error))
    case "NotSent":
      return Metrics.sendEnded("not_sent", reasonOf(outcome.error))
    case "Unknown":
      return Metrics.sendEnded("unknown", "outcome_unknown")
  }
}

const activityOf = ({ _tag }: ProviderOutcome): Activity =>
  _tag === "Accepted" ? "sendsAccepted" : _tag === "Unknown" ? "sendsUnknown" : "sendsFailed"

const endOf = (outcome: ProviderOutcome, now: number, requestId: Id.RequestId): SendEnd => {
  switch (outcome._tag) {
    case "Accepted":
    case "Unknown":
      return outcome
    case "Refused":
      return {
        _tag: "Refused",
        report: { status: "failed", at: now, providerMessageId: null, error: Message.errorOf(outcome.error) },
        answer: { _tag: "Failed", error: outcome.error, requestId }
      }
    case "NotSent":
      return { _tag: "NotSent", answer: { _tag: "Failed", error: outcome.error, requestId } }
  }
}
