/**
 * Processes stored provider posts in the background: claims them, reads them and applies their items through `Inbound`.
 */
import { Cause, Clock, Duration, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as BackgroundLoop from "../BackgroundLoop.ts"
import * as Defect from "../Defect.ts"
import * as Elapsed from "../Elapsed.ts"
import * as Metrics from "../Metrics.ts"
import { Polling } from "../Polling.ts"
import * as RepeatedFailure from "../RepeatedFailure.ts"
import * as Retention from "../Retention.ts"
import { StoreError } from "../StoreError.ts"
import * as IgnoredItems from "./IgnoredItems.ts"
import { Inbound } from "./Inbound.ts"
import type { InboundItem } from "./InboundItem.ts"
import * as InboundLane from "./InboundLane.ts"
import * as InboundPost from "./InboundPost.ts"
import { type ClaimedPost, InboundPostStore } from "./InboundPostStore.ts"
import { ProviderWebhook, UnreadablePost } from "./ProviderWebhook.ts"

/** The maximum number of posts in a round. With several posts in a round, items of small posts share statements. */
const maxPosts = 64

/** The maximum number of bytes in a round, except for a single larger post. */
const maxBytes = 8 * 1024 * 1024

/** The maximum number of items in flight: as many as fit one statement of the storage. */
const maxInFlight = 64

/** How many items are divided into lanes and applied before other work of the process gets its turn. */
export const itemsAtOnce = 2000

/**
 * How long a process keeps its claims. After this, other processes take over the posts of a process that died. A round
 * takes a fraction of it.
 */
export const lease = Duration.seconds(15)

/** The claimer's longest sleep, since hints can be lost and retries become due. */
const pollEvery = Duration.seconds(1)

/** The interval between deletions of expired posts, which are kept for days. */
const sweepEvery = Duration.minutes(1)

/** The longest interval between deletions of expired posts, even if none can have expired. */
const longestSweepRest = Duration.hours(1)

/** The maximum number of posts deleted in one step, so that the statement is short. */
const sweepBatch = 500

/**
 * From this number of failures on, each item of a post is tried separately. Before that, the first failure ends the
 * try, since the storage is probably down and items keep their order. But an item that fails for a reason of its own
 * must not hold up the others forever.
 */
export const separatesAfter = 3

/** The maximum number of unreadable posts that become due in one step. */
const retryBatch = 500

/**
 * How long after a process has started the unreadable posts are tried again: at once, and when the processes of the
 * version before, which set aside again what they claim, have ended.
 */
const retryAfter: ReadonlyArray<Duration.Duration> = [Duration.zero, Duration.minutes(15)]

/**
 * Since when each process has run, by its store, and how often it has tried the unreadable posts again: an instance with
 * `background: false` starts its runner with each `work`.
 */
const retries = new WeakMap<InboundPostStore["Service"], { readonly since: number; readonly times: number }>()

/** A claimed post while its items are applied. */
interface Progress {
  readonly post: ClaimedPost
  problem: InboundPost.Problem | null
  /** The number of items still to be applied. */
  left: number
  readonly ignored: Array<IgnoredItems.IgnoredItem>
  /** Whether the result has been recorded. */
  isOver: boolean
}

/** An item of a round, with its post. */
interface Step {
  readonly progress: Progress
  readonly item: InboundItem
}

const named = ({ body, digest, provider }: ClaimedPost): string =>
  `the post ${digest} of ${provider} (${body.length} bytes)`

/**
 * Runs an effect for a post. A failure becomes the post's problem. It is logged unless the store has logged it already.
 */
const noting = <A>(progress: Progress, effect: Effect.Effect<A, StoreError | UnreadablePost>) =>
  Effect.catchCause(effect, (cause) => {
    const error = Cause.squash(cause)
    if (error instanceof StoreError && error.fault === "storage") {
      progress.problem ??= "storage"
      return Effect.void
    }
    if (error instanceof UnreadablePost) {
      progress.problem = "unreadable"
      return Effect.logWarning(`${named(progress.post)} cannot be read and is set aside: ${error.message}`)
    }
    progress.problem = "defect"
    return Effect.logError(`${named(progress.post)} failed unexpectedly: ${Defect.placeOf(error)}`)
  })

/**
 * Runs as long as its scope. Closing the scope releases unprocessed posts. Any number of processes may run it, and any
 * may die: a post is processed at least once, and `Inbound` removes the duplicates. If the provider posts nothing, it
 * only deletes old posts.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const store = yield* InboundPostStore
    const inbound = yield* Inbound
    const random = yield* SecureRandom.SecureRandom
    const webhook = yield* ProviderWebhook
    const polling = yield* Polling
    const keptFor = Retention.keptFor(yield* Retention.CurrentRetention, "inbound")

    yield* Metrics.retentionBegan("inbound", yield* Clock.currentTimeMillis)
    const sweep = Clock.currentTimeMillis.pipe(
      Effect.flatMap((now) => store.sweep(now, sweepBatch)),
      Effect.tap((swept) => Metrics.retentionRemoved("inbound", swept)),
      Effect.repeat({ while: (swept) => swept > 0 }),
      Metrics.retentionRound("inbound")
    )
    // a storage in memory may rest for days while nothing expires, which must not look as if nothing were deleted
    const sweepRest = Effect.raceFirst(polling.rest("expiredPosts", sweepEvery), Effect.sleep(longestSweepRest))
    yield* Effect.forkScoped(BackgroundLoop.make("sweeping provider posts", sweep, sweepRest))
    if (webhook === undefined) return

    const read = Effect.fnUntraced(function*(progress: Progress) {
      const { body, receivedAt } = progress.post
      const items = yield* noting(progress, webhook.read(body, receivedAt))
      const steps = (items ?? []).map((item): Step => ({ progress, item }))
      progress.left = steps.length
      return steps
    })

    const apply = Effect.fnUntraced(function*({ item, progress }: Step) {
      if (progress.problem !== null && progress.post.tries < separatesAfter) return
      const ignored = yield* noting(
        progress,
        Effect.tap(inbound.apply(item, progress.post.receivedAt), Metrics.applied(item))
      )
      if (ignored !== undefined) progress.ignored.push(ignored)
    })

    /** Applies an item. After a post's last item, records the result. */
    const step = (token: string) =>
      Effect.fnUntraced(function*(step: Step) {
        yield* apply(step)
        step.progress.left--
        if (step.progress.left === 0) yield* conclude(token)(step.progress)
      })

    /** Records a post's result. If that fails, the post is due again when its lease ends. */
    const conclude = (token: string) =>
      Effect.fnUntraced(function*(progress: Progress) {
        const { ignored, post: { digest, provider, tries }, problem } = progress
        const claim = { provider, digest, token, now: yield* Clock.currentTimeMillis }
        if (problem === null) {
          yield* store.complete({ ...claim, keptFor })
          yield* IgnoredItems.log(named(progress.post), ignored)
        } else {
          yield* Metrics.postFailed(problem)
          const retryAt = problem === "unreadable"
            ? null
            : claim.now + Duration.toMillis(InboundPost.retryAfter(tries + 1))
          yield* store.release({ ...claim, retryAt, problem })
        }
        progress.isOver = true
      }, (recorded) => Effect.ignore(recorded))

    const releaseUnfinished = (token: string) => ({ isOver, post: { digest, provider } }: Progress) =>
      isOver ? Effect.void : Effect.ignore(Effect.flatMap(
        Clock.currentTimeMillis,
        (now) => store.release({ provider, digest, token, now, retryAt: now, problem: null })
      ))

    const process = Effect.fnUntraced(function*(round: ReadonlyArray<Progress>, token: string) {
      // yield to the event loop after each post, so that reading a round's posts does not hold up other work
      const steps = (yield* Effect.forEach(round, (progress) => Effect.tap(read(progress), () => Effect.yieldNow)))
        .flat()
      const empty = round.filter(({ left }) => left === 0)
      yield* Effect.forEach(empty, conclude(token), { concurrency: "unbounded", discard: true })
      for (let at = 0; at < steps.length; at += itemsAtOnce) {
        const lanes = InboundLane.divide(steps.slice(at, at + itemsAtOnce), ({ item }) => item)
        yield* Effect.forEach(lanes, (lane) => Effect.forEach(lane, step(token), { discard: true }), {
          concurrency: maxInFlight,
          discard: true
        })
        // items that need no storage do not yield by themselves
        yield* Effect.yieldNow
      }
    })

    /** Claims and processes due posts. Returns whether there were any. */
    const round = Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        // one token a round, so that a round that outlives its lease cannot end a later claim
        const token = yield* random.uuidV4({})
        const posts = yield* store.claim({
          now,
          provider: webhook.name,
          token,
          leaseUntil: now + Duration.toMillis(lease),
          limit: { posts: maxPosts, bytes: maxBytes }
        })
        const claimed = posts.map((post): Progress => ({ post, problem: null, left: 0, ignored: [], isOver: false }))
        yield* restore(process(claimed, token)).pipe(
          Effect.onInterrupt(() =>
            Effect.forEach(claimed, releaseUnfinished(token), { concurrency: "unbounded", discard: true })
          )
        )
        return claimed.length > 0
      })
    )

    /** A version that starts may read what the version before could not. */
    const retryUnreadable = Effect.gen(function*() {
      const now = yield* Elapsed.now
      const { since, times } = retries.get(store) ?? { since: now, times: 0 }
      const after = retryAfter[times]
      if (after === undefined || now - since < Duration.toMillis(after)) return
      yield* Effect.repeat(store.retryUnreadable(webhook.name, retryBatch), { while: (count) => count === retryBatch })
      retries.set(store, { since, times: times + 1 })
    }).pipe(
      RepeatedFailure.watch("trying unreadable provider posts again"),
      // the next round repeats it, and other posts do not wait for that
      Effect.ignoreCause
    )

    const rest = Effect.raceFirst(store.awaitHint, polling.rest("posts", pollEvery))

    yield* Effect.andThen(retryUnreadable, round).pipe(
      Effect.flatMap((worked) => worked ? Effect.void : rest),
      RepeatedFailure.watch("claiming provider posts"),
      Effect.catchCause(() => Effect.sleep(pollEvery)),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
