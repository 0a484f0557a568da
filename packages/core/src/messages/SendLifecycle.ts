/**
 * The life of a send (contract §3): *accept*, the provider, and *settle* or *abandon*. `Messages` calls it for
 * requests, `QueuedMessages` for queued messages, and `OutboxRunner` to queue messages of the outbox. Writes through
 * `MessageStore` and calls the provider.
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
import * as Elapsed from "../Elapsed.ts"
import { type DomainError, type Forbidden, type InvalidBody, reasonOf, ServerError } from "../Errors.ts"
import * as Id from "../Id.ts"
import { CurrentLimits } from "../limits/Limits.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import { SendableMedia } from "../media/SendableMedia.ts"
import * as Metrics from "../Metrics.ts"
import { Provider, type ProviderOutcome } from "../provider/Provider.ts"
import * as ProviderAnswer from "../provider/ProviderAnswer.ts"
import * as SendTimes from "../queue/SendTimes.ts"
import { Vault } from "../secrets/Vault.ts"
import * as Span from "../Span.ts"
import { Stopping } from "../Stopping.ts"
import { type StoreError, toServerError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import * as Timeouts from "../Timeouts.ts"
import type { Activity } from "../usage/Activity.ts"
import { UsageRecorder } from "../usage/UsageRecorder.ts"
import * as Message from "./Message.ts"
import type { ResolvedReferences } from "./MessageReferences.ts"
import {
  type Accepted,
  type AcceptSend,
  type ClaimedSend,
  type Exclusion,
  type KeyedRequest,
  type Later,
  MessageStore,
  type Queue,
  type QueuedSend,
  type SendEnd
} from "./MessageStore.ts"
import * as Policy from "./Policy.ts"
import * as ResolveReferences from "./ResolveReferences.ts"
import * as SendBinding from "./SendBinding.ts"

/** The provider's deadline. Past it, the outcome is unknown. */
export const providerTimeout = Duration.seconds(8)

/** The maximum number of sends in progress per process. At 1,000 sends a second, a provider that hangs holds 8,000. */
export const MaxInFlight = Context.Reference<number>("@wac/core/messages/SendLifecycle/MaxInFlight", {
  defaultValue: () => 10_000
})

/** Retries after the storage failed, for as long as a statement may still be on its way to the storage. */
const lostRetries = Schedule.exponential("1 second").pipe(Schedule.upTo({ times: 4 }))

/**
 * The delay before an outcome is recorded again after a failure. Further retries follow {@link lostRetries}, within the
 * lease.
 */
const firstRepetition = Duration.seconds(1)

/** A send under an idempotency key: of a request (`null`) or of a queue. */
export interface SendCommand<Of extends Queue | null> extends Pick<AcceptSend, "apiKeyId" | "later" | "message"> {
  readonly keyed: KeyedRequest
  readonly queue: Of
  /** The message's id, if this is the first try under the key; a new one if omitted. */
  readonly messageId?: Id.MessageId
  /**
   * Whether the message was committed with others, as those of the outbox: one of them may be what it refers to, so this
   * is judged only when it is sent.
   */
  readonly isCommitted?: boolean
  /** The id of the request. It is stored with a failure, and repeated requests receive it with that failure. */
  readonly requestId: Id.RequestId
  /**
   * Run once the send is claimed. With an error, the provider is not called and the claim is released: the message can
   * be tried again, and requests that joined get the error.
   */
  readonly withhold?: Effect.Effect<ServerError | undefined>
  /**
   * From this time on, by the storage's clock, the provider is not called and the claim is undone: the message waits in
   * its queue as before.
   */
  readonly sendUntil?: Instant
  /** Wraps the rest of the send after the claim, in a span for example. It must run the given effect, once. */
  readonly around?: (rest: Effect.Effect<Ended>) => Effect.Effect<Ended>
}

