/** Events: what happened, as webhooks report it. An event is not an attempt to deliver it. */
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { api, firstPage } from "../session/Service.ts"
import { live } from "../session/Session.tsx"
import { Filters, SearchFilter, SelectFilter, useFilter } from "../ui/Filters.tsx"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Page } from "../ui/Page.tsx"
import { pageSize, Paging } from "../ui/Paged.tsx"
import { RangeFilter, rangeOf, within } from "../ui/Range.tsx"
import { Cell, Id, Row, rowLink, Table } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"
import { eventTypes, subjectOf } from "./EventWords.ts"

export const EventsPage = () => {
  const search = useSearch({ from: "/events" })
  const setFilter = useFilter()
  const navigate = useNavigate()
  const type = eventTypes.find(([type]) => type === search.type)?.[0]
  const range = rangeOf(search.since)
  const { cursor, message } = search
  const query = useQuery({
    queryKey: ["events", { type, range, message, cursor }],
    queryFn: ({ signal }) =>
      firstPage(api.events.list({
        limit: pageSize,
        ...(type === undefined ? {} : { type }),
        ...(message === undefined ? {} : { messageId: message }),
        ...within(range),
        ...(cursor === undefined ? {} : { cursor })
      }, { signal })),
    placeholderData: keepPreviousData,
    ...live()
  })
  return (
    <Page
      title="Events"
      lead="What happened to your messages, and what your customers wrote. Webhooks report the same."
    >
      <Filters>
        <SearchFilter
          label="Event or message id"
          placeholder="evt_… or msg_…"
          value={message}
          onSearch={(id) =>
            id === undefined || id.startsWith("msg_")
              ? setFilter({ message: id })
              : void navigate({ to: "/events/$id", params: { id } })}
        />
        <SelectFilter label="Type" value={type} options={eventTypes} onChange={(type) => setFilter({ type })} />
        <RangeFilter value={range} onChange={(since) => setFilter({ since })} />
      </Filters>
      <div className="card">
        <Loaded query={query} lines={8}>
          {({ data, has_more, next_cursor }) =>
            data.length === 0
              ? (
                <Empty
                  title={[type, range, message].every((filter) => filter === undefined)
                    ? "No events yet"
                    : "No event fits these filters"}
                />
              )
              : (
                <>
                  <Table
                    label="Events"
                    columns={["Type", "About", { name: "Id", className: "hidden lg:table-cell" }, "Recorded"]}
                  >
                    {data.map((event) => (
                      <Row key={event.id}>
                        <Cell>
                          <Link to="/events/$id" params={{ id: event.id }} className={rowLink}>{event.type}</Link>
                        </Cell>
                        <Cell className="text-muted sm:whitespace-nowrap">{subjectOf(event)}</Cell>
                        <Cell className="hidden text-muted lg:table-cell">
                          <Id>{event.id}</Id>
                        </Cell>
                        <Cell className="text-muted">
                          <Time at={event.created_at} />
                        </Cell>
                      </Row>
                    ))}
                  </Table>
                  <Paging cursor={cursor} next={has_more ? next_cursor : null} />
                </>
              )}
        </Loaded>
      </div>
    </Page>
  )
}
