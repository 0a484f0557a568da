/** Who changed what, when and from where, as far back as the service keeps it. */
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useSearch } from "@tanstack/react-router"
import type { AuditEntry } from "@wac/client/internal"
import * as RoleOf from "../generated/RoleOf.ts"
import { api, firstPage } from "../session/Service.ts"
import { live, useRefusal } from "../session/Session.tsx"
import { Notice } from "../ui/Failure.tsx"
import { Filters, SearchFilter, useFilter } from "../ui/Filters.tsx"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { daysSince } from "../ui/Moment.ts"
import { Page } from "../ui/Page.tsx"
import { pageSize, Paging } from "../ui/Paged.tsx"
import { Cell, Id, Row, Table } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"

const detailOf = (detail: { readonly [name: string]: string } | null): string =>
  Object.entries(detail ?? {}).map(([name, value]) => `${name}: ${value}`).join(", ")

const byWhom = (by: AuditEntry["by"]): string =>
  by === null ? "The operator" : "email" in by ? by.email : `${by.name} (API key)`

export const AuditPage = () => {
  const { cursor, person, target } = useSearch({ from: "/settings/audit" })
  const setFilter = useFilter()
  const refusal = useRefusal(RoleOf.auditList)
  const query = useQuery({
    queryKey: ["audit", { person, target, cursor }],
    queryFn: ({ signal }) =>
      firstPage(api.audit.list({
        limit: pageSize,
        ...(person === undefined ? {} : { userId: person }),
        ...(target === undefined ? {} : { target }),
        ...(cursor === undefined ? {} : { cursor })
      }, { signal })),
    enabled: refusal === undefined,
    placeholderData: keepPreviousData,
    ...live(10_000)
  })
  return (
    <Page
      title="Audit"
      lead={`Who changed what, when and from where. Entries hold no secret${
        query.data === undefined ? "" : ` and are kept for ${daysSince(query.data.since)}`
      }.`}
    >
      {refusal === undefined
        ? (
          <Filters>
            <SearchFilter
              label="Changed thing or person"
              placeholder="key_…, whk_… or usr_…"
              value={target ?? person}
              onSearch={(id) =>
                setFilter(
                  id?.startsWith("usr_") === true
                    ? { person: id, target: undefined }
                    : { person: undefined, target: id }
                )}
            />
          </Filters>
        )
        : null}
      {refusal === undefined
        ? (
          <div className="card">
            <Loaded query={query} lines={8}>
              {({ data, nextCursor }) =>
                data.length === 0
                  ? (
                    <Empty
                      title={person === undefined && target === undefined
                        ? "Nothing was changed yet"
                        : "No change fits these filters"}
                    />
                  )
                  : (
                    <>
                      <Table
                        label="Audit"
                        columns={["Change", "By", { name: "Address", className: "hidden md:table-cell" }, "At"]}
                      >
                        {data.map((entry) => (
                          <Row key={entry.id}>
                            <Cell>
                              <span className="font-medium">{entry.action}</span>
                              {entry.target === null
                                ? null
                                : (
                                  <span className="block text-muted">
                                    <Id>{entry.target}</Id>
                                  </span>
                                )}
                              {entry.detail === null
                                ? null
                                : (
                                  <span className="block text-[13px] break-words text-muted">
                                    {detailOf(entry.detail)}
                                  </span>
                                )}
                            </Cell>
                            <Cell className="break-words max-sm:break-all">{byWhom(entry.by)}</Cell>
                            <Cell className="hidden text-muted tabular-nums md:table-cell">{entry.address ?? "–"}</Cell>
                            <Cell className="text-muted">
                              <Time at={entry.at} />
                            </Cell>
                          </Row>
                        ))}
                      </Table>
                      <Paging cursor={cursor} next={nextCursor} />
                    </>
                  )}
            </Loaded>
          </div>
        )
        : <Notice>{refusal}</Notice>}
    </Page>
  )
}
