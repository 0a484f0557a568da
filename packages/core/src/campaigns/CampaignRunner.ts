/**
 * Works on campaigns in the background: checks rows, sends to recipients at the campaign's pace, and completes
 * campaigns. Calls `CampaignStore`, `QueueStore` and `QueuedMessages`.
 */
import { Clock, Duration, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import * as BackgroundLoop from "../BackgroundLoop.ts"
import * as NameHashes from "../contacts/NameHashes.ts"
import * as Elapsed from "../Elapsed.ts"
import * as Id from "../Id.ts"
import { CurrentLimits } from "../limits/Limits.ts"
import { Polling } from "../Polling.ts"
import { Provider } from "../provider/Provider.ts"
import * as Departures from "../queue/Departures.ts"
import { Heartbeats } from "../queue/Heartbeats.ts"
import type { QueuedEnd } from "../queue/QueuedMessages.ts"
import { QueueStore } from "../queue/QueueStore.ts"
import { Vault } from "../secrets/Vault.ts"
import { CurrentRateCard } from "../usage/RateCard.ts"
import * as Campaign from "./Campaign.ts"
import { CampaignStore } from "./CampaignStore.ts"
import * as CampaignWorkStep from "./CampaignWorkStep.ts"
import * as Recipient from "./Recipient.ts"
import * as RecipientEnd from "./RecipientEnd.ts"
import * as SharedValues from "./SharedValues.ts"

/** How soon the runner looks for work again after it has done some. */
const soon = Duration.millis(200)

/** How soon the runner looks for work again after it has found none. */
const every = Duration.seconds(1)

/** The maximum number of recipients per piece of work: as many as the highest tier sends within the pace's horizon. */
const limit = 500

/**
 * The maximum number of rows that one piece of work checks. With a quarter of them, a row takes twice the processor
 * time.
 */
const rowsAtOnce = 256

/**
 * {@link rowsAtOnce} if the previous piece of work checked no rows. It is small, because an id is generated for each
 * row before it is known whether any row must be checked.
 */
const rowsAtFirst = 16

/** Runs as long as its scope. Any number of processes may run it. */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const store = yield* CampaignStore
    const queue = yield* QueueStore
    const provider = yield* Provider
    const random = yield* SecureRandom.SecureRandom
    const vault = yield* Vault
    const limits = yield* CurrentLimits
    const rateCard = yield* CurrentRateCard
    const { rest } = yield* Polling
    const { begun } = yield* Heartbeats
    const { departures, whole } = yield* Departures.ofRunner(CampaignWorkStep.lease)

    const record = Effect.fnUntraced(function*(
      campaign: CampaignWorkStep.Worked["campaign"],
      { message, tries }: CampaignWorkStep.Claimed,
      ended: QueuedEnd<{ readonly campaignId: Id.CampaignId }>
    ) {
      const { id, workspaceId } = campaign
      const { end, pause } = RecipientEnd.after(
        ended,
        tries,
        (error) => SharedValues.isRefused(campaign, message, error)
      )
      const now = yield* Clock.currentTimeMillis
      if (pause !== undefined) {
        yield* store.change({ workspaceId, id, now, change: { _tag: "PauseFor", reason: pause } })
      }
      if (end === null) return
      // a campaign's message ends without an event
      yield* queue.end({ now, messageId: message.id, phoneNumberId: null, end, ids: { events: [], deliveries: [] } })
    })

    let isBusy = false
    let isChecking = false

    /** Does one piece of work. Returns whether there may be more. */
    const work = Effect.gen(function*() {
      if (!departures.hasRoom()) return false
      const [now, takenAt] = [yield* Clock.currentTimeMillis, yield* Elapsed.now]
      const command: CampaignWorkStep.Work = {
        now,
        limit,
        roomOf: departures.roomOf,
        limits,
        rateCard,
        provider: provider.name,
        capabilities: provider.capabilities,
        messageIds: yield* Effect.replicateEffect(
          Id.generate(random, "msg"),
          isChecking ? rowsAtOnce : rowsAtFirst
        ),
        hashes: {},
        hashedFor: null,
        ids: { events: [yield* Id.generate(random, "evt")], deliveries: [yield* Id.generate(random, "dlv")] }
      }
      const first = yield* store.work(command)
      const worked = Option.isSome(first) && first.value.unhashed.length > 0
        ? yield* store.work({
          ...command,
          hashes: yield* NameHashes.of(vault, first.value.campaign.workspaceId, first.value.unhashed),
          hashedFor: first.value.campaign.workspaceId
        })
        : first
      isChecking = Option.isSome(worked) && worked.value.campaign.status === "checking"
      if (Option.isNone(worked)) return false
      const { at, campaign, claimed } = worked.value
      yield* departures.measure(now, at)
      yield* departures.leave(
        claimed.map((recipient) => ({
          ...recipient,
          queue: { campaignId: campaign.id },
          request: Recipient.requestOf(campaign, recipient.key),
          sendUntil: Campaign.endsAt(campaign, at)
        })),
        takenAt,
        // `null`, because a campaign's pace is strict (contract §11)
        null,
        (recipient, ended) => record(campaign, recipient, ended)
      )
      return true
    })

    const workAll = Effect.gen(function*() {
      isBusy = false
      while (yield* whole(work)) isBusy = true
    })

    const pause = Effect.suspend(() => rest("campaigns", isBusy ? soon : every))
    yield* Effect.forkScoped(Effect.andThen(begun, BackgroundLoop.rested("work on campaigns", workAll, pause)))
  })
)
