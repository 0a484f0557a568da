/** The client that calls the service of these pages, and checks of its errors. */
import { createInternalClient, type Session, WacError } from "@wac/client/internal"
import { portal, root } from "./Document.ts"
import { withProof } from "./Presence.ts"
import { shownSession } from "./ShownSession.ts"

/** The address of the service, without a slash at the end. */
export const address = new URL(root, location.origin).href.replace(/\/$/, "")

/** The address of the documentation of an error. */
export const errorAddress = ({ code, reason }: { readonly code: string; readonly reason?: string | null }): string =>
  `${root}docs/errors#${reason == null ? code : `${code}-${reason}`}`

/** How long a call waits for the browser to take a new cookie. */
const renewal = 300

const hasEnded = async (response: Response): Promise<boolean> => {
  if (response.status !== 401) return false
  const body: unknown = await response.clone().json().catch(() => undefined)
  return (body as { readonly error?: { readonly reason?: string } } | undefined)?.error?.reason === "missing_session"
}

/**
 * Makes a request. A proof of presence and a new password, in whatever tab, replace the session's cookie. A request that
 * was on its way with the one before was refused, and is repeated once. The request for the session itself is not, since
 * it is the first of a person who is not signed in.
 */
const fetchRenewed: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  const isOfSession = new URL(String(input)).pathname.endsWith("/internal/session")
  if (isOfSession || init?.body instanceof ReadableStream || !(await hasEnded(response))) return response
  await new Promise((resolve) => setTimeout(resolve, renewal))
  return fetch(input, init)
}

const options = { baseUrl: address, timeout: 20_000, retries: 1, fetch: fetchRenewed }

/** The client of the service's endpoints for people. The browser keeps the session's cookie. */
export const api = withProof(createInternalClient({
  ...options,
  ...(portal === undefined ? { shown: shownSession } : { portal })
}))

/** The client of a session that this page does not show. Only what ends or moves that session may use it. */
const clientOf = (session: Session) => createInternalClient({ ...options, shown: () => session })

/** Signs a session out that this page does not show. */
export const signOutOf = (session: Session): Promise<void> => clientOf(session).session.signOut()

/**
 * A new session in the workspace that the page shows, if the session is of the same person. A sign-in begins in the
 * workspace that the person joined first, in which the page would lose what was filled in.
 */
export const inShownWorkspace = async (begun: Session): Promise<Session> => {
  const shown = shownSession()
  if (shown === undefined || shown.userId !== begun.userId || shown.workspaceId === begun.workspaceId) return begun
  // a person who has left the workspace continues where the sign-in began
  return clientOf(begun).account.switchWorkspace({ workspaceId: shown.workspaceId }).catch(() => begun)
}

/** Whether a call failed because nobody is signed in. */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof WacError && error.status === 401 && error.reason === "missing_session"

/** Whether a call failed because the thing does not exist (404). */
export const isNotFound = (error: unknown): boolean => error instanceof WacError && error.code === "not_found"

/** The first page of a list. */
export const firstPage = async <Page>(list: { readonly pages: () => AsyncIterable<Page> }): Promise<Page> => {
  for await (const page of list.pages()) return page
  throw new Error("a list has a first page")
}
