/** Shows the service window of a contact (whether and how long free-form text may be sent), and the opt-out. */
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Loaded } from "../ui/Loaded.tsx"
import { Status } from "../ui/Status.tsx"
import { Until, useNow } from "../ui/Time.tsx"
import { contactOrNullQuery } from "./Queries.ts"

/** Whether a service window is open, and for how long. */
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

/** The service window of a customer (`to`) for one of the workspace's phone numbers; loads the contact. */
export const CustomerWindow = ({ phoneNumberId, to }: { readonly phoneNumberId: string; readonly to: string }) => (
  <Loaded query={useQuery(contactOrNullQuery(`${phoneNumberId}:${to}`))} lines={1}>
    {(contact) =>
      contact === null
        ? <span className="text-muted">Closed: the customer has not written</span>
        : (
          <Link to="/contacts/$id" params={{ id: contact.id }}>
            <WindowState openUntil={contact.windowOpenUntil} />
          </Link>
        )}
  </Loaded>
)

/** Whether a customer has opted out. */
export const OptOut = ({ optedOut }: { readonly optedOut: boolean }) =>
  optedOut ? <Status tone="warn" icon="minus">Opted out</Status> : <span className="text-muted">No</span>