/** The end of a send that this call claimed, and the answer to its request. */
export type Ended =
  & { readonly _tag: "Ended" }
  & (
    /** The provider accepted the message. */
    | { readonly as: "sent"; readonly answer: SendBinding.Sent }
    | {
      readonly as:
        /** The provider refused the message for good. */
        | "failed"
        /** The provider did not accept it this time, or what a queued message quotes is not sent yet. */
        | "not_sent"
        /** It may have been sent: the provider's answer is not known, or could not be recorded yet. */
        | "unknown"
        /** Our own checks refused it after all, and nothing is left of the claim. The provider was not called. */
        | "refused"
        /**
         * Like `refused`, but the storage failed, so that the claim is still there. It is abandoned in the background,
         * or ends with its lease.
         */
        | "stuck"
        /** {@link SendCommand.withhold} or {@link SendCommand.sendUntil} stopped it. The provider was not called. */
        | "withheld"
      readonly answer: SendBinding.Failed
    }
  )

/**
 * The outcome of a send: how its claim ended, or why there was no claim. Only a campaign's sends can be left out, and
 * only requests can be queued.
 */
export type Outcome<Of extends Queue | null> =
  | Ended
  | Exclude<Accepted, ClaimedSend | Exclusion | QueuedSend>
  | (Of extends null ? QueuedSend : Exclusion)

