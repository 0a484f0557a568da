/** The page of the workspace's usage: activity, limits, prices, and messages by month. */
import { useQuery } from "@tanstack/react-query"
import type { Usage } from "@wac/client/internal"
import { grouped } from "../ui/Language.ts"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Page, Section } from "../ui/Page.tsx"
import { type Column, Table } from "../ui/Table.tsx"
import { Activity } from "./Activity.tsx"
import { Limits, named } from "./Limits.tsx"
import { Prices } from "./Prices.tsx"
import { usageQuery } from "./Queries.ts"

const columns: ReadonlyArray<Column<Usage["months"][number]>> = [
  { name: "Month (UTC)", cell: ({ month }) => named(month) },
  { name: "Messages", className: "tabular-nums", cell: ({ used }) => grouped(used) }
]

export const UsagePage = () => {
  const query = useQuery(usageQuery({ period: "day" }))
  return (
    <Page title="Usage" lead="Messages sent, webhook deliveries, and remaining limits.">
      <Activity />
      <Limits />
      <Prices />
      <Section flush title="Messages by month">
        <Loaded query={query} lines={2}>
          {({ months }) =>
            months.length === 0 ?
              <Empty title="Nothing was sent yet" /> :
              <Table label="Months" columns={columns} items={months} keyOf={({ month }) => month} />}
        </Loaded>
      </Section>
    </Page>
  )
}
