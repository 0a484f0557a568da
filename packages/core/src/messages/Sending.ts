/**
 * The life of a claimed send (contract §3): *accept*, the provider, and *settle* or *abandon*. `Messages` sends what
 * callers ask for by it, and `QueuedMessages` what campaigns queued. Writes through `MessageStore` and calls the provider.
 */
import {
  Cause,
  Clock,
  Context,
  Duration,
  Effect,
  Exit,
  Fiber,
  FiberSet,
  Layer,
  type Option,
  Result,
  Schedule
} from "effect"
import { SecureRandom } from "effect/crypto"
import type { Customer } from "../contacts/Contact.ts"
import { ContactStore } from "../contacts/ContactStore.ts"
import * as CustomerNames from "../contacts/CustomerNames.ts"
import * as NameHashes from "../contacts/NameHashes.ts"
import * as Deadlines from "../Deadlines.ts"
import { type DomainError, reasonOf, type ServerError } from "../Errors.ts"
import * as Id from "../Id.ts"
import { CurrentLimits } from "../limits/Limits.ts"
import { SendableMedia } from "../media/SendableMedia.ts"
import * as Metrics from "../Metrics.ts"
import { Vault } from "../secrets/Vault.ts"
import * as Span from "../Span.ts"
import { Stopping } from "../Stopping.ts"
import { orUnavailable, type StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Activity } from "../usage/Activity.ts"
import { UsageRecorder } from "../usage/UsageRecorder.ts"
import * as Idempotency from "./Idempotency.ts"
import * as Message from "./Message.ts"
import {
  type Accepted,
  type AcceptSend,
  type ClaimedSend,
  type KeyedRequest,
  MessageStore,
  type SendEnd
} from "./MessageStore.ts"
import * as Policy from "./Policy.ts"
import { Provider, type ProviderOutcome } from "./Provider.ts"
import * as Referral from "./Referral.ts"
import type { Resolved } from "./Referred.ts"

/** The provider's deadline. Past it, the outcome is unknown. */
export const providerTimeout = Duration.seconds(8)

/** The maximum number of sends in progress per process. At 1,000 sends a second, a provider that hangs holds 8,000. */
export const MaxInFlight = Context.Reference<number>("@wac/core/messages/Sending/MaxInFlight", {
  defaultValue: () => 10_000
})

/**
 * Retries to undo a claim after its answer was lost, for as long as a statement may still be on its way to the storage.
 */
const takingBack = Schedule.exponential("1 second").pipe(Schedule.upTo({ times: 4 }))

/**
 * The delay before an outcome is recorded again after a failure. Further retries follow `takingBack`, within the lease.
 */
const firstRepetition = Duration.seconds(1)

/** How this process holds a claim. */
export interface Hold {
  readonly keyed: KeyedRequest
  /** The claim's owner token. */
  readonly token: string
  /** When the claim was requested, in nanoseconds of the monotonic clock. */
  readonly askedAt: bigint
}

/** A claim that was withdrawn before the provider was called, and the reason. */
export interface Withdrawn {
  readonly _tag: "Withdrawn"
  readonly error: DomainError
}

