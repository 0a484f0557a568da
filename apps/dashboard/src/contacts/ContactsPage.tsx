/** The page that lists contacts. A contact is a customer of one of the workspace's phone numbers. */
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useSearch } from "@tanstack/react-router"
import type { Contact } from "@wac/client/internal"
import { SearchMessagesHint } from "../messages/SearchMessagesHint.tsx"
import { phoneNumbersQuery } from "../numbers/Queries.ts"
import { channel } from "../session/Document.ts"
import { live } from "../session/Refetching.ts"
import { api } from "../session/Service.ts"
import { SelectFilter, useFilter } from "../ui/Filters.tsx"
import { ListPage, onePage, useList } from "../ui/List.tsx"
import { customerOf } from "../ui/Sought.ts"
import { idInFile, type ListColumn, rowLink } from "../ui/Table.tsx"
import { TimeOr } from "../ui/Time.tsx"
import { isName } from "./Names.ts"
import { OptOutAll } from "./OptOutAll.tsx"
import { contactOrNull } from "./Queries.ts"
import { OptOut, WindowState } from "./Window.tsx"

const columns: ReadonlyArray<ListColumn<Contact>> = [
  {
    name: "Customer",
    text: ({ id, phone, userId }) => phone ?? userId ?? id,
    className: "tabular-nums",
    cell: ({ id, optedOut, phone, userId }) => (
      <>
        <Link to="/contacts/$id" params={{ id }} className={rowLink}>{phone ?? userId ?? id}</Link>
        {optedOut
          ? (
            <span className="mt-1 block sm:hidden">
              <OptOut optedOut />
            </span>
          )
          : null}
      </>
    )
  },
  ...(channel.serviceWindow
    ? [{
      name: "Service window",
      text: ({ windowOpenUntil }: Contact) => windowOpenUntil,
      cell: ({ windowOpenUntil }: Contact) => <WindowState openUntil={windowOpenUntil} />
    }]
    : []),
  {
    name: "Last wrote",
    text: ({ lastInboundAt }) => lastInboundAt,
    from: "sm",
    className: "text-muted",
    cell: ({ lastInboundAt }) => <TimeOr at={lastInboundAt} none="Never" />
  },
  {
    name: "Opted out",
    from: "sm",
    text: ({ optedOut }) => optedOut ? "yes" : "no",
    cell: ({ optedOut }) => <OptOut optedOut={optedOut} />
  },
  idInFile
]

const notContacts =
  "A customer is listed once they have written, or have opted in or out. A customer to whom you have only sent messages is not a contact."

export const ContactsPage = () => {
  const { number: customer, phoneNumberId } = useSearch({ from: "/contacts" })
  const setFilter = useFilter()
  const numbers = useQuery(phoneNumbersQuery)
  const list = useList("contacts", { phoneNumberId }, api.contacts.list, {
    every: 10_000,
    enabled: customer === undefined
  })
  const client = useQueryClient()
  /**
   * The contacts of one customer. A contact's id consists of a phone number's id and the customer, so each number is
   * tried.
   */
  const readFound = async (signal: AbortSignal) => {
    const own = phoneNumberId === undefined
      ? (await client.ensureQueryData(phoneNumbersQuery)).map(({ id }) => id)
      : [phoneNumberId]
    const contacts = await Promise.all(own.map((id) => contactOrNull(`${id}:${customer}`, signal)))
    return { data: contacts.filter((contact) => contact !== null), nextCursor: null }
  }
  const found = useQuery({
    queryKey: ["contacts", "of", customer, phoneNumberId],
    queryFn: ({ signal }) => readFound(signal),
    enabled: customer !== undefined && isName(customer),
    ...live(10_000)
  })
  return (
    <ListPage
      title="Contacts"
      lead="Customers who have written to you, or have opted in or out. For 24 hours after a customer writes, their service window is open: free-form text may be sent."
      search={{
        label: "Customer’s number or user id",
        placeholder: "+15551234567, US.13491208655302741918",
        value: customer,
        onSearch: (text) => setFilter({ number: text === undefined ? text : customerOf(text) ?? text })
      }}
      filters={(numbers.data?.length ?? 0) > 1 || phoneNumberId !== undefined
        ? (
          <SelectFilter
            label="Your number"
            value={phoneNumberId}
            options={(numbers.data ?? []).map(({ id, phoneNumber }) => [id, phoneNumber])}
            onChange={(phoneNumberId) => setFilter({ phoneNumberId })}
          />
        )
        : null}
      // the question names the number, so it waits for its name
      about={customer === undefined && phoneNumberId !== undefined && !numbers.isPending
        ? (
          <OptOutAll
            filter={[[
              "Your number",
              numbers.data?.find(({ id }) => id === phoneNumberId)?.phoneNumber ?? phoneNumberId
            ]]}
            walk={list.walk}
          />
        )
        : undefined}
      list={customer === undefined
        ? list
        : { query: found, walk: onePage(readFound), isFiltered: true, isUnasked: !isName(customer) }}
      what="contact"
      columns={columns}
      none={{ title: "No contacts yet", children: notContacts }}
      noMatch={customer === undefined ? {} : {
        title: "No contact has this number or user id",
        children: isName(customer)
          ? <SearchMessagesHint text={customer}>{notContacts}</SearchMessagesHint>
          : notContacts
      }}
    />
  )
}
