/**
 * Port: links to the portal, and the sessions that they become. Only the hashes of tokens are kept.
 */
import { Context, type Effect, type Option } from "effect"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Portal } from "./Portal.ts"

/** Makes a session of a link. */
export interface OpenPortal {
  readonly now: Instant
  /** Of the link's token. */
  readonly tokenHash: string
  /** Of the session's token, which takes its place. */
  readonly sessionHash: string
  /** When the session ends. */
  readonly expiresAt: Instant
}

export class PortalStore extends Context.Service<PortalStore, {
  /** Keeps a link. */
  readonly create: (link: Portal) => Effect.Effect<void, StoreError>
  /**
   * Makes a session of a link that has not ended, once: of racers exactly one. The link's token opens nothing from then
   * on. Nothing for a link that does not exist, has ended or was opened.
   */
  readonly open: (command: OpenPortal) => Effect.Effect<Option.Option<Portal>, StoreError>
  /** A session that has not ended; a link is none. */
  readonly find: (sessionHash: string, now: Instant) => Effect.Effect<Option.Option<Portal>, StoreError>
  /** Forgets what ended before a time: a bounded number at once. Returns whether more may be left. */
  readonly forget: (before: Instant) => Effect.Effect<boolean, StoreError>
  /** Ends a session; one that is unknown is passed over. */
  readonly end: (sessionHash: string) => Effect.Effect<void, StoreError>
}>()("@wac/core/people/PortalStore") {}
