/** Deliveries: each event on its way to the webhook. */
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { Link, useSearch } from "@tanstack/react-router"
import type { DeliveryStatus } from "@wac/client/internal"
import { api, firstPage } from "../session/Service.ts"
import { live } from "../session/Session.tsx"
import { Filters, SelectFilter, useFilter } from "../ui/Filters.tsx"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Page } from "../ui/Page.tsx"
import { pageSize, Paging } from "../ui/Paged.tsx"
import { Cell, Row, rowLink, Table } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"
import { capitalized } from "../ui/Words.ts"
import { DeliveryState, deliveryStatuses, meanings } from "./DeliveryWords.tsx"

export const DeliveriesPage = () => {
  const search = useSearch({ from: "/deliveries" })
  const setFilter = useFilter()
  const status = deliveryStatuses.find((status): status is DeliveryStatus => status === search.status)
  const { cursor } = search
  const query = useQuery({
    queryKey: ["deliveries", { status, cursor }],
    queryFn: ({ signal }) =>
      firstPage(api.deliveries.list({
        limit: pageSize,
        ...(status === undefined ? {} : { status }),
        ...(cursor === undefined ? {} : { cursor })
      }, { signal })),
    placeholderData: keepPreviousData,
    ...live()
  })
  return (
    <Page
      title="Deliveries"
      lead="Each event on its way to your webhook. An event is delivered in one or more attempts."
    >
      <Filters>
        <SelectFilter
          label="Status"
          value={status}
          options={deliveryStatuses.map((status) => [status, capitalized(status)])}
          onChange={(status) => setFilter({ status })}
        />
        {status === undefined ? null : <p className="pb-2 text-muted">{meanings[status]}</p>}
      </Filters>
      <div className="card">
        <Loaded query={query} lines={8}>
          {({ data, nextCursor }) =>
            data.length === 0
              ? (
                <Empty title={status === undefined ? "No deliveries yet" : "No delivery has this status"}>
                  Events that are recorded once a webhook is set are delivered to it, and are listed here.
                </Empty>
              )
              : (
                <>
                  <Table
                    label="Deliveries"
                    columns={["Event", "Status", { name: "Attempts", className: "hidden sm:table-cell" }, "Created", {
                      name: "Next attempt",
                      className: "hidden md:table-cell"
                    }]}
                  >
                    {data.map((delivery) => (
                      <Row key={delivery.id}>
                        <Cell>
                          <Link to="/deliveries/$id" params={{ id: delivery.id }} className={rowLink}>
                            {delivery.eventType}
                          </Link>
                        </Cell>
                        <Cell>
                          <DeliveryState status={delivery.status} />
                        </Cell>
                        <Cell className="hidden tabular-nums sm:table-cell">{delivery.attemptCount}</Cell>
                        <Cell className="text-muted">
                          <Time at={delivery.createdAt} />
                        </Cell>
                        <Cell className="hidden text-muted md:table-cell">
                          {delivery.nextAttemptAt === null ? "–" : <Time at={delivery.nextAttemptAt} />}
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
