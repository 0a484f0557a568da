/**
 * The portal: a host's customer sees the webhook, the deliveries and the keys of one workspace, by a link that is good
 * once (contract §12).
 */
import { Duration } from "effect"
import type { SessionId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import type { Role } from "./Member.ts"

/** How long a link is good for, if the host does not say. */
export const linkLifetime = Duration.hours(1)

/** The longest that a host may let a link be good for. */
export const longestLink = Duration.days(7)

/** How long what a link opens lasts; use does not lengthen it. */
export const sessionLifetime = Duration.hours(1)

/** Whom the audit names, if the host names nobody. */
export const nobodyNamed = "portal"

/** A link to the portal, or the session that it has become. Only the hash of its token is kept. */
export interface Portal {
  readonly id: SessionId
  readonly tokenHash: string
  readonly workspaceId: WorkspaceId
  readonly role: Role
  /** Whom it is for, as the host names them: for the pages and the audit. */
  readonly visitor: string
  readonly createdAt: Instant
  readonly expiresAt: Instant
}

/** Where the portal of a workspace is, below where the routes are mounted. */
export const pathOf = (workspaceId: string): string => `/portal/${workspaceId}`

/** Whether a text is the origin of an http or https address, written as browsers write it. Pure. */
export const isOrigin = (text: string): boolean =>
  // a policy would read more into other characters, which URLs allow
  /^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::[0-9]+)?$/.test(text) && URL.canParse(text) &&
  new URL(text).origin === text

/** Whether a path leads to a page of the portal when it is put behind {@link pathOf}, and nowhere else. Pure. */
export const isPath = (path: string): boolean => {
  const base = `https://portal.invalid${pathOf("ws")}`
  if (path !== "" && !path.startsWith("/") || /[\\#\p{Cc}]/u.test(path) || !URL.canParse(base + path)) return false
  const { pathname } = new URL(base + path)
  return pathname === pathOf("ws") || pathname.startsWith(`${pathOf("ws")}/`)
}
