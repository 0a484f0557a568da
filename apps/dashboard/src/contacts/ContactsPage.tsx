/** The workspace's customers, as its numbers know them. */
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { Link, useSearch } from "@tanstack/react-router"
import type { Contact } from "@wac/client/internal"
import { phoneNumbersQuery } from "../numbers/Queries.ts"
import { api, firstPage } from "../session/Service.ts"
import { live } from "../session/Session.tsx"
import { Filters, SearchFilter, SelectFilter, useFilter } from "../ui/Filters.tsx"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Page } from "../ui/Page.tsx"
import { pageSize, Paging } from "../ui/Paged.tsx"
import { Cell, Row, rowLink, Table } from "../ui/Table.tsx"
import { TimeOr } from "../ui/Time.tsx"
import { isUserId } from "./Names.ts"
import { contactOrNull } from "./Queries.ts"
import { OptOut, WindowState } from "./Window.tsx"

const List = ({ contacts }: { readonly contacts: ReadonlyArray<Contact> }) => (
  <Table
    label="Contacts"
    columns={["Customer", "Service window", { name: "Last wrote", className: "hidden sm:table-cell" }, "Opted out"]}
  >
    {contacts.map((contact) => (
      <Row key={contact.id}>
        <Cell className="tabular-nums">
          <Link to="/contacts/$id" params={{ id: contact.id }} className={rowLink}>
            {contact.phone ?? contact.userId ?? contact.id}
          </Link>
        </Cell>
        <Cell>
          <WindowState openUntil={contact.windowOpenUntil} />
        </Cell>
        <Cell className="hidden text-muted sm:table-cell">
          <TimeOr at={contact.lastInboundAt} none="Never" />
        </Cell>
        <Cell>
          <OptOut optedOut={contact.optedOut} />
        </Cell>
      </Row>
    ))}
  </Table>
)

export const ContactsPage = () => {
  const { cursor, number, phoneNumberId } = useSearch({ from: "/contacts" })
  const setFilter = useFilter()
  const numbers = useQuery(phoneNumbersQuery)
  const query = useQuery({
    queryKey: ["contacts", { phoneNumberId, cursor }],
    queryFn: ({ signal }) =>
      firstPage(api.contacts.list({
        limit: pageSize,
        ...(phoneNumberId === undefined ? {} : { phoneNumberId }),
        ...(cursor === undefined ? {} : { cursor })
      }, { signal })),
    placeholderData: keepPreviousData,
    ...live(10_000)
  })
  const found = useQuery({
    queryKey: ["contacts", "named", number],
    queryFn: async ({ signal }) =>
      (await Promise.all(
        (await api.phoneNumbers.list({ limit: 100 }, { signal }).toArray(500)).map(({ id }) =>
          contactOrNull(`${id}:${number}`, signal)
        )
      )).filter((contact) => contact !== null),
    enabled: number !== undefined,
    ...live(10_000)
  })
  return (
    <Page
      title="Contacts"
      lead="Customers that wrote to you or that you wrote to. For 24 hours after a customer writes, their service window is open: free-form text may be sent."
    >
      <Filters>
        <SearchFilter
          label="Customer’s number or user id"
          placeholder="+15551234567, US.13491208655302741918"
          value={number}
          onSearch={(text) =>
            setFilter({
              number: text === undefined || isUserId(text) ? text : `+${text.replaceAll(/\D/g, "")}`
            })}
        />
        {(numbers.data?.length ?? 0) > 1 || phoneNumberId !== undefined
          ? (
            <SelectFilter
              label="Your number"
              value={phoneNumberId}
              options={(numbers.data ?? []).map(({ id, phoneNumber }) => [id, phoneNumber])}
              onChange={(phoneNumberId) => setFilter({ phoneNumberId })}
            />
          )
          : null}
      </Filters>
      <div className="card">
        {number === undefined
          ? (
            <Loaded query={query} lines={8}>
              {({ data, nextCursor }) =>
                data.length === 0 ? <Empty title="No contacts yet" /> : (
                  <>
                    <List contacts={data} />
                    <Paging cursor={cursor} next={nextCursor} />
                  </>
                )}
            </Loaded>
          )
          : (
            <Loaded query={found} lines={2}>
              {(contacts) =>
                contacts.length === 0
                  ? (
                    <Empty title="No contact has this name">
                      A contact is known once the customer has written, or said whether they want to be written to.
                    </Empty>
                  )
                  : <List contacts={contacts} />}
            </Loaded>
          )}
      </div>
    </Page>
  )
}
