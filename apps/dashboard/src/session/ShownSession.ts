/**
 * The session whose workspace and person this page shows. All tabs of a browser share one session, so another tab can
 * switch its workspace or sign somebody else in. Every call names the shown session, and the service refuses the calls
 * of a page that shows a different one.
 */
import type { Session } from "@wac/client/internal"

let shown: Session | undefined

/** The session that this page shows; `undefined` until it is known. */
export const shownSession = (): Session | undefined => shown

/** Sets the session that this page shows. */
export const show = (session: Session): void => {
  shown = session
}

/** Whether two sessions are of different people or workspaces. Pure. */
export const isOther = (one: Session, other: Session): boolean =>
  one.userId !== other.userId || one.workspaceId !== other.workspaceId
