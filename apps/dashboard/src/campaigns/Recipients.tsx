/** The list of a campaign's rows: the outcome of each, or why it is left out. */
import { Link, useSearch } from "@tanstack/react-router"
import type { Campaign, CampaignRow } from "@wac/client/internal"
import { MessageState } from "../messages/MessageWords.tsx"
import { api } from "../session/Service.ts"
import { Button } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { ChosenFilter, Filters, SelectFilter, useFilter } from "../ui/Filters.tsx"
import { grouped } from "../ui/Language.ts"
import { List, useList } from "../ui/List.tsx"
import { Section } from "../ui/Page.tsx"
import { Status } from "../ui/Status.tsx"
import { type Column, rowLink } from "../ui/Table.tsx"
import { asSentence, capitalized } from "../ui/Words.ts"
import { outcomeNames, outcomes, problemSentence, reasonWords } from "./CampaignWords.tsx"
import { useDownload } from "./DownloadRows.ts"

const filters = [
  ["left_out", "Left out"],
  ...outcomeNames.map((outcome) => [outcome, outcomes[outcome][0]] as const)
] as const

/** The name of a reason: of a row's problem, or of another outcome, for which the service's word is used. */
const reasonName = (reason: string): string =>
  Object.hasOwn(reasonWords, reason) ? reasonWords[reason as keyof typeof reasonWords] : capitalized(reason)

const State = ({ row }: { readonly row: CampaignRow }) =>
  row.problem !== null
    ? <Status tone="warn">{reasonWords[row.problem.reason]}</Status>
    : row.status === null
    ? <Status tone="calm">Not checked yet</Status>
    : <MessageState status={row.status} />

const columnsOf = ({ templateB }: Campaign): ReadonlyArray<Column<CampaignRow>> => [
  { name: "Row", className: "text-muted tabular-nums", cell: ({ row }) => grouped(row) },
  {
    name: "To",
    className: "tabular-nums",
    cell: ({ messageId, problem, to }) =>
      messageId === null
        ? to ?? problem?.value ?? "–"
        : <Link to="/messages/$id" params={{ id: messageId }} className={rowLink}>{to}</Link>
  },
  ...templateB === null
    ? []
    : [{ name: "Variant", cell: ({ variant }: CampaignRow) => variant?.toUpperCase() ?? "–" }],
  { name: "Status", cell: (row) => <State row={row} /> },
  {
    name: "Why",
    from: "sm",
    className: "break-words text-muted",
    cell: ({ error, problem }) => {
      return (
        <>
          {problem === null ? error === null ? "" : asSentence(error.message) : problemSentence(problem.message)}
          {problem?.line == null ? "" : ` Line ${grouped(problem.line)} of the file.`}
        </>
      )
    }
  }
]

export const Recipients = ({ campaign }: { readonly campaign: Campaign }) => {
  const { outcome: asked, reason } = useSearch({ from: "/campaigns/$id" })
  const setFilter = useFilter()
  const outcome = filters.find(([value]) => value === asked)?.[0]
  const { id, status } = campaign
  const list = useList(
    ["campaigns", id, "recipients", status],
    { outcome, reason },
    (query, options) => api.campaigns.recipients(id, query, options)
  )
  const saving = useDownload(id, { outcome, reason })
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
            <ChosenFilter onClear={() => setFilter({ reason: undefined })}>{reasonName(reason)}</ChosenFilter>}
        </Filters>
      </div>
      <List
        label="Rows"
        list={list}
        what="row"
        columns={columnsOf(campaign)}
        keyOf={({ row }) => row}
        none={{ title: "No rows yet", children: "Upload a file of customers." }}
      />
    </Section>
  )
}
