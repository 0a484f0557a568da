/**
 * The background tasks for files (contract §10): deletes expired, removed and broken-off files, and downloads customers'
 * files soon after they arrive. Any number of processes may run it.
 */
import { Clock, Duration, Effect, Exit, FiberSet, Layer, Semaphore } from "effect"
import * as BackgroundLoop from "../BackgroundLoop.ts"
import * as Metrics from "../Metrics.ts"
import { Polling } from "../Polling.ts"
import { Heartbeats } from "../queue/Heartbeats.ts"
import * as RepeatedFailure from "../RepeatedFailure.ts"
import type { StoreError } from "../StoreError.ts"
import { MediaBytes, type Named } from "./MediaBytes.ts"
import { downloadLease, InboundFiles, MediaLibrary } from "./MediaLibrary.ts"
import { MediaStore } from "./MediaStore.ts"

/** How often expired files are deleted. */
const tidyEvery = Duration.minutes(5)

/** The maximum number of files in one round. */
const size = 100

/** The pause between two deletions, so that they do not delay other queries. */
const pause = Duration.millis(20)

/** How often the tidier looks for customers' files to download. */
const fetchEvery = Duration.seconds(1)

/** The number of concurrent downloads. */
const concurrency = 4

/** Removes files that are due, in small steps. */
const removeDue = Effect.gen(function*() {
  const store = yield* MediaStore
  for (;;) {
    const now = yield* Clock.currentTimeMillis
    const due = yield* store.due(now, size)
    for (const file of due) {
      if (yield* store.remove({ ...file, now, only: "due" })) yield* Metrics.retentionRemoved("media", 1)
    }
    if (due.length < size) return
  }
})

/**
 * Deletes the bytes of removed files, in small steps. If the bytes of a file cannot be deleted, those of the others
 * are, and then it fails. Files that are held are left for later: a copy that waits for a person must not alert.
 */
const deleteBytes = Effect.gen(function*() {
  const store = yield* MediaStore
  const bytes = yield* MediaBytes
  const deleteOf = Effect.fnUntraced(function*(file: Named) {
    while (yield* bytes.remove(file)) yield* Effect.sleep(pause)
    yield* store.forget(file, yield* Clock.currentTimeMillis)
  }, Effect.catchIf(({ isHeld }) => isHeld === true, () => Effect.void))
  let failed: Effect.Effect<void, StoreError> = Effect.void
  for (let after = "";;) {
    const removed = yield* store.removed(yield* Clock.currentTimeMillis, after, size)
    const exit = yield* Effect.exit(RepeatedFailure.each(removed, deleteOf))
    if (Exit.isFailure(exit)) failed = exit
    if (removed.length < size) return yield* failed
    after = removed.at(-1)!.id
  }
})

const tidy = Metrics.retentionRound("media")(
  Effect.asVoid(RepeatedFailure.each([removeDue, deleteBytes], (each) => each))
)

/**
 * Begins the download of the customer's file that is due next, once one of the `places` is free, which it takes until its
 * end: a download that hangs delays no other. Returns whether there was one.
 */
const fetchNext = Effect.fnUntraced(function*(
  places: Semaphore.Semaphore,
  begin: (download: Effect.Effect<void>) => Effect.Effect<unknown>,
  log: RepeatedFailure.Log
) {
  const store = yield* MediaStore
  const { fetch } = yield* MediaLibrary
  yield* places.take(1)
  const now = yield* Clock.currentTimeMillis
  const [claimed] = yield* store
    .claimAwaited({ now, until: now + Duration.toMillis(downloadLease), limit: 1 })
    .pipe(Effect.onError(() => places.release(1)))
  if (claimed === undefined) {
    yield* places.release(1)
    return false
  }
  yield* begin(
    fetch(claimed).pipe(
      // a file that the provider no longer has or that was removed is not a failure
      Effect.catchTag("NotFound", () => Effect.void),
      Effect.tapCause((cause) => log("download", `${claimed.id} could not be downloaded`, cause)),
      Effect.ignoreCause,
      Effect.ensuring(places.release(1))
    )
  )
  return true
})

/** Runs as long as its scope. */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const { rest } = yield* Polling
    yield* Metrics.retentionBegan("media", yield* Clock.currentTimeMillis)
    // before the first heartbeat it is not known whether the database was restored (`MediaHold`)
    const { begun } = yield* Heartbeats
    yield* Effect.forkScoped(
      Effect.andThen(begun, BackgroundLoop.make("deleting files", tidy, Effect.sleep(tidyEvery)))
    )
    if ((yield* InboundFiles) === "on_demand") return
    const downloads = yield* FiberSet.make()
    const places = yield* Semaphore.make(concurrency)
    yield* fetchNext(places, (download) => FiberSet.run(downloads, download), RepeatedFailure.make()).pipe(
      RepeatedFailure.watch("claiming customers' files"),
      Effect.catchCause(() => Effect.succeed(false)),
      Effect.flatMap((worked) => worked ? Effect.void : rest("files", fetchEvery)),
      Effect.forever,
      (loop) => Effect.andThen(begun, loop),
      Effect.forkScoped
    )
  })
)
