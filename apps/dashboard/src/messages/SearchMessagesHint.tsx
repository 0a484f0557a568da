/**
 * The hint after a search for events, deliveries or contacts without a result: a link that searches messages for the
 * same text.
 */
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { portal } from "../session/Document.ts"
import { soughtMessages } from "../ui/Sought.ts"

const nameOf = ({ provider, reference, to }: ReturnType<typeof soughtMessages>): string =>
  to !== undefined
    ? `Messages to ${to}`
    : provider !== undefined
    ? `The message with the provider’s id ${provider}`
    : `Messages with the reference ${reference}`

export const SearchMessagesHint = ({ children, text }: { readonly text: string; readonly children: ReactNode }) => {
  const search = soughtMessages(text)
  return (
    <>
      {children} {/* the portal has no page of messages */}
      {portal === undefined
        ? <Link to="/messages" search={search} className="text-accent underline">{nameOf(search)}</Link>
        : null}
    </>
  )
}
