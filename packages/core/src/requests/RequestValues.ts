/**
 * The service for the values of API requests (contract §17): switches keeping them on and off, and reads them. While an
 * owner has switched it on, a workspace keeps the values of each request for a day.
 */
import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import { type NotFound, ServerError } from "../Errors.ts"
import * as Id from "../Id.ts"
import * as Lookup from "../Lookup.ts"
import { Vault } from "../secrets/Vault.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { BodyValues } from "./BodyValues.ts"
import { RequestValuesStore } from "./RequestValuesStore.ts"

/** How long the values of a request are kept. */
export const retention = Duration.hours(24)

/** Until when the workspace keeps values of its requests; `null` if the switch is off. */
export interface Setting {
  readonly until: Instant | null
}

const unreadable = () =>
  new ServerError({ reason: "internal", message: "the values of the request cannot be decrypted at the moment" })

export class RequestValues extends Context.Service<RequestValues, {
  readonly setting: (workspaceId: Id.WorkspaceId) => Effect.Effect<Setting, StoreError>
  /**
   * Switches keeping values on for `ValuesSwitch.lasts`, or off. Switching off deletes all kept values before this
   * returns, and no values of an earlier request are kept afterwards.
   */
  readonly configure: (workspaceId: Id.WorkspaceId, on: boolean) => Effect.Effect<Setting, StoreError>
  /** Until when a request's values are kept; `null` if they are not. */
  readonly keptUntil: (workspaceId: Id.WorkspaceId, id: Id.RequestId) => Effect.Effect<Instant | null, StoreError>
  /** The values of a request, if they are kept. `id` may be any text. */
  readonly get: (
    workspaceId: Id.WorkspaceId,
    id: string
  ) => Effect.Effect<BodyValues, NotFound | ServerError | StoreError>
}>()("@wac/core/requests/RequestValues") {
  static readonly layer = Layer.effect(
    RequestValues,
    Effect.gen(function*() {
      const store = yield* RequestValuesStore
      const vault = yield* Vault

      const endOf = (id: Id.RequestId): Instant => Id.timeOf(id) + Duration.toMillis(retention)

      /** The kept values of a request; none if their time is over, even if they are not deleted yet. */
      const find = (workspaceId: Id.WorkspaceId, id: Id.RequestId) =>
        Effect.flatMap(
          Clock.currentTimeMillis,
          (now) => now < endOf(id) ? store.find(workspaceId, id) : Effect.succeedNone
        )

      return RequestValues.of({
        setting: Effect.fnUntraced(function*(workspaceId) {
          return { until: yield* store.until(workspaceId, yield* Clock.currentTimeMillis) }
        }),
        configure: Effect.fnUntraced(function*(workspaceId, on) {
          if (on) return { until: yield* store.switchOn(workspaceId, yield* Clock.currentTimeMillis) }
          yield* store.switchOff(workspaceId)
          yield* Effect.repeat(store.removeOutdated(workspaceId), { while: ({ isMore }) => isMore })
          return { until: null }
        }),
        keptUntil: (workspaceId, id) =>
          Effect.map(find(workspaceId, id), (found) => Option.isSome(found) ? endOf(id) : null),
        get: Effect.fnUntraced(function*(workspaceId, given) {
          const { id, sealed } = yield* Lookup.find(
            "request with values",
            Id.parse(Id.RequestId, given),
            (id) => Effect.map(find(workspaceId, id), Option.map((sealed) => ({ id, sealed })))
          )
          const json = yield* Effect.mapError(vault.open(sealed, id), unreadable)
          return JSON.parse(json) as BodyValues
        })
      })
    })
  )
}
