/** What API keys have asked for lately, and what was refused, by its reason. */
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { Link, useSearch } from "@tanstack/react-router"
import type { ApiRequest, RequestGroup } from "@wac/client/internal"
import { KeyName } from "../keys/KeyName.tsx"
import { api, errorAddress, firstPage } from "../session/Service.ts"
import { live } from "../session/Session.tsx"
import { Filters, SelectFilter, useFilter } from "../ui/Filters.tsx"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { daysSince, durationOf } from "../ui/Moment.ts"
import { Page, Section } from "../ui/Page.tsx"
import { pageSize, Paging } from "../ui/Paged.tsx"
import { Status } from "../ui/Status.tsx"
import { Cell, Row, Table } from "../ui/Table.tsx"
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

const Groups = ({ groups }: { readonly groups: ReadonlyArray<RequestGroup> }) => (
  <Table
    label="Refusals by reason"
    columns={["Reason", "Requests", { name: "Keys", className: "hidden md:table-cell" }, "Last", ""]}
  >
    {groups.map((group) => (
      <Row key={`${group.code} ${group.reason}`}>
        <Cell>
          <Link
            to="/requests"
            search={{ reason: wordsOf(group) }}
            className="font-medium text-ink hover:underline"
          >
            {wordsOf(group)}
          </Link>
        </Cell>
        <Cell className="tabular-nums">{group.count}</Cell>
        <Cell className="hidden md:table-cell">
          {group.keys.slice(0, 3).map(({ apiKeyId, count }) => (
            <Link
              key={apiKeyId}
              to="/api-keys/$id"
              params={{ id: apiKeyId }}
              className="block text-accent underline"
            >
              <KeyName id={apiKeyId} /> ({count})
            </Link>
          ))}
        </Cell>
        <Cell className="text-muted">
          <Time at={group.lastAt} />
        </Cell>
        <Cell className="text-right">
          <a
            className="text-[13px] text-accent underline"
            href={errorAddress(group)}
          >
            What to do
          </a>
        </Cell>
      </Row>
    ))}
  </Table>
)

export const RequestsPage = () => {
  const { cursor, reason, refused } = useSearch({ from: "/requests" })
  const setFilter = useFilter()
  const query = useQuery({
    queryKey: ["requests", { refused, reason, cursor }],
    queryFn: ({ signal }) =>
      firstPage(api.requests.list({
        limit: pageSize,
        ...(refused === "yes" ? { refused: true } : {}),
        ...(reason === undefined ? {} : { reason }),
        ...(cursor === undefined ? {} : { cursor })
      }, { signal })),
    placeholderData: keepPreviousData,
    ...live()
  })
  const isFiltered = refused !== undefined || reason !== undefined
  const period = query.data === undefined ? "" : ` in the last ${daysSince(query.data.since)}`
  return (
    <Page
      title="Requests"
      lead={`What your API keys have asked for${period}. Bodies and secrets are never kept.`}
    >
      {query.data === undefined || query.data.groups.length === 0
        ? null
        : (
          <Section
            flush
            title="Refused, by reason"
            description={`Out of ${counted(query.data.total, "request", "requests")}${period}.`}
          >
            <Groups groups={query.data.groups} />
          </Section>
        )}
      <Filters>
        <SelectFilter
          label="Outcome"
          value={refused}
          options={[["yes", "Refused only"]]}
          onChange={(refused) => setFilter({ refused })}
        />
        {reason === undefined && (query.data?.groups.length ?? 0) === 0
          ? null
          : (
            <SelectFilter
              label="Reason"
              value={reason}
              options={[
                ...new Set([...reason === undefined ? [] : [reason], ...(query.data?.groups ?? []).map(wordsOf)])
              ]
                .map((word) => [word, word])}
              onChange={(reason) => setFilter({ reason })}
            />
          )}
      </Filters>
      <div className="card">
        <Loaded query={query} lines={8}>
          {({ data, nextCursor }) =>
            data.length === 0
              ? (
                <Empty title={isFiltered ? "No request fits these filters" : `No requests${period}`}>
                  {isFiltered ? undefined : "Requests that carry one of your API keys are listed here."}
                </Empty>
              )
              : (
                <>
                  <Table
                    label="Requests"
                    columns={["Request", "Outcome", { name: "Key", className: "hidden lg:table-cell" }, {
                      name: "Took",
                      className: "hidden sm:table-cell"
                    }, "At"]}
                  >
                    {data.map((request) => (
                      <Row key={request.id}>
                        <Cell>
                          <span className="font-medium">{request.method}</span>{" "}
                          <code className="font-mono text-[13px] whitespace-nowrap">{request.route}</code>
                        </Cell>
                        <Cell>
                          <Outcome request={request} />
                        </Cell>
                        <Cell className="hidden lg:table-cell">
                          <Link
                            to="/api-keys/$id"
                            params={{ id: request.apiKeyId }}
                            className="text-accent underline"
                          >
                            <KeyName id={request.apiKeyId} />
                          </Link>
                        </Cell>
                        <Cell className="hidden text-muted tabular-nums sm:table-cell">
                          {durationOf(request.durationMs)}
                        </Cell>
                        <Cell className="text-muted">
                          <Time at={request.at} />
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
