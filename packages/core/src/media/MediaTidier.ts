/**
 * The background tasks for files (contract §10): deletes expired, removed and broken-off files, and downloads customers'
 * files soon after they arrive. Any number of processes may run it.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import * as BackgroundLoop from "../BackgroundLoop.ts"
import * as Metrics from "../Metrics.ts"
import { Polling } from "../Polling.ts"
import * as RepeatedFailure from "../RepeatedFailure.ts"
import { MediaBytes } from "./MediaBytes.ts"
import { InboundFiles, MediaLibrary } from "./MediaLibrary.ts"
import { MediaStore } from "./MediaStore.ts"

/** How often expired files are deleted. */
const tidyEvery = Duration.minutes(5)

/** The maximum number of files in one round. */
const size = 100

/** The pause between two deletions, so that they do not delay other queries. */
const pause = Duration.millis(20)

/** How often the tidier looks for customers' files to download. */
const fetchEvery = Duration.seconds(1)

/**
 * How long a process keeps its claim of a download. After this, another process tries a download whose process died.
 * Longer than `MediaLibrary.downloadTimeout`.
 */
const fetchLease = Duration.minutes(5)

/** The number of concurrent downloads. */
const concurrency = 4

/** Deletes what is due, in small steps. Returns whether more may be left. */
const tidy = Effect.gen(function*() {
  const store = yield* MediaStore
  const bytes = yield* MediaBytes
  const now = yield* Clock.currentTimeMillis
  const due = yield* store.due(now, size)
  for (const file of due) {
    if (yield* store.remove({ ...file, now, only: "due" })) yield* Metrics.retentionRemoved("media", 1)
  }
  const removed = yield* store.removed(size)
  for (const file of removed) {
    while (yield* bytes.remove(file)) yield* Effect.sleep(pause)
    yield* store.forget(file)
  }
  return due.length === size || removed.length === size
})

/** Downloads the customers' files that are due. Returns whether there were any. */
const fetchDue = Effect.fnUntraced(function*(log: RepeatedFailure.Log) {
  const store = yield* MediaStore
  const { fetch } = yield* MediaLibrary
  const now = yield* Clock.currentTimeMillis
  const claimed = yield* store.claimAwaited({ now, until: now + Duration.toMillis(fetchLease), limit: concurrency })
  yield* Effect.forEach(
    claimed,
    (awaited) =>
      fetch(awaited).pipe(
        // a file that the provider no longer has or that was removed is not a failure
        Effect.catchTag("NotFound", () => Effect.void),
        Effect.tapCause((cause) => log("download", `${awaited.id} could not be downloaded`, cause)),
        Effect.ignoreCause
      ),
    { concurrency, discard: true }
  )
  return claimed.length > 0
})

/** Runs as long as its scope. */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const { rest } = yield* Polling
    yield* Metrics.retentionRemoved("media", 0)
    const tidyAll = Effect.repeat(tidy, { while: (isMore) => isMore })
    yield* Effect.forkScoped(BackgroundLoop.make("deleting files", tidyAll, Effect.sleep(tidyEvery)))
    if ((yield* InboundFiles) === "on_demand") return
    yield* fetchDue(RepeatedFailure.make()).pipe(
      RepeatedFailure.watch("claiming customers' files"),
      Effect.catchCause(() => Effect.succeed(false)),
      Effect.flatMap((worked) => worked ? Effect.void : rest("files", fetchEvery)),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
