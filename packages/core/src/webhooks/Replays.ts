/**
 * The service that creates, shows and cancels replay jobs for the dashboard (contract §6). Writes through
 * `ReplayStore`.
 */
import { Clock, Context, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { InvalidBody, NotFound } from "../Errors.ts"
import * as Id from "../Id.ts"
import * as Lookup from "../Lookup.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Replay, ReplayedStatus } from "./Replay.ts"
import { ReplayStore } from "./ReplayStore.ts"

/** The request to deliver the events of a range again. */
export interface CreateReplay {
  readonly workspaceId: Id.WorkspaceId
  /** Events recorded at or after this time. */
  readonly since: Instant
  /** Events recorded before this time. Defaults to now, and is never later. */
  readonly until: Instant | undefined
  /** Only deliveries that ended with this status. Defaults to all that have ended. */
  readonly status: ReplayedStatus | undefined
}

export class Replays extends Context.Service<Replays, {
  /**
   * Retries the deliveries of a range to the present webhook, in the background. They share the backlog's rate, and
   * newer events flow beside them. Events recorded after the job are not covered.
   */
  readonly create: (command: CreateReplay) => Effect.Effect<Replay, InvalidBody | NotFound | StoreError>
  /** The workspace's jobs, newest first. */
  readonly list: (workspaceId: Id.WorkspaceId, page: PageRequest) => Effect.Effect<Page<Replay>, StoreError>
  readonly get: (workspaceId: Id.WorkspaceId, id: string) => Effect.Effect<Replay, NotFound | StoreError>
  /** Cancels a job. Deliveries that it has already retried continue. A job that has ended stays as it is. */
  readonly cancel: (workspaceId: Id.WorkspaceId, id: string) => Effect.Effect<Replay, NotFound | StoreError>
}>()("@wac/core/webhooks/Replays") {
  static readonly layer = Layer.effect(
    Replays,
    Effect.gen(function*() {
      const store = yield* ReplayStore
      const random = yield* SecureRandom.SecureRandom

      const create = Effect.fn("Replays.create")(function*({ since, status, until, workspaceId }: CreateReplay) {
        const now = yield* Clock.currentTimeMillis
        if (until !== undefined && until <= since) {
          return yield* new InvalidBody({
            reason: "invalid_field",
            param: "until",
            message: "until must be later than since"
          })
        }
        const created = yield* store.create({
          id: yield* Id.generate(random, "job"),
          workspaceId,
          since,
          until: Math.min(until ?? now, now),
          status: status ?? null,
          now
        })
        return Option.isSome(created) ? created.value : yield* new NotFound({ message: "the workspace has no webhook" })
      })

      const find = <E>(text: string, get: (id: Id.ReplayId) => Effect.Effect<Option.Option<Replay>, E>) =>
        Lookup.find("replay", Id.parse(Id.ReplayId, text), get)

      const get = (workspaceId: Id.WorkspaceId, text: string) => find(text, (id) => store.get(workspaceId, id))

      const cancel = Effect.fn("Replays.cancel")(function*(workspaceId: Id.WorkspaceId, text: string) {
        const now = yield* Clock.currentTimeMillis
        return yield* find(text, (id) => store.cancel(workspaceId, id, now))
      })

      return Replays.of({ create, list: store.list, get, cancel })
    })
  )
}
