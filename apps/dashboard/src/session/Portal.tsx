/** Opens the portal (these pages in a frame of a host's application, or at a link that the host made) by its link. */
import { WacError } from "@wac/client/internal"
import { t } from "../ui/Language.ts"
import { Empty } from "../ui/Loaded.tsx"
import { portal } from "./Document.ts"
import { idOfLink, tokenOfLink } from "./Link.ts"
import { api, isSignedOut } from "./Service.ts"

let opening: Promise<unknown> | undefined

/** Whether a link did not open because it was used before or has expired. */
export const isSpentLink = (error: unknown): boolean =>
  error instanceof WacError && error.reason === "invalid_credentials"

const open = async (): Promise<void> => {
  const token = tokenOfLink()
  if (token === "") return
  const id = idOfLink()
  try {
    await api.portal.open({ token })
  } catch (error) {
    // a reloaded frame brings the link that it opened itself, whose session may still be live. Any other session in this
    // browser may be a different visitor's. The token stays in the address, for the next load
    const isOwn = isSpentLink(error) && id !== "" && (await api.session.get()).userId === id
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