export class Sending extends Context.Service<Sending, {
  /**
   * Runs a send in its own fiber, which stopping the process waits for, and returns its exit. It goes on if the caller
   * stops waiting. `None` if as many as {@link MaxInFlight} are in flight; then it does not run.
   */
  readonly run: <A, E>(send: Effect.Effect<A, E>) => Effect.Effect<Option.Option<Exit.Exit<A, E>>>
  /**
   * Accepts a send, and counts a refusal. If the storage fails, the claim that may exist is withdrawn in the background.
   */
  readonly accept: (
    keyed: KeyedRequest,
    send: Pick<AcceptSend, "apiKeyId" | "campaignId" | "message">
  ) => Effect.Effect<{ readonly accepted: Accepted; readonly hold: Hold }, StoreError>
  /**
   * Sends a claimed message. Returns the outcome as it was recorded, or why the claim was withdrawn before the provider
   * was called. Cannot be interrupted.
   */
  readonly carryOut: (
    claimed: ClaimedSend,
    hold: Hold,
    requestId: Id.RequestId
  ) => Effect.Effect<ProviderOutcome | Withdrawn, ServerError>
  /**
   * Records the end of a claim, and records it again in the background if the storage fails. Returns false if it is not
   * recorded yet.
   */
  readonly end: (claimed: ClaimedSend, hold: Hold, end: SendEnd) => Effect.Effect<boolean>
}>()("@wac/core/messages/Sending") {
  static readonly layer = Layer.effect(
    Sending,
    Effect.gen(function*() {
      const store = yield* MessageStore
      const contacts = yield* ContactStore
      const provider = yield* Provider
      const limits = yield* CurrentLimits
      const maxInFlight = yield* MaxInFlight
      const record = yield* UsageRecorder
      const library = yield* SendableMedia
      const random = yield* SecureRandom.SecureRandom
      const vault = yield* Vault

      const traced = yield* Span.ifTraced(`send ${provider.name}`, "client")
      const deadlines = yield* Deadlines.make
      const inFlight = yield* FiberSet.make()
      const stopping = yield* Stopping
      // the remaining time covers the provider's deadline; a send that is not settled by then becomes unknown
      yield* Effect.addFinalizer(() =>
        Effect.flatMap(stopping.left, (left) => Effect.timeoutOption(FiberSet.awaitEmpty(inFlight), left))
      )
      /** Fibers that undo claims, or record outcomes, after the storage failed. */
      const lost = yield* FiberSet.make()

      const run = <A, E>(send: Effect.Effect<A, E>): Effect.Effect<Option.Option<Exit.Exit<A, E>>> =>
        Effect.flatMap(FiberSet.size(inFlight), (size) =>
          size >= maxInFlight
            ? Effect.succeedNone
            : Effect.asSome(Effect.flatMap(FiberSet.run(inFlight, send), Fiber.await)))

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

      const endAt = Effect.fnUntraced(
        function*({ message }: ClaimedSend, claimToken: string, end: SendEnd, now: Instant) {
          const settle = store.settle({
            now,
            message,
            claimToken,
            end,
            ids: {
              events: [yield* Id.generate(random, "evt")],
              deliveries: [yield* Id.generate(random, "dlv")],
              trace: yield* Span.stored
            }
          })
          return yield* settle.pipe(
            Effect.catchCause((cause) => Effect.as(FiberSet.run(lost, settleLater(message.id, settle, cause)), false))
          )
        }
      )

      const end = (claimed: ClaimedSend, { token }: Hold, end: SendEnd) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => endAt(claimed, token, end, now))

      /**
       * Learns the names by which the provider knows the recipient, so that their next message finds the contact. Reports
       * about the message repeat them, so a failure costs nothing.
       */
      const learn = (
        { contact, message: { content: { to } }, sender: { providerNumberId, workspaceId } }: ClaimedSend,
        recipient: Customer | undefined,
        now: Instant
      ): Effect.Effect<void> => {
        const customer = CustomerNames.addressed(to, recipient)
        if (!CustomerNames.isTelling(customer) || CustomerNames.isKnownAs(contact, customer)) return Effect.void
        return NameHashes.of(vault, workspaceId, CustomerNames.keysIn(customer)).pipe(
          Effect.flatMap((hashes) => contacts.tell({ now, hashes, providerNumberId, customer, at: now })),
          Effect.ignore
        )
      }

      const settle = Effect.fnUntraced(
        function*(claimed: ClaimedSend, { token }: Hold, outcome: ProviderOutcome, requestId: Id.RequestId) {
          const now = yield* Clock.currentTimeMillis
          const { message } = claimed
          const settled = yield* endAt(claimed, token, endOf(outcome, now, requestId), now)
          // if it is not recorded, the message may have been sent
          const known: ProviderOutcome = settled ? outcome : { _tag: "Unknown" }
          if (outcome._tag === "Accepted") yield* learn(claimed, outcome.recipient, now)
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

      const carryOut = Effect.fnUntraced(
        function*(
          claimed: ClaimedSend,
          hold: Hold,
          requestId: Id.RequestId
        ): Effect.fn.Return<ProviderOutcome | Withdrawn, ServerError> {
          const { askedAt, keyed, token: claimToken } = hold
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
          yield* Span.annotate(() => ({ "wac.message.id": claimed.message.id }))
          const call = Effect.tap(
            Effect.interruptible(ask(claimed, refers.success)),
            (outcome) => Span.annotate(() => attributesOf(outcome))
          )
          const asked = yield* Effect.exit(traced(call, () => ({
            attributes: {
              "messaging.system": provider.name,
              "messaging.operation.name": "send",
              "messaging.operation.type": "send",
              "wac.message.id": claimed.message.id,
              "wac.message.type": message.type
            }
          })))
          // the interruption comes from stopping the process and is not the adapter's fault
          if (Exit.isFailure(asked) && !Cause.hasInterruptsOnly(asked.cause)) {
            yield* Effect.logError("the provider's adapter failed", asked.cause)
          }
          const outcome: ProviderOutcome = Exit.isSuccess(asked) ? asked.value : { _tag: "Unknown" }
          return yield* settle(claimed, hold, outcome, requestId)
        },
        Effect.uninterruptible
      )

      const accept = Effect.fnUntraced(function*(
        keyed: KeyedRequest,
        send: Pick<AcceptSend, "apiKeyId" | "campaignId" | "message">
      ) {
        const now = yield* Clock.currentTimeMillis
        const askedAt = yield* Clock.monotonicTimeNanos
        const claimToken = yield* random.uuidV4({})
        const name = CustomerNames.keyOf(send.message.to)
        const { [name]: hash } = yield* NameHashes.of(vault, keyed.workspaceId, [name])
        const accepted = yield* store.accept({
          ...send,
          now,
          request: keyed,
          hash: hash!,
          messageId: yield* Id.generate(random, "msg"),
          claimToken,
          leaseUntil: now + Duration.toMillis(Idempotency.lease),
          limits,
          provider: provider.name
        }).pipe(Effect.tapError(() => FiberSet.run(lost, takeBack(keyed, claimToken, send.message))))
        if (accepted._tag === "Refused") {
          record({ workspaceId: keyed.workspaceId, at: now, activity: "sendsRefused" })
          yield* Metrics.sendEnded("refused", reasonOf(accepted.error))
        }
        return { accepted, hold: { keyed, token: claimToken, askedAt } }
      })

      return Sending.of({ run, accept, carryOut, end })
    })
  )
}

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

/** What a span shows of the provider's answer. Its message may name a customer; its code and reason do not. */
const attributesOf = (outcome: ProviderOutcome): Span.Attributes => {
  switch (outcome._tag) {
    case "Accepted":
      return {}
    case "Unknown":
      return { "error.type": "outcome_unknown" }
    case "Refused":
    case "NotSent":
      return { "error.type": reasonOf(outcome.error), "wac.provider.code": outcome.error.provider?.code }
  }
}

const activityOf = ({ _tag }: ProviderOutcome): Activity =>
  _tag === "Accepted" ? "sendsAccepted" : _tag === "Unknown" ? "sendsUnknown" : "sendsFailed"

const endOf = (outcome: ProviderOutcome, now: number, requestId: Id.RequestId): SendEnd => {
  switch (outcome._tag) {
    case "Accepted": {
      const { recipient: _, ...end } = outcome
      return end
    }
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
