/** Campaigns, newest first. */
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { Link, useSearch } from "@tanstack/react-router"
import * as RoleOf from "../generated/RoleOf.ts"
import { api, firstPage } from "../session/Service.ts"
import { live, useRefusal } from "../session/Session.tsx"
import { buttonClass } from "../ui/Button.tsx"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Page } from "../ui/Page.tsx"
import { pageSize, Paging } from "../ui/Paged.tsx"
import { Cell, Row, rowLink, Table } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"
import { grouped } from "../ui/Words.ts"
import { CampaignState } from "./CampaignWords.tsx"

export const CampaignsPage = () => {
  const { cursor } = useSearch({ from: "/campaigns" })
  const refusal = useRefusal(RoleOf.campaignsCreate)
  const query = useQuery({
    queryKey: ["campaigns", { cursor }],
    queryFn: ({ signal }) =>
      firstPage(
        api.campaigns.list({ limit: pageSize, ...(cursor === undefined ? {} : { cursor }) }, { signal })
      ),
    placeholderData: keepPreviousData,
    ...live()
  })
  return (
    <Page
      title="Campaigns"
      lead="One template to many customers, each once, at a pace that leaves room for your other messages."
      actions={refusal === undefined
        ? <Link to="/campaigns/new" className={buttonClass("primary")}>New campaign</Link>
        : undefined}
    >
      <div className="card">
        <Loaded query={query} lines={6}>
          {({ data, nextCursor }) =>
            data.length === 0
              ? (
                <Empty title="No campaigns yet">
                  A campaign takes a file of customers, checks every row, and sends only once you have seen the report.
                </Empty>
              )
              : (
                <>
                  <Table
                    label="Campaigns"
                    columns={[
                      "Name",
                      "Status",
                      { name: "Template", className: "hidden md:table-cell" },
                      {
                        name: "Recipients",
                        className: "hidden sm:table-cell"
                      },
                      { name: "Read", className: "hidden sm:table-cell" },
                      "Created"
                    ]}
                  >
                    {data.map(({ counts, createdAt, id, name, status, template }) => (
                      <Row key={id}>
                        <Cell>
                          <Link to="/campaigns/$id" params={{ id }} className={`${rowLink} break-words`}>{name}</Link>
                        </Cell>
                        <Cell>
                          <CampaignState status={status} />
                        </Cell>
                        <Cell className="hidden break-all md:table-cell">{template.name}</Cell>
                        <Cell className="hidden tabular-nums sm:table-cell">{grouped(counts.total)}</Cell>
                        <Cell className="hidden tabular-nums sm:table-cell">{grouped(counts.read)}</Cell>
                        <Cell className="text-muted">
                          <Time at={createdAt} />
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
