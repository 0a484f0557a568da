/** The page of one contact: its service window, its opt-out, and the conversation. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import type { Contact } from "@wac/client/internal"
import { useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { phoneNumbersQuery } from "../numbers/Queries.ts"
import { channel } from "../session/Document.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Confirm } from "../ui/Dialog.tsx"
import { Failure } from "../ui/Failure.tsx"
import { Loaded } from "../ui/Loaded.tsx"
import { Missing } from "../ui/Missing.tsx"
import { Fact, Facts, Page } from "../ui/Page.tsx"
import { Id } from "../ui/Table.tsx"
import { Time, TimeOr } from "../ui/Time.tsx"
import { addressOf, Conversation } from "./Conversation.tsx"
import { contactQuery } from "./Queries.ts"
import { OptOut, WindowState } from "./Window.tsx"

/** One of the workspace's own phone numbers; until the numbers are loaded, and once it is removed, its id. */
const OwnNumber = ({ id }: { readonly id: string }) => {
  const { data: numbers } = useQuery(phoneNumbersQuery)
  return numbers?.find((number) => number.id === id)?.phoneNumber ?? <Id>{id}</Id>
}

/** The button that opts the customer out. */
const OptOutButton = ({ contact: { id } }: { readonly contact: Contact }) => {
  const client = useQueryClient()
  const refusal = useRefusal(RoleOf.contactsOptOut)
  const optOut = useMutation({
    mutationFn: () => api.contacts.optOut(id),
    onSettled: () => client.invalidateQueries()
  })
  return (
    <span className="mt-1 block">
      <Button small refusal={refusal} isPending={optOut.isPending} onClick={() => optOut.mutate()}>Opt out</Button>
      <Failure error={optOut.error} />
    </span>
  )
}

/**
 * The button that opts the customer in again. It asks first, because it appears where “Opt out” was: a second press, or
 * one that was meant for “Opt out” while the customer wrote STOP, must not end the opt-out.
 */
const OptInButton = ({ contact }: { readonly contact: Contact }) => {
  const refusal = useRefusal(RoleOf.contactsOptIn)
  const [isAsked, setAsked] = useState(false)
  return (
    <span className="mt-1 block">
      <Button small refusal={refusal} onClick={() => setAsked(true)}>Opt in…</Button>
      {isAsked
        ? (
          <Confirm
            title={`Opt in ${addressOf(contact)}?`}
            action="Opt in"
            look="primary"
            act={() => api.contacts.optIn(contact.id)}
            onClose={() => setAsked(false)}
          >
            This customer has opted out. Opt them in only if they have agreed to it: free-form text and marketing
            templates are then sent to them again from this number.
          </Confirm>
        )
        : null}
    </span>
  )
}

export const ContactPage = () => {
  const { id } = useParams({ from: "/contacts/$id" })
  const query = useQuery(contactQuery(id))
  const { data: contact } = query
  const to = contact && addressOf(contact)
  const from = contact?.phoneNumberId
  return (
    <Page
      title={to ?? "Contact"}
      lead={<Id>{id}</Id>}
      actions={to === undefined
        ? undefined
        : <Link to="/messages/new" search={{ to, from }} className={buttonClass()}>Send a message</Link>}
    >
      <div className="card">
        <Loaded query={query} missing={<Missing what="contact" to="/contacts" all="All contacts" />}>
          {(contact) => (
            <div className="p-4">
              <Facts>
                {channel.serviceWindow
                  ? (
                    <Fact name="Service window">
                      <WindowState openUntil={contact.windowOpenUntil} />
                    </Fact>
                  )
                  : null}
                <Fact name="Last wrote">
                  <TimeOr at={contact.lastInboundAt} none="Never" />
                </Fact>
                <Fact name="Opted out">
                  <OptOut optedOut={contact.optedOut} />
                  {contact.optedOut
                    ? <OptInButton key="in" contact={contact} />
                    : <OptOutButton key="out" contact={contact} />}
                  {contact.preferenceAt === null ? null : (
                    <span className="block text-[13px] text-muted">
                      said <Time at={contact.preferenceAt} />
                    </span>
                  )}
                </Fact>
                <Fact name="Phone">{contact.phone ?? <span className="text-muted">Not known</span>}</Fact>
                <Fact name="User id">{contact.userId ?? <span className="text-muted">Not known</span>}</Fact>
                <Fact name="Your number">
                  <OwnNumber id={contact.phoneNumberId} />
                </Fact>
              </Facts>
            </div>
          )}
        </Loaded>
      </div>
      {contact === undefined ? null : <Conversation contact={contact} />}
    </Page>
  )
}
