/**
 * Deletes expired dashboard records in the background: requests, alerts, audit entries, sessions, portal links and
 * usage.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import * as Alert from "./alerts/Alert.ts"
import { AlertStore } from "./alerts/AlertStore.ts"
import * as AuditEntry from "./audit/AuditEntry.ts"
import { AuditStore } from "./audit/AuditStore.ts"
import { PortalStore } from "./people/PortalStore.ts"
import { SessionStore } from "./people/SessionStore.ts"
import * as ApiRequest from "./requests/ApiRequest.ts"
import { RequestStore } from "./requests/RequestStore.ts"
import type { StoreError } from "./StoreError.ts"
import type { Instant } from "./Time.ts"
import * as Activity from "./usage/Activity.ts"
import { UsageStore } from "./usage/UsageStore.ts"

/** How long an expired record may stay. */
const every = Duration.hours(1)

/** The pause between two deletions of a round, so that they do not delay other queries. */
const pause = Duration.millis(50)

/** A kind of record, and how long it is kept. */
interface Kept {
  readonly retention: Duration.Duration
  readonly forget: (before: Instant) => Effect.Effect<boolean, StoreError>
}

/** Runs as long as its scope. Any number of processes may run it. */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const kept: ReadonlyArray<Kept> = [
      { retention: ApiRequest.retention, forget: (yield* RequestStore).forget },
      { retention: Alert.retention, forget: (yield* AlertStore).forget },
      { retention: AuditEntry.retention, forget: (yield* AuditStore).forget },
      { retention: Duration.zero, forget: (yield* SessionStore).forget },
      { retention: Duration.zero, forget: (yield* PortalStore).forget },
      { retention: Activity.retention, forget: (yield* UsageStore).forget }
    ]
    const tidy = ({ forget, retention }: Kept) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => forget(now - Duration.toMillis(retention))).pipe(
        Effect.tap((isMore) => isMore ? Effect.sleep(pause) : Effect.void),
        Effect.repeat({ while: (isMore) => isMore }),
        Effect.catchCause((cause) => Effect.logWarning("deleting expired data failed; the next round follows", cause))
      )
    yield* Effect.forEach(kept, tidy, { discard: true }).pipe(
      Effect.andThen(Effect.sleep(every)),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
