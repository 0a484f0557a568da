/** Whether free-form text may be sent to a contact, and for how long. */
import { Status } from "../ui/Status.tsx"
import { Until, useNow } from "../ui/Time.tsx"

export const WindowState = ({ openUntil }: { readonly openUntil: string | null }) => {
  const isOpen = useNow((now) => openUntil !== null && Date.parse(openUntil) > now)
  return isOpen && openUntil !== null
    ? (
      <Status tone="good" icon="clock">
        Open for <Until at={openUntil} />
      </Status>
    )
    : <Status tone="calm" icon="minus">Closed</Status>
}

export const OptOut = ({ optedOut }: { readonly optedOut: boolean }) =>
  optedOut ? <Status tone="warn" icon="minus">Opted out</Status> : <span className="text-muted">No</span>
