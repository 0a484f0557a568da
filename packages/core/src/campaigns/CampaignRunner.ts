/**
 * Works on campaigns in the background: checks rows, sends to recipients at the campaign's pace, and completes
 * campaigns. Calls `CampaignStore` and `QueuedMessages`.
 */
import { Clock, Context, Duration, Effect, FiberSet, Layer, Option, Schedule, Semaphore } from "effect"
import { SecureRandom } from "effect/crypto"
import * as NameHashes from "../contacts/NameHashes.ts"
import * as Id from "../Id.ts"
import { CurrentLimits } from "../limits/Limits.ts"
import { Provider } from "../messages/Provider.ts"
import { Polling } from "../Polling.ts"
import { Vault } from "../secrets/Vault.ts"
import * as StorageTime from "../StorageTime.ts"
import { orUnavailable } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import { CurrentRateCard } from "../usage/RateCard.ts"
import { CampaignStore } from "./CampaignStore.ts"
import type * as CampaignWorkStep from "./CampaignWorkStep.ts"
import * as Heartbeat from "./Heartbeat.ts"
import * as Pace from "./Pace.ts"
import { QueuedMessages } from "./QueuedMessages.ts"
import * as RecipientEnd from "./RecipientEnd.ts"

/** How soon a campaign that has begun is looked at again. */
const soon = Duration.millis(200)

/** How soon a change takes effect while no campaign is at work. */
const every = Duration.seconds(1)

/** Recipients in one piece of work: as many as the highest tier sends within the pace's horizon. */
const limit = 500

/** Rows that are checked in one piece of work. With a quarter of them, a row takes twice the processor time. */
const rowsAtOnce = 256

/** The same after another kind of work: the ids of their messages are made before it is known whether rows wait. */
const rowsAtFirst = 16

/** The maximum number of recipients that a process has taken and not ended. Beyond, other processes take them. */
const maxTaken = 2_000

/**
 * The maximum number of campaign sends in flight. With answers of half a second one process alone keeps the default
 * share of the highest tier. More would take the provider's connections from other sends while the process is
 * overloaded, and leave more outcomes unknown when it dies.
 */
const maxInFlight = 256

/** Whether the operator says that the database was restored from a backup (contract §11 `WAC_RESTORED`). */
export const IsRestored = Context.Reference<boolean>("@wac/core/campaigns/CampaignRunner/IsRestored", {
  defaultValue: () => false
})

