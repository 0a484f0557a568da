/** Opening the portal: these pages in a frame of a host's application, or by a link of the host's. */
import { WacError } from "@wac/client/internal"
import { t } from "../ui/Language.ts"
import { Empty } from "../ui/Loaded.tsx"
import { portal } from "./Document.ts"
import { tokenOfLink } from "./Link.ts"
import { api } from "./Service.ts"

let opening: Promise<unknown> | undefined

const open = async (): Promise<void> => {
  const token = tokenOfLink()
  if (token === "") return
  await api.portal.open({ token }).catch((error: unknown) => {
    // a frame that is loaded again brings a link that was used: the session that it opened may be live yet
    if (!(error instanceof WacError && error.reason === "invalid_credentials")) {
      opening = undefined
      throw error
    }
  })
  history.replaceState(history.state, "", location.pathname + location.search)
}

/** Opens the session of the address's link, once; nothing in the dashboard. */
export const openPortal = async (): Promise<void> => {
  if (portal !== undefined) await (opening ??= open())
}

/** The page without a session or a link that opens one. */
export const PortalEnded = () => (
  <main className="mx-auto max-w-lg p-6">
    <Empty title={t("This view has ended")}>{t("Reload the page of the application that shows it.")}</Empty>
  </main>
)
