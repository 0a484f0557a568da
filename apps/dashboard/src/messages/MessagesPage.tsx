/** Sent messages, newest first; the filters are in the address. */
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { isUserId } from "../contacts/Names.ts"
import { api, firstPage } from "../session/Service.ts"
import { live } from "../session/Session.tsx"
import { buttonClass } from "../ui/Button.tsx"
import { Filters, SearchFilter, SelectFilter, useFilter } from "../ui/Filters.tsx"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Page } from "../ui/Page.tsx"
import { NothingFound, pageSize, Paging } from "../ui/Paged.tsx"
import { RangeFilter, rangeOf, within } from "../ui/Range.tsx"
import { Cell, Row, rowLink, Table } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"
import { capitalized } from "../ui/Words.ts"
import { MessageState, messageStatuses } from "./MessageWords.tsx"

/** The filter for what somebody has of a message: a number, a user id, the provider's id, or their own reference. Pure. */
const sought = (text: string | undefined) =>
  text === undefined
    ? {}
    : /^\+?\d[\d ()-]{5,}$/.test(text)
    ? { to: `+${text.replaceAll(/\D/g, "")}` }
    : isUserId(text)
    ? { to: text }
    : text.startsWith("wamid.")
    ? { provider: text }
    : { reference: text }

export const MessagesPage = () => {
  const search = useSearch({ from: "/messages" })
  const setFilter = useFilter()
  const navigate = useNavigate()
  const status = messageStatuses.find(([status]) => status === search.status)?.[0]
  const { cursor, provider, reference, to } = search
  const range = rangeOf(search.since)
  const query = useQuery({
    queryKey: ["messages", { status, to, reference, provider, range, cursor }],
    queryFn: ({ signal }) =>
      firstPage(api.messages.list({
        limit: pageSize,
        ...(status === undefined ? {} : { status }),
        ...(to === undefined ? {} : { to }),
        ...(reference === undefined ? {} : { clientReference: reference }),
        ...(provider === undefined ? {} : { providerMessageId: provider }),
        ...within(range),
        ...(cursor === undefined ? {} : { cursor })
      }, { signal })),
    placeholderData: keepPreviousData,
    ...live()
  })
  const isFiltered = [status, to, reference, provider, range].some((filter) => filter !== undefined)
  const look = (text: string | undefined) =>
    text?.startsWith("msg_") === true
      ? void navigate({ to: "/messages/$id", params: { id: text } })
      : setFilter({ to: undefined, reference: undefined, provider: undefined, ...sought(text) })
  return (
    <Page
      title="Messages"
      lead="What was sent with your API keys, and from here."
      actions={<Link to="/messages/new" className={buttonClass("primary")}>Send a message</Link>}
    >
      <Filters>
        <SearchFilter
          label="Number, id, provider’s id or client reference"
          placeholder="+15551234567, msg_…, wamid.…, order-1042"
          value={to ?? reference ?? provider}
          onSearch={look}
        />
        <SelectFilter
          label="Status"
          value={status}
          options={messageStatuses}
          onChange={(status) => setFilter({ status })}
        />
        <RangeFilter value={range} onChange={(since) => setFilter({ since })} />
      </Filters>
      <div className="card">
        <Loaded query={query} lines={8}>
          {({ data, nextCursor }) =>
            data.length === 0
              ? isFiltered
                ? <NothingFound what="message" cursor={cursor} next={nextCursor} />
                : <Empty title="No messages yet">Send one with an API key: “Get started” shows how.</Empty>
              : (
                <>
                  <Table
                    label="Messages"
                    columns={["To", "Status", { name: "Kind", className: "hidden sm:table-cell" }, {
                      name: "From",
                      className: "hidden md:table-cell"
                    }, "Created"]}
                  >
                    {data.map((message) => (
                      <Row key={message.id}>
                        <Cell className="tabular-nums">
                          <Link to="/messages/$id" params={{ id: message.id }} className={rowLink}>{message.to}</Link>
                        </Cell>
                        <Cell>
                          <MessageState status={message.status} />
                        </Cell>
                        <Cell className="hidden sm:table-cell">{capitalized(message.type)}</Cell>
                        <Cell className="hidden text-muted tabular-nums md:table-cell">{message.from}</Cell>
                        <Cell className="text-muted">
                          <Time at={message.createdAt} />
                        </Cell>
                      </Row>
                    ))}
                  </Table>
                  <Paging cursor={cursor} next={nextCursor} />
                </>
              )}
        </Loaded>
      </div>
    </Page>
  )
}
