/** The page that lists recent requests, and counts the refused requests of API keys by reason. */
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import type { ApiRequest, RequestGroup } from "@wac/client/internal"
import { routes } from "../generated/Routes.ts"
import { KeyName } from "../keys/KeyName.tsx"
import { activeKeysQuery, keyQuery } from "../keys/Queries.ts"
import { api, errorAddress } from "../session/Service.ts"
import { period, SelectFilter, useChosen, useFilter } from "../ui/Filters.tsx"
import { ListPage, useList } from "../ui/List.tsx"
import { daysSince, durationOf } from "../ui/Moment.ts"
import { Section } from "../ui/Page.tsx"
import { statusCodeOf } from "../ui/Sought.ts"
import { actions, type Column, Id, type ListColumn, rowLink, Table } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"
import { counted } from "../ui/Words.ts"
import { ValuesSwitch } from "./KeptValues.tsx"
import { MadeBy, Outcome, wordsOf } from "./RequestWords.tsx"

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
  { name: "Last", from: "sm", className: "text-muted", cell: ({ lastAt }) => <Time at={lastAt} /> },
  actions((group) => <a className="text-[13px] text-accent underline" href={errorAddress(group)}>What to do</a>)
]

const choices = { refused: { label: "Outcome", options: [["yes", "Refused only"]] }, since: period } as const

const columns: ReadonlyArray<ListColumn<ApiRequest>> = [
  {
    name: "Request",
    text: ({ method, route }) => `${method} ${route}`,
    cell: ({ id, method, route }) => (
      <Link to="/requests/$id" params={{ id }} className={rowLink}>
        {method} <code className="font-mono text-[13px] whitespace-nowrap">{route}</code>
      </Link>
    )
  },
  { name: "Outcome", text: ({ status }) => status, cell: (request) => <Outcome request={request} /> },
  { name: "Reason", text: wordsOf, cell: null },
  {
    name: "By",
    text: ({ apiKeyId, userId }) => apiKeyId ?? userId,
    from: "lg",
    cell: (request) => (
      <span className="relative z-10">
        <MadeBy request={request} />
      </span>
    )
  },
  { name: "Id", from: "lg", className: "text-muted", text: ({ id }) => id, cell: ({ id }) => <Id>{id}</Id> },
  {
    name: "Took",
    text: ({ durationMs }) => `${durationMs} ms`,
    from: "sm",
    className: "text-muted tabular-nums whitespace-nowrap",
    cell: ({ durationMs }) => durationOf(durationMs)
  },
  { name: "At", className: "text-muted", text: ({ at }) => at, cell: ({ at }) => <Time at={at} /> }
]

/** The options of the filter by status: the statuses on the shown page, and the chosen one. */
const statusesOf = (requests: ReadonlyArray<ApiRequest>, chosen: number | undefined): ReadonlyArray<number> =>
  [...new Set([...chosen === undefined ? [] : [chosen], ...requests.map(({ status }) => status)])].toSorted((a, b) =>
    a - b
  )

const namedAs = (word: string): readonly [string, string] => [word, word]

/** The options of the filter by key: the active keys, and the chosen key, which need not be active. */
const useKeyOptions = (chosen: string | undefined): ReadonlyArray<readonly [id: string, name: string]> => {
  const { data: active } = useQuery(activeKeysQuery)
  const isOther = chosen !== undefined && active?.some(({ id }) => id === chosen) !== true
  const { data: other } = useQuery({ ...keyQuery(chosen ?? ""), enabled: isOther })
  return [
    ...isOther
      ? [[chosen, `${other?.name ?? chosen}${other == null || other.revokedAt === null ? "" : " (revoked)"}`] as const]
      : [],
    ...(active ?? []).map(({ id, name }) => [id, name] as const)
  ]
}

export const RequestsPage = () => {
  const { key, reason, route, status: asked } = useSearch({ from: "/requests" })
  const status = statusCodeOf(asked)
  const setFilter = useFilter()
  const navigate = useNavigate()
  const { refused, since } = useChosen(choices)
  const keys = useKeyOptions(key)
  const list = useList(
    "requests",
    { refused: refused === undefined ? undefined : true, reason, apiKeyId: key, route, status, since },
    api.requests.list
  )
  const { data } = list.query
  const groups = data?.groups ?? []
  const kept = data === undefined ? "" : ` in the last ${daysSince(data.since)}`
  const reasons = new Set([...reason === undefined ? [] : [reason], ...groups.map(wordsOf)])
  return (
    <ListPage
      title="Requests"
      lead={`What your API keys have asked for${kept}, and what people have changed here. Header values and secrets are never kept.`}
      before={data === undefined || groups.length === 0 ? null : (
        <Section
          flush
          title="Refused, by reason"
          description={`Out of ${counted(data.total, "request", "requests")} of API keys${kept}.`}
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
        label: "Request id or key id",
        placeholder: "req_… or key_…",
        value: undefined,
        onSearch: (id) => {
          if (id?.startsWith("key_")) setFilter({ key: id })
          else if (id !== undefined) void navigate({ to: "/requests/$id", params: { id } })
        }
      }}
      choices={choices}
      filters={
        <>
          <SelectFilter
            label="Key"
            value={key}
            options={keys}
            onChange={(key) => setFilter({ key })}
          />
          <SelectFilter
            label="Route"
            value={route}
            options={routes.map(namedAs)}
            onChange={(route) => setFilter({ route })}
          />
          <SelectFilter
            label="Status"
            value={asked}
            options={statusesOf(data?.data ?? [], status).map((code) => namedAs(`${code}`))}
            onChange={(status) => setFilter({ status })}
          />
          {reasons.size === 0 ? null : (
            <SelectFilter
              label="Reason"
              value={reason}
              options={[...reasons].map(namedAs)}
              onChange={(reason) => setFilter({ reason })}
            />
          )}
        </>
      }
      list={list}
      what="request"
      columns={columns}
      none={{
        title: `No requests${kept}`,
        children: "Requests with your API keys are listed here, and people’s that change something or are refused."
      }}
    >
      <ValuesSwitch />
    </ListPage>
  )
}