/** Runs as long as its scope. Any number of processes may run it. */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const store = yield* CampaignStore
    const messages = yield* QueuedMessages
    const provider = yield* Provider
    const random = yield* SecureRandom.SecureRandom
    const vault = yield* Vault
    const limits = yield* CurrentLimits
    const rateCard = yield* CurrentRateCard
    const { rest } = yield* Polling
    const isRestored = yield* IsRestored
    const leaving = yield* FiberSet.make()
    /** How many recipients this process has taken and not ended. */
    let taken = 0
    const places = yield* Semaphore.make(maxInFlight)
    let lastBeat: Instant | null = null
    /** How far this process's clock is ahead of the storage's, in milliseconds. */
    let ahead: number | undefined

    /** Compares the clocks by a time that the storage has just answered with. */
    const measure = (asked: Instant, at: Instant) =>
      Effect.map(Clock.currentTimeMillis, (answered) => {
        ahead = StorageTime.aheadAfter(ahead, { asked, at, answered })
      })

    const beat = Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const { at, waiting } = yield* store.beat({ now, last: lastBeat, isRestored: isRestored && lastBeat === null })
      lastBeat = at
      yield* measure(now, at)
      if (waiting > 0) {
        yield* Effect.logWarning(
          `the database was restored from a backup, or nothing ran for 5 minutes: ${waiting} campaigns wait until a ` +
            "person resumes them (`wac campaigns confirm`)"
        )
      }
    })

    const attempt = Effect.fnUntraced(function*({ key, message, tries }: CampaignWorkStep.Claimed, at: Instant) {
      const isMissed = Effect.map(Clock.currentTimeMillis, (now) => Pace.isMissed(at, now))
      if (yield* isMissed) return RecipientEnd.missed
      // only once, so that a storage that is always slow delays messages, and does not hold them back
      const isTooLate = message.status === "queued" ? isMissed : Effect.succeed(false)
      return RecipientEnd.after(yield* messages.send({ message, key }, isTooLate), tries)
    })

    const send = Effect.fnUntraced(function*(
      { id, workspaceId }: CampaignWorkStep.Worked["campaign"],
      recipient: CampaignWorkStep.Claimed,
      at: Instant
    ) {
      const { end, pause } = yield* places.withPermit(attempt(recipient, at))
      const now = yield* Clock.currentTimeMillis
      if (pause !== undefined) {
        yield* store.change({ workspaceId, id, now, change: { _tag: "PauseFor", reason: pause } })
      }
      if (end !== null) yield* store.end({ now, messageId: recipient.message.id, end })
    })

    /** Sends to recipients with the same departure, together. */
    const leave = Effect.fnUntraced(function*(
      campaign: CampaignWorkStep.Worked["campaign"],
      recipients: ReadonlyArray<CampaignWorkStep.Claimed>,
      departure: Instant
    ) {
      const at = departure + (ahead ?? 0)
      yield* Effect.sleep(Duration.millis(Math.max(0, at - (yield* Clock.currentTimeMillis))))
      yield* Effect.forEach(recipients, (recipient) =>
        orUnavailable(send(campaign, recipient, at)).pipe(
          // the lease ends, and another try finds out what came of it
          Effect.catchCause((cause) => Effect.logDebug("the end of a campaign's recipient is not recorded yet", cause)),
          Effect.ensuring(Effect.sync(() => {
            taken--
          }))
        ), { concurrency: "unbounded", discard: true })
    })

    let isBusy = false
    let isChecking = false

    /** One piece of work. Returns whether there may be more. */
    const work = Effect.gen(function*() {
      if (taken >= maxTaken) return false
      const now = yield* Clock.currentTimeMillis
      const command: CampaignWorkStep.Work = {
        now,
        limit,
        limits,
        rateCard,
        provider: provider.name,
        messageIds: yield* Effect.replicateEffect(
          Id.generate(random, "msg"),
          isChecking ? rowsAtOnce : rowsAtFirst
        ),
        hashes: {},
        ids: { events: [yield* Id.generate(random, "evt")], deliveries: [yield* Id.generate(random, "dlv")] }
      }
      const first = yield* store.work(command)
      const worked = Option.isSome(first) && first.value.unhashed.length > 0
        ? yield* store.work({
          ...command,
          hashes: yield* NameHashes.of(vault, first.value.campaign.workspaceId, first.value.unhashed)
        })
        : first
      isChecking = Option.isSome(worked) && worked.value.campaign.status === "checking"
      if (Option.isNone(worked)) return false
      const { at, campaign, claimed } = worked.value
      yield* measure(now, at)
      taken += claimed.length
      for (const [departure, recipients] of Map.groupBy(claimed, ({ slot }) => Pace.departure(slot))) {
        yield* FiberSet.run(leaving, leave(campaign, recipients, departure))
      }
      return true
    })

    const workAll = Effect.gen(function*() {
      isBusy = false
      while (yield* work) isBusy = true
    })

    // nothing is sent before it is known that the database was not restored
    const begun = Effect.retry(
      Effect.tapCause(beat, (cause) => Effect.logWarning("campaigns wait for the storage", cause)),
      Schedule.spaced(Heartbeat.every)
    )
    const beats = Effect.catchCause(
      beat,
      (cause) => Effect.logDebug("a heartbeat could not be written; the next one follows", cause)
    )

    const works = workAll.pipe(
      Effect.catchCause((cause) => Effect.logWarning("work on a campaign failed; the next look follows", cause)),
      (looking) => Effect.andThen(Effect.suspend(() => rest("campaigns", isBusy ? soon : every)), looking),
      Effect.forever
    )
    yield* begun.pipe(
      Effect.andThen(
        Effect.all([
          works,
          Effect.forever(Effect.andThen(rest("restores", Heartbeat.every), beats))
        ], { concurrency: "unbounded", discard: true })
      ),
      Effect.forkScoped
    )
  })
)
