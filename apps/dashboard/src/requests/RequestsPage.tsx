/** The recent requests of API keys, and the refused ones by reason. */
import { Link, useSearch } from "@tanstack/react-router"
import type { ApiRequest, RequestGroup } from "@wac/client/internal"
import { KeyName } from "../keys/KeyName.tsx"
import { api, errorAddress } from "../session/Service.ts"
import { SelectFilter, useChosen, useFilter } from "../ui/Filters.tsx"
import { ListPage, useList } from "../ui/List.tsx"
import { daysSince, durationOf } from "../ui/Moment.ts"
import { Section } from "../ui/Page.tsx"
import { Status } from "../ui/Status.tsx"
import { actions, type Column, Id, Table } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"
import { counted } from "../ui/Words.ts"

const wordsOf = ({ code, reason }: { readonly code: string | null; readonly reason: string | null }): string =>
  reason ?? code ?? ""

const Outcome = ({ request }: { readonly request: ApiRequest }) => (
  <>
    <Status tone={request.code === null ? "good" : request.status >= 500 ? "warn" : "bad"}>{request.status}</Status>
    {request.code === null
      ? null
      : <span className="ml-2 max-sm:block max-sm:ml-0">{wordsOf(request)}</span>}
  </>
)

const groupColumns: ReadonlyArray<Column<RequestGroup>> = [
  {
    name: "Reason",
    cell: (group) => (
      <Link to="/requests" search={{ reason: wordsOf(group) }} className="font-medium text-ink hover:underline">
        {wordsOf(group)}
      </Link>
    )
  },
  { name: "Requests", className: "tabular-nums", cell: ({ count }) => count },
  {
    name: "Keys",
    from: "md",
    cell: ({ keys }) =>
      keys.slice(0, 3).map(({ apiKeyId, count }) => (
        <Link key={apiKeyId} to="/api-keys/$id" params={{ id: apiKeyId }} className="block text-accent underline">
          <KeyName id={apiKeyId} /> ({count})
        </Link>
      ))
  },
  { name: "Last", className: "text-muted", cell: ({ lastAt }) => <Time at={lastAt} /> },
  actions((group) => <a className="text-[13px] text-accent underline" href={errorAddress(group)}>What to do</a>)
]

const choices = { refused: { label: "Outcome", options: [["yes", "Refused only"]] } } as const

const columns: ReadonlyArray<Column<ApiRequest>> = [
  {
    name: "Request",
    cell: ({ method, route }) => (
      <>
        <span className="font-medium">{method}</span>{" "}
        <code className="font-mono text-[13px] whitespace-nowrap">{route}</code>
      </>
    )
  },
  { name: "Outcome", cell: (request) => <Outcome request={request} /> },
  {
    name: "Key",
    from: "lg",
    cell: ({ apiKeyId }) => (
      <Link to="/api-keys/$id" params={{ id: apiKeyId }} className="text-accent underline">
        <KeyName id={apiKeyId} />
      </Link>
    )
  },
  { name: "Id", from: "lg", className: "text-muted", cell: ({ id }) => <Id>{id}</Id> },
  {
    name: "Took",
    from: "sm",
    className: "text-muted tabular-nums",
    cell: ({ durationMs }) => durationOf(durationMs)
  },
  { name: "At", className: "text-muted", cell: ({ at }) => <Time at={at} /> }
]

export const RequestsPage = () => {
  const { id, reason } = useSearch({ from: "/requests" })
  const setFilter = useFilter()
  const { refused } = useChosen(choices)
  const list = useList(
    "requests",
    { refused: refused === undefined ? undefined : true, reason, id },
    api.requests.list
  )
  const { data } = list.query
  const groups = data?.groups ?? []
  const period = data === undefined ? "" : ` in the last ${daysSince(data.since)}`
  const reasons = new Set([...reason === undefined ? [] : [reason], ...groups.map(wordsOf)])
  return (
    <ListPage
      title="Requests"
      lead={`What your API keys have asked for${period}. Bodies and secrets are never kept.`}
      before={data === undefined || groups.length === 0 ? null : (
        <Section
          flush
          title="Refused, by reason"
          description={`Out of ${counted(data.total, "request", "requests")}${period}.`}
        >
          <Table
            label="Refusals by reason"
            columns={groupColumns}
            items={groups}
            keyOf={({ code, reason }) => `${code} ${reason}`}
          />
        </Section>
      )}
      search={{
        label: "Request id",
        placeholder: "req_…",
        value: id,
        onSearch: (id) => setFilter({ id })
      }}
      choices={choices}
      filters={reasons.size === 0 ? null : (
        <SelectFilter
          label="Reason"
          value={reason}
          options={[...reasons].map((word) => [word, word])}
          onChange={(reason) => setFilter({ reason })}
        />
      )}
      list={list}
      what="request"
      noMatch={id === undefined ? {} : {
        title: `No request has the id ${id}`,
        children: "Requests with API keys are listed, about a second after their response. " +
          "An error of these pages has the id of a request in the service’s log."
      }}
      columns={columns}
      none={{ title: `No requests${period}`, children: "Requests that carry one of your API keys are listed here." }}
    />
  )
}
