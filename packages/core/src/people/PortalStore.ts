/**
 * Port: portal links and the sessions that they become. Only the hashes of tokens are stored. `PortalStep` decides
 * *open*.
 */
import { Context, type Effect, type Option } from "effect"
import type { Forgotten } from "../Retention.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Portal } from "./Portal.ts"
import type { Open } from "./PortalStep.ts"

export class PortalStore extends Context.Service<PortalStore, {
  /** Stores a link. Returns it with the storage's times. */
  readonly create: (link: Portal) => Effect.Effect<Portal, StoreError>
  /**
   * Turns an unexpired link into a session. If requests race, exactly one succeeds. From then on the link's token is
   * invalid. Returns `none` if the link is unknown, expired or already used.
   */
  readonly open: (command: Open) => Effect.Effect<Option.Option<Portal>, StoreError>
  /** Finds an unexpired session. A link is not a session. */
  readonly find: (sessionHash: string, now: Instant) => Effect.Effect<Option.Option<Portal>, StoreError>
  /** Deletes a bounded number of links and sessions that ended before a time. */
  readonly forget: (before: Instant) => Effect.Effect<Forgotten, StoreError>
  /** Ends a session. An unknown one is ignored. */
  readonly end: (sessionHash: string) => Effect.Effect<void, StoreError>
}>()("@wac/core/people/PortalStore") {}
