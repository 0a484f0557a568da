/** Deliveries: each event on its way to the webhook. */
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import type { Attempt, DeliveryStatus } from "@wac/client/internal"
import { useState } from "react"
import { EventType } from "../events/EventType.tsx"
import { eventTypes } from "../events/EventWords.ts"
import * as RoleOf from "../generated/RoleOf.ts"
import { api, firstPage } from "../session/Service.ts"
import { live, useRefusal } from "../session/Session.tsx"
import { Button } from "../ui/Button.tsx"
import { ChosenFilter, Filters, SearchFilter, SelectFilter, useFilter } from "../ui/Filters.tsx"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Page } from "../ui/Page.tsx"
import { NothingFound, pageSize, Paging } from "../ui/Paged.tsx"
import { RangeFilter, rangeOf, within } from "../ui/Range.tsx"
import { Cell, Row, rowLink, Table } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"
import { capitalized, counted } from "../ui/Words.ts"
import { DeliverAgain } from "./DeliverAgain.tsx"
import { DeliveryState, deliveryStatuses, meanings, outcomes } from "./DeliveryWords.tsx"

const outcomeNames = Object.entries(outcomes) as unknown as ReadonlyArray<
  readonly [Attempt["outcome"], string]
>

/** Which deliveries an address asks for; what it cannot mean is left out. */
const filterOf = (search: { readonly [name: string]: string | undefined }) => {
  const status = deliveryStatuses.find((status): status is DeliveryStatus => status === search["status"])
  const eventType = eventTypes.find(([type]) => type === search["type"])?.[0]
  const outcome = outcomeNames.find(([outcome]) => outcome === search["outcome"])?.[0]
  const statusCode = /^[1-5]\d\d$/.test(search["code"] ?? "") ? Number(search["code"]) : undefined
  const messageId = search["message"]
  return {
    ...(status === undefined ? {} : { status }),
    ...(eventType === undefined ? {} : { eventType }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(statusCode === undefined ? {} : { statusCode }),
    ...(messageId === undefined ? {} : { messageId })
  }
}

export const DeliveriesPage = () => {
  const search = useSearch({ from: "/deliveries" })
  const setFilter = useFilter()
  const navigate = useNavigate()
  const refusal = useRefusal(RoleOf.deliveriesRetry)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [asked, setAsked] = useState<ReadonlyArray<string>>()
  const filter = filterOf(search)
  const { eventType, messageId, outcome, status, statusCode } = filter
  const range = rangeOf(search.since)
  const { cursor } = search
  const query = useQuery({
    queryKey: ["deliveries", { ...filter, range, cursor }],
    queryFn: ({ signal }) =>
      firstPage(api.deliveries.list({
        limit: pageSize,
        ...filter,
        ...within(range),
        ...(cursor === undefined ? {} : { cursor })
      }, { signal })),
    placeholderData: keepPreviousData,
    ...live()
  })
  const isFiltered = range !== undefined || Object.keys(filter).length > 0
  const look = (text: string | undefined) => {
    if (text?.startsWith("dlv_") === true) void navigate({ to: "/deliveries/$id", params: { id: text } })
    else if (text?.startsWith("msg_") === true) setFilter({ message: text })
    else setFilter({ code: text })
  }
  const choose = (id: string, isChosen: boolean) =>
    setChosen((before) => {
      const after = new Set(before)
      if (isChosen) after.add(id)
      else after.delete(id)
      return after
    })
  return (
    <Page
      title="Deliveries"
      lead="Each event on its way to your webhook. An event is delivered in one or more attempts."
    >
      <Filters>
        <SearchFilter
          label="Status code, message id or delivery id"
          placeholder="503, msg_… or dlv_…"
          value={statusCode === undefined ? undefined : String(statusCode)}
          onSearch={look}
        />
        <SelectFilter
          label="Status"
          value={status}
          options={deliveryStatuses.map((status) => [status, capitalized(status)])}
          onChange={(status) => setFilter({ status })}
        />
        <SelectFilter label="Event" value={eventType} options={eventTypes} onChange={(type) => setFilter({ type })} />
        <SelectFilter
          label="Last attempt"
          value={outcome}
          options={outcomeNames}
          onChange={(outcome) => setFilter({ outcome })}
        />
        <RangeFilter value={range} onChange={(since) => setFilter({ since })} />
        {messageId === undefined ?
          null :
          <ChosenFilter onClear={() => setFilter({ message: undefined })}>Of message {messageId}</ChosenFilter>}
      </Filters>
      {status === undefined ? null : <p className="text-muted">{meanings[status]}</p>}
      <div className="card">
        <Loaded query={query} lines={8}>
          {({ data, nextCursor }) => {
            const ids = data.filter(({ eventType }) => eventType !== "webhook.test").map(({ id }) => id)
            const here = ids.filter((id) => chosen.has(id))
            return data.length === 0
              ? isFiltered
                ? <NothingFound what="delivery" cursor={cursor} next={nextCursor} />
                : (
                  <Empty title="No deliveries yet">
                    Events that are recorded once a webhook is set are delivered to it, and are listed here.
                  </Empty>
                )
              : (
                <>
                  <div className="flex min-h-12 flex-wrap items-center gap-3 border-b border-line px-4 py-2">
                    <label className="flex items-center gap-2">
                      <input
                        type="checkbox"
                        className="size-4 accent-accent"
                        checked={ids.length > 0 && here.length === ids.length}
                        disabled={ids.length === 0}
                        onChange={({ target }) => setChosen(new Set(target.checked ? ids : []))}
                      />
                      {chosen.size === 0 ? "Choose all on this page" : `${counted(chosen.size, "is", "are")} chosen`}
                    </label>
                    {chosen.size === 0 ?
                      null :
                      (
                        <Button small icon="refresh" refusal={refusal} onClick={() => setAsked([...chosen])}>
                          Deliver again…
                        </Button>
                      )}
                  </div>
                  <Table
                    label="Deliveries"
                    columns={[
                      { hidden: "Choose", className: "w-0" },
                      "Event",
                      "Status",
                      { name: "Attempts", className: "hidden sm:table-cell" },
                      "Created",
                      { name: "Next attempt", className: "hidden md:table-cell" }
                    ]}
                  >
                    {data.map((delivery) => (
                      <Row key={delivery.id}>
                        <Cell>
                          {delivery.eventType === "webhook.test" ? null : (
                            <input
                              type="checkbox"
                              aria-label={`Choose ${delivery.eventType} ${delivery.id}`}
                              className="relative z-10 block size-4 accent-accent"
                              checked={chosen.has(delivery.id)}
                              onChange={({ target }) => choose(delivery.id, target.checked)}
                            />
                          )}
                        </Cell>
                        <Cell>
                          <Link to="/deliveries/$id" params={{ id: delivery.id }} className={rowLink}>
                            <EventType type={delivery.eventType} />
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
              )
          }}
        </Loaded>
      </div>
      {asked === undefined
        ? null
        : <DeliverAgain ids={asked} onClose={() => setAsked(undefined)} onDone={() => setChosen(new Set())} />}
    </Page>
  )
}