export class SendLifecycle extends Context.Service<SendLifecycle, {
  /**
   * Runs a send in its own fiber and returns its exit. The send continues if the caller stops waiting, and stopping the
   * process waits for it. Returns `None`, without running the send, if {@link MaxInFlight} sends are in flight.
   */
  readonly run: <A, E>(send: Effect.Effect<A, E>) => Effect.Effect<Option.Option<Exit.Exit<A, E>>>
  /**
   * Accepts a message and, if it gets the claim, gives it to the provider and records the outcome. A request to send
   * later is queued instead. Counts refusals and outcomes, and passes the readings of rate limits to the current
   * request's observer.
   *
   * Fails only if the storage failed before there was a claim. A claim that may exist all the same is abandoned in the
   * background, and so is one whose refusal the storage could not record. A message that may be queued all the same
   * stays queued, and the error is `outcome_unknown`. An interruption during the provider's call makes the outcome
   * `unknown`, and does not stop its recording. If the storage fails after the call, this returns `unknown`, and the
   * outcome is recorded in the background.
   */
  readonly send: <Of extends Queue | null>(
    send: SendCommand<Of>
  ) => Effect.Effect<Outcome<Of>, StoreError | ServerError>
  /**
   * The first part of `send`, up to what the storage is to accept. Returns the rest, which calls the storage before it
   * waits for anything else: sends whose rests begin in an order are accepted in that order.
   */
  readonly prepare: <Of extends Queue | null>(
    send: SendCommand<Of>
  ) => Effect.Effect<Effect.Effect<Outcome<Of>, StoreError | ServerError>, StoreError>
}>()("@wac/core/messages/SendLifecycle") {
  static readonly layer = Layer.effect(
    SendLifecycle,
    Effect.gen(function*() {
      const store = yield* MessageStore
      const contacts = yield* ContactStore
      const provider = yield* Provider
      const limits = yield* CurrentLimits
      const maxInFlight = yield* MaxInFlight
      const countUsage = yield* UsageRecorder
      const library = yield* SendableMedia
      const random = yield* SecureRandom.SecureRandom
      const vault = yield* Vault

      const traced = yield* Span.ifTraced(`send ${provider.name}`, "client")
      const timeouts = yield* Timeouts.make
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
      const ask = (claimed: ClaimedSend, refers: ResolvedReferences): Effect.Effect<ProviderOutcome> =>
        Effect.contextWith((context: Context.Context<never>) =>
          Effect.callback((resume) => {
            const asked = Effect.runForkWith(context)(Effect.map(
              Effect.suspend(() =>
                provider.send({
                  messageId: claimed.message.id,
                  sender: claimed.sender,
                  message: claimed.message.content,
                  template: claimed.template,
                  refers
                })
              ),
              ProviderAnswer.outcomeOf
            ))
            const meet = timeouts.set(providerTimeout, () => {
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
          Effect.retry(lostRetries),
          Effect.catchCause((cause) => Effect.logError(`the outcome of ${messageId} could not be recorded`, cause)),
          Effect.asVoid
        )

      /** Records the end of a claim. Returns false if it is not recorded yet. */
      const record = Effect.fnUntraced(
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

      /**
       * Learns the names by which the provider knows the recipient, so that their next message finds the contact.
       * Reports about the message repeat them, so a failure costs nothing.
       */
      const learn = (
        { contact, message: { content: { to } }, sender: { providerNumberId, workspaceId } }: ClaimedSend,
        recipient: Customer | undefined,
        now: Instant
      ): Effect.Effect<void> => {
        const customer = CustomerNames.addressed(to, recipient)
        if (!CustomerNames.isTelling(customer) || CustomerNames.isKnownAs(contact, customer)) return Effect.void
        return NameHashes.of(vault, workspaceId, CustomerNames.keysIn(customer)).pipe(
          Effect.flatMap((hashes) => contacts.recordNames({ now, hashes, providerNumberId, customer, at: now })),
          Effect.ignore
        )
      }

      /** Forgets the provider's ids of a message's files. If this fails, the next try is refused alike and repeats it. */
      const forgetFiles = ({ sender }: ClaimedSend, { mediaIds }: ResolvedReferences): Effect.Effect<void> =>
        Effect.forEach(
          mediaIds,
          ([id, providerId]) => library.forgetProviderId(sender, { id }, providerId),
          { discard: true }
        ).pipe(
          Effect.catchCause((cause) => Effect.logDebug("the provider's ids of files could not be forgotten", cause))
        )

      const settle = Effect.fnUntraced(
        function*(claimed: ClaimedSend, { token }: Hold, outcome: SendOutcome, requestId: Id.RequestId) {
          const now = yield* Clock.currentTimeMillis
          const { message } = claimed
          const isRecorded = yield* record(claimed, token, endOf(outcome, now, requestId), now)
          if (outcome._tag === "Accepted") yield* learn(claimed, outcome.recipient, now)
          // if it is not recorded, the message may have been sent
          const ended = endedAs(message, isRecorded ? outcome : { _tag: "Unknown" }, requestId)
          countUsage({ workspaceId: message.workspaceId, at: now, activity: activityOf(ended) })
          yield* ended.as === "sent"
            ? Metrics.sendEnded("sent")
            : Metrics.sendEnded(ended.as, reasonOf(ended.answer.error))
          return ended
        }
      )

      const abandon = ({ keyed, message, token }: Hold) =>
        Effect.flatMap(
          Clock.currentTimeMillis,
          (now) => store.abandon({ now, request: keyed, message, claimToken: token, limits })
        )

      /**
       * Undoes a claim that may exist although its answer, or the answer to undoing it, was lost. The provider was not
       * called, so the key should not become unknown when the lease ends. It repeats for a while, as the lost statement
       * may still be on its way to the storage.
       */
      const abandonLost = (hold: Hold) =>
        abandon(hold).pipe(
          Effect.catchCause((cause) => Effect.logDebug("a claim could not be abandoned yet", cause)),
          Effect.repeat(lostRetries)
        )

      /** From the claim to the recorded outcome. */
      const carryOut = Effect.fnUntraced(
        function*(
          claimed: ClaimedSend,
          hold: Hold,
          { queue, requestId, sendUntil }: {
            readonly queue: Queue | null
            readonly requestId: Id.RequestId
            readonly sendUntil: Instant | undefined
          }
        ): Effect.fn.Return<Ended> {
          const { content: message } = claimed.message
          const inTime = Effect.flatMap(Elapsed.now, (elapsed) => {
            // the storage's time: the time of the claim plus the time since the request for it
            const now = claimed.message.statusAt + (elapsed - hold.askedAt)
            const late = now >= (sendUntil ?? Infinity) ? timeIsOver : Policy.windowRefusal({
              capabilities: provider.capabilities,
              contact: claimed.contact,
              message,
              now
            })
            return late === undefined ? Effect.void : Effect.fail(late)
          })
          // the window, or the message's time, may end while files are uploaded
          const refers = yield* inTime.pipe(
            Effect.andThen(ResolveReferences.resolve(claimed, store, library)),
            Effect.tap(inTime),
            Effect.result
          )
          if (Result.isFailure(refers)) {
            const isOpen = refers.failure._tag === "QuotedIsOpen"
            const error = isOpen ? refers.failure.refusal : refers.failure
            const abandoned = yield* Effect.result(abandon(hold))
            if (Result.isFailure(abandoned)) {
              yield* FiberSet.run(lost, abandonLost(hold))
              return unsent("stuck", toServerError(abandoned.failure), requestId)
            }
            if (error === timeIsOver) return unsent("withheld", timeIsOver, requestId)
            const as = isOpen && queue !== null ? "not_sent" : "refused"
            yield* Metrics.sendEnded(as, reasonOf(error))
            return unsent(as, error, requestId)
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
          const outcome: SendOutcome = Exit.isSuccess(asked) ? outcomeFor(queue, asked.value) : { _tag: "Unknown" }
          if (outcome._tag === "NotSent" && "lacksFiles" in outcome && outcome.lacksFiles === true) {
            yield* forgetFiles(claimed, refers.success)
          }
          return yield* settle(claimed, hold, outcome, requestId)
        },
        Effect.uninterruptible
      )

      /**
       * Keeps the files of a message that is to be queued, before it is, for as long as it may be tried. Returns the
       * refusal of what the message refers to.
       */
      const keepReferences = Effect.fnUntraced(function*(
        { isCommitted, keyed: { workspaceId }, message }: Pick<SendCommand<null>, "isCommitted" | "keyed" | "message">,
        later: Later,
        now: Instant
      ) {
        const times = SendTimes.of(later, now)
        // *accept* refuses the message if its times are invalid
        if (Result.isFailure(times)) return undefined
        const found = yield* ResolveReferences.keepFiles(workspaceId, message, times.success.sendUntil, library)
        return isCommitted === true
          ? undefined
          : yield* ResolveReferences.refusalOfLater(workspaceId, message, found, store)
      })

      const prepare = Effect.fnUntraced(function*<Of extends Queue | null>(
        command: SendCommand<Of>
      ): Effect.fn.Return<Effect.Effect<Outcome<Of>, StoreError | ServerError>, StoreError> {
        const { keyed, later, message } = command
        const now = yield* Clock.currentTimeMillis
        const referenceRefusal = later === null ? undefined : yield* keepReferences(command, later, now)
        const name = CustomerNames.keyOf(message.to)
        const { [name]: hash } = yield* NameHashes.of(vault, keyed.workspaceId, [name])
        const messageId = command.messageId ?? (yield* Id.generate(random, "msg"))
        const token = yield* random.uuidV4({})
        return accept({ ...command, messageId }, { hash: hash!, now, referenceRefusal, token })
      })

      /** Nothing asynchronous may come before `store.accept`, on which the order of accepted sends depends. */
      const accept = Effect.fnUntraced(function*<Of extends Queue | null>(
        { apiKeyId, around, keyed, later, message, messageId, queue, requestId, sendUntil, withhold }:
          & SendCommand<Of>
          & Pick<AcceptSend, "messageId">,
        { hash, now, referenceRefusal, token }:
          & Pick<AcceptSend, "hash" | "now" | "referenceRefusal">
          & Pick<Hold, "token">
      ): Effect.fn.Return<Outcome<Of>, StoreError | ServerError> {
        const askedAt = yield* Elapsed.now
        const hold: Hold = { keyed, message, token, askedAt }
        // a queued message is not undone, since a repeated request may have got its answer already
        const mayBeQueued = (error: StoreError) =>
          later !== null && error.isUndone !== true && error.fault !== "command"
        const accepted = yield* store.accept({
          apiKeyId,
          queue,
          later,
          message,
          now,
          request: keyed,
          hash,
          referenceRefusal,
          messageId,
          claimToken: hold.token,
          leaseUntil: now + Duration.toMillis(SendBinding.lease),
          limits,
          provider: provider.name,
          capabilities: provider.capabilities
        }).pipe(
          // a storage that turns callers away has no time for undoing what it certainly did not do
          Effect.tapError(({ isUndone }) => isUndone === true ? Effect.void : FiberSet.run(lost, abandonLost(hold))),
          Effect.tapError((error) => mayBeQueued(error) ? SendBinding.observeAttempt(messageId) : Effect.void),
          Effect.mapError((error) => mayBeQueued(error) ? SendBinding.unknownQueuing() : error)
        )
        if (accepted._tag === "Refused") {
          countUsage({ workspaceId: keyed.workspaceId, at: now, activity: "sendsRefused" })
          yield* Metrics.sendEnded("refused", reasonOf(accepted.error))
        }
        yield* RateLimit.observe(accepted.readings)
        // `AcceptStep` leaves only a campaign's customers out, and queues only for requests
        if (accepted._tag !== "Claimed") return accepted as Outcome<Of>
        yield* SendBinding.observeAttempt(accepted.message.id)
        const withheld = withhold === undefined ? undefined : yield* withhold
        if (withheld !== undefined) {
          const ended = unsent("withheld", withheld, requestId)
          const { answer } = ended
          yield* record(accepted, hold.token, { _tag: "NotSent", answer }, yield* Clock.currentTimeMillis)
          return ended
        }
        const rest = carryOut(accepted, hold, { queue, requestId, sendUntil })
        return yield* around === undefined ? rest : around(rest)
      })

      return SendLifecycle.of({ run, prepare, send: (command) => Effect.flatten(prepare(command)) })
    })
  )
}

/** The error of a send whose {@link SendCommand.sendUntil} has passed. */
const timeIsOver = new ServerError({
  reason: "overloaded",
  message: "the message could not be sent before its time was over"
})

/** How this process holds a claim. */
interface Hold {
  readonly keyed: KeyedRequest
  readonly message: Message.OutboundMessage
  /** The claim's owner token. */
  readonly token: string
  /** When the claim was requested, by `Elapsed`. */
  readonly askedAt: number
}

const failed = (error: DomainError, requestId: Id.RequestId): SendBinding.Failed => ({
  _tag: "Failed",
  error,
  requestId
})

type Unsent = Exclude<Ended, { readonly as: "sent" }>

const unsent = <As extends Unsent["as"]>(as: As, error: DomainError, requestId: Id.RequestId) =>
  ({ _tag: "Ended", as, answer: failed(error, requestId) }) as const

/** The provider's outcome, as it is recorded. */
type SendOutcome = ProviderOutcome | { readonly _tag: "NotSent"; readonly error: InvalidBody | Forbidden }

/** A message that waits in a queue outlives a block of its number, so the refusal that tells of the block is not final. */
const outcomeFor = (queue: Queue | null, outcome: ProviderOutcome): SendOutcome =>
  queue !== null && outcome._tag === "Refused" && outcome.ofSender === true
    ? { _tag: "NotSent", error: outcome.error }
    : outcome

/** The end of a claim with an outcome that is recorded. */
const endedAs = (message: Message.Message, outcome: SendOutcome, requestId: Id.RequestId) => {
  switch (outcome._tag) {
    case "Accepted":
      return { _tag: "Ended", as: "sent", answer: SendBinding.sent(message, outcome.providerMessageId) } as const
    case "Refused":
      return unsent("failed", outcome.error, requestId)
    case "NotSent":
      return unsent("not_sent", outcome.error, requestId)
    case "Unknown":
      return unsent("unknown", SendBinding.unknown("outcome_unknown"), requestId)
  }
}

/** A span's attributes from the provider's response: without the error's message, which may name a customer. */
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

const activityOf = ({ as }: Ended): Activity =>
  as === "sent" ? "sendsAccepted" : as === "unknown" ? "sendsUnknown" : "sendsFailed"

const endOf = (outcome: SendOutcome, now: Instant, requestId: Id.RequestId): SendEnd => {
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
        answer: failed(outcome.error, requestId)
      }
    case "NotSent":
      return { _tag: "NotSent", answer: failed(outcome.error, requestId) }
  }
}
