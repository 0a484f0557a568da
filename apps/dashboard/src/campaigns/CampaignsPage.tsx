/** The page that lists campaigns, newest first. */
import { Link, useSearch } from "@tanstack/react-router"
import type { Campaign } from "@wac/client/internal"
import * as RoleOf from "../generated/RoleOf.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { buttonClass } from "../ui/Button.tsx"
import { useChosen, useFilter } from "../ui/Filters.tsx"
import { grouped } from "../ui/Language.ts"
import { ListPage, useList } from "../ui/List.tsx"
import { idInFile, type ListColumn, rowLink } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"
import { CampaignState, campaignStatuses } from "./CampaignWords.tsx"

const choices = { status: { label: "Status", options: campaignStatuses } }

const columns: ReadonlyArray<ListColumn<Campaign>> = [
  {
    name: "Name",
    text: ({ name }) => name,
    cell: ({ id, name }) => <Link to="/campaigns/$id" params={{ id }} className={`${rowLink} break-words`}>{name}</Link>
  },
  { name: "Status", text: ({ status }) => status, cell: ({ status }) => <CampaignState status={status} /> },
  {
    name: "Template",
    from: "md",
    className: "break-all",
    text: ({ template }) => template.name,
    cell: ({ template }) => template.name
  },
  {
    name: "Recipients",
    from: "sm",
    className: "tabular-nums",
    text: ({ counts }) => counts.total,
    cell: ({ counts }) => grouped(counts.total)
  },
  {
    name: "Read",
    from: "sm",
    className: "tabular-nums",
    text: ({ counts }) => counts.read,
    cell: ({ counts }) => grouped(counts.read)
  },
  {
    name: "Created",
    className: "text-muted",
    text: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => <Time at={createdAt} />
  },
  idInFile
]

export const CampaignsPage = () => {
  const { name } = useSearch({ from: "/campaigns" })
  const setFilter = useFilter()
  const refusal = useRefusal(RoleOf.campaignsList)
  const createRefusal = useRefusal(RoleOf.campaignsCreate)
  return (
    <ListPage
      title="Campaigns"
      lead="One template to many customers, each once, at a pace that leaves room for your other messages."
      refusal={refusal}
      actions={createRefusal === undefined
        ? <Link to="/campaigns/new" className={buttonClass("primary")}>New campaign</Link>
        : undefined}
      search={{
        label: "Name",
        placeholder: "A part of the name",
        value: name,
        onSearch: (name) => setFilter({ name })
      }}
      choices={choices}
      list={useList("campaigns", { ...useChosen(choices), nameContains: name }, api.campaigns.list, {
        enabled: refusal === undefined
      })}
      what="campaign"
      columns={columns}
      noMatch={{ children: "A campaign is found by any part of its name." }}
      none={{
        title: "No campaigns yet",
        children:
          "A campaign takes a file of customers, checks every row, and sends only once you have seen the report."
      }}
    />
  )
}
