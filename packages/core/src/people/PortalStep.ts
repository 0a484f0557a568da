/**
 * Decides whether a portal link may be opened: a link becomes a session once, until it expires. Pure.
 */
import type { Decide, Known } from "../Step.ts"
import * as StorageTime from "../StorageTime.ts"
import type { Instant } from "../Time.ts"
import type { Portal } from "./Portal.ts"

/** Turns a link into a session. */
export interface Open {
  readonly now: Instant
  /** The hash of the link's token. */
  readonly tokenHash: string
  /** The hash of the session's token, which replaces the link's. */
  readonly sessionHash: string
  /** When the session ends. */
  readonly expiresAt: Instant
}

/** A stored link, or the session that it has become. */
export interface StoredPortal {
  readonly portal: Portal
  /** Whether it is a session. */
  readonly isOpen: boolean
}

/** The records that the step loads, under locks. */
export interface Loaded extends Known {
  readonly kept: (tokenHash: string) => StoredPortal | undefined
}

/** A link that becomes a session. */
export interface Opened {
  /** The hash of the link's token. */
  readonly tokenHash: string
  readonly session: Portal
}

/** Decides `PortalStore.open`. The answer is the session; `undefined` if the link is unknown, expired or used. */
export const open: Decide<Open, Loaded, Portal | undefined, ReadonlyArray<Opened>> = (loaded, commands) => {
  const opened = new Map<string, Opened>()
  const answers = commands.map((asked) => {
    const { expiresAt, now, sessionHash, tokenHash } = StorageTime.judgedAt(asked, loaded.now(asked.now), "expiresAt")
    const kept = opened.has(tokenHash) ? undefined : loaded.kept(tokenHash)
    if (kept === undefined || kept.isOpen || kept.portal.expiresAt <= now) return undefined
    const session = { ...kept.portal, tokenHash: sessionHash, createdAt: now, expiresAt }
    opened.set(tokenHash, { tokenHash, session })
    return session
  })
  return { answers, writes: [...opened.values()] }
}
