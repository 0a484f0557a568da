/** Opens the portal (these pages in a frame of a host's application, or at a link that the host made) by its link. */
import { type Session, WacError } from "@wac/client/internal"
import { t } from "../ui/Language.ts"
import { Empty } from "../ui/Loaded.tsx"
import { portal } from "./Document.ts"
import { tokenOfLink } from "./Link.ts"
import { api, isSignedOut } from "./Service.ts"

let opening: Promise<unknown> | undefined

const name = `wac-portal-link-${portal}`

/** What the session storage keeps of a token; `undefined` in a page that is not secure, in which links do not open. */
const hashOf = async (token: string): Promise<string | undefined> => {
  const bytes = await globalThis.crypto.subtle?.digest("SHA-256", new TextEncoder().encode(token))
  return bytes && Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("")
}

/** The session that this frame opened last, and with which link; `undefined` if it opened none, or keeps nothing. */
const lastOpened = (): string | undefined => {
  try {
    return sessionStorage.getItem(name) ?? undefined
  } catch {
    return undefined
  }
}

const remember = (opened: string): void => {
  try {
    sessionStorage.setItem(name, opened)
  } catch {
    // a browser may refuse storage in a frame: the session then ends when the frame is loaded again with its link
  }
}

/** A link and its session. The service names the visitor of each link by an id of its own. */
const opened = (hash: string, { userId }: Session): string => `${hash} ${userId}`

/** Whether a link did not open because it was used before or has expired. */
export const isSpentLink = (error: unknown): boolean =>
  error instanceof WacError && error.reason === "invalid_credentials"

const open = async (): Promise<void> => {
  const token = tokenOfLink()
  if (token === "") return
  const hash = await hashOf(token)
  try {
    const session = await api.portal.open({ token })
    if (hash !== undefined) remember(opened(hash, session))
  } catch (error) {
    // a reloaded frame brings the link that it opened itself, whose session may still be live. Any other session in this
    // browser may be a different visitor's. The token stays in the address, for the next load
    const isOwn = isSpentLink(error) && hash !== undefined && lastOpened() === opened(hash, await api.session.get())
    if (!isOwn) throw error
  }
  history.replaceState(history.state, "", location.pathname + location.search)
}

/** Opens the session of the link in the address, once. Does nothing in the dashboard, or without a token. */
export const openPortal = async (): Promise<void> => {
  if (portal === undefined) return
  await (opening ??= open().catch((error: unknown) => {
    // what is final is not asked again at each look for the session
    if (!isSpentLink(error) && !isSignedOut(error)) opening = undefined
    throw error
  }))
}

/**
 * Reloads the portal when its host sets a new link that differs only behind `#`: browsers then keep the document, which
 * reads a link only while it loads.
 */
export const followLinks = (): void => {
  if (portal === undefined) return
  addEventListener("hashchange", () => {
    if (tokenOfLink() !== "") location.reload()
  })
}

/** What the portal shows without a session, and without a link that opens one. */
export const PortalEnded = () => (
  <main className="mx-auto max-w-lg p-6">
    <Empty title={t("This view has ended")}>{t("Reload the page of the application that shows it.")}</Empty>
  </main>
)
