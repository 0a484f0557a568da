/** The rows of a campaign: what became of each, or why it is left out. */
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query"
import { Link, useSearch } from "@tanstack/react-router"
import type { Campaign, CampaignRow } from "@wac/client/internal"
import { MessageState } from "../messages/MessageWords.tsx"
import { address, api, firstPage } from "../session/Service.ts"
import { live } from "../session/Session.tsx"
import { Button } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { ChosenFilter, Filters, SelectFilter, useFilter } from "../ui/Filters.tsx"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Section } from "../ui/Page.tsx"
import { NothingFound, pageSize, Paging } from "../ui/Paged.tsx"
import { Status } from "../ui/Status.tsx"
import { Cell, Row, rowLink, Table } from "../ui/Table.tsx"
import { asSentence, capitalized, grouped } from "../ui/Words.ts"
import { outcomeNames, outcomes, problems } from "./CampaignWords.tsx"

const filters = [
  ["left_out", "Left out"],
  ...outcomeNames.map((outcome) => [outcome, outcomes[outcome][0]] as const)
] as const

const State = ({ row }: { readonly row: CampaignRow }) =>
  row.problem !== null
    ? <Status tone="warn">{problems[row.problem.reason]}</Status>
    : row.status === null
    ? <Status tone="calm">Not checked yet</Status>
    : <MessageState status={row.status} />

/** Saves the report of these rows as a file. The browser keeps what it has of it on its disk, not in memory. */
const save = async (id: string, filter: { readonly outcome?: string; readonly reason?: string }): Promise<void> => {
  const response = await fetch(`${address}/internal/campaigns/${id}/recipients?${new URLSearchParams(filter)}`, {
    headers: { accept: "text/csv" }
  })
  if (!response.ok) throw new Error(`the service responded with ${response.status}`)
  const link = document.createElement("a")
  link.href = URL.createObjectURL(await response.blob())
  link.download = `${id}.csv`
  link.click()
  URL.revokeObjectURL(link.href)
}

export const Recipients = ({ campaign }: { readonly campaign: Campaign }) => {
  const { cursor, outcome: asked, reason } = useSearch({ from: "/campaigns/$id" })
  const setFilter = useFilter()
  const outcome = filters.find(([value]) => value === asked)?.[0]
  const { id, status, templateB } = campaign
  const filter = {
    ...(outcome === undefined ? {} : { outcome }),
    ...(reason === undefined ? {} : { reason })
  }
  const query = useQuery({
    queryKey: ["campaigns", id, "recipients", { ...filter, cursor, status }],
    queryFn: ({ signal }) =>
      firstPage(api.campaigns.recipients(id, {
        limit: pageSize,
        ...filter,
        ...(cursor === undefined ? {} : { cursor })
      }, { signal })),
    placeholderData: keepPreviousData,
    ...live()
  })
  const saving = useMutation({ mutationFn: () => save(id, filter) })
  return (
    <Section
      flush
      title="Rows"
      description="In the order of the file."
      actions={
        <Button small isPending={saving.isPending} onClick={() => saving.mutate()}>
          Download as CSV
        </Button>
      }
    >
      <Failure error={saving.error} />
      <div className="px-4 pb-3">
        <Filters>
          <SelectFilter
            label="Outcome"
            value={outcome}
            options={filters}
            onChange={(outcome) => setFilter({ outcome, reason: undefined })}
          />
          {reason === undefined ?
            null :
            <ChosenFilter onClear={() => setFilter({ reason: undefined })}>{capitalized(reason)}</ChosenFilter>}
        </Filters>
      </div>
      <Loaded query={query} lines={6}>
        {({ data, nextCursor }) =>
          data.length === 0
            ? outcome === undefined && reason === undefined
              ? <Empty title="No rows yet">Upload a file of customers.</Empty>
              : <NothingFound what="row" cursor={cursor} next={nextCursor} />
            : (
              <>
                <Table
                  label="Rows"
                  columns={["Row", "To", ...templateB === null ? [] : ["Variant"], "Status", {
                    name: "Why",
                    className: "hidden sm:table-cell"
                  }]}
                >
                  {data.map((row) => {
                    const why = row.problem ?? row.error
                    return (
                      <Row key={row.row}>
                        <Cell className="text-muted tabular-nums">{grouped(row.row)}</Cell>
                        <Cell className="tabular-nums">
                          {row.messageId === null
                            ? row.to ?? row.problem?.value ?? "–"
                            : (
                              <Link to="/messages/$id" params={{ id: row.messageId }} className={rowLink}>
                                {row.to}
                              </Link>
                            )}
                        </Cell>
                        {templateB === null ? null : <Cell>{row.variant?.toUpperCase() ?? "–"}</Cell>}
                        <Cell>
                          <State row={row} />
                        </Cell>
                        <Cell className="hidden break-words text-muted sm:table-cell">
                          {why === null ? "" : asSentence(why.message)}
                          {row.problem?.line == null ? "" : ` Line ${grouped(row.problem.line)} of the file.`}
                        </Cell>
                      </Row>
                    )
                  })}
                </Table>
                <Paging cursor={cursor} next={nextCursor} />
              </>
            )}
      </Loaded>
    </Section>
  )
}
