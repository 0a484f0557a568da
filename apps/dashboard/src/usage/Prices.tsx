/** The cost of the messages of the last 30 days, as far as the provider's prices and the operator's rates are known. */
import { useQuery } from "@tanstack/react-query"
import type { UsageLine } from "@wac/client/internal"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Section } from "../ui/Page.tsx"
import { type Column, Table } from "../ui/Table.tsx"
import { grouped } from "../ui/Words.ts"
import { marketName } from "./Market.ts"
import { usageQuery } from "./Queries.ts"

const columns: ReadonlyArray<Column<UsageLine>> = [
  { name: "Market", cell: ({ market }) => marketName(market) },
  { name: "Category", cell: ({ category }) => category },
  { name: "Type", cell: ({ type }) => type },
  { name: "Messages", className: "tabular-nums", cell: ({ messages }) => grouped(messages) },
  {
    name: "Cost",
    className: "tabular-nums",
    cell: ({ billable, cost }) =>
      cost !== null ? `${cost.amount} ${cost.currency}` : billable === false ? "Free" : "No rate"
  },
  { name: "Rates from", cell: ({ cost }) => cost?.ratesFrom }
]

export const Prices = () => (
  <Section
    flush
    title="Prices of the last 30 days"
    description="Messages whose price the provider has reported. Costs need a rate card of the operator."
  >
    <Loaded query={useQuery(usageQuery("month"))} lines={2}>
      {({ costs, lines }) =>
        lines.length === 0 ? <Empty title="The provider has reported no prices yet" /> : (
          <>
            <Table
              label="Prices"
              columns={columns}
              items={lines}
              keyOf={({ billable, category, cost, market, type }) =>
                `${market} ${category} ${type} ${billable} ${cost?.currency} ${cost?.ratesFrom}`}
            />
            {costs.length === 0 ? null : (
              <p className="px-4 py-3 font-medium tabular-nums">
                Total: {costs.map(({ amount, currency }) => `${amount} ${currency}`).join(", ")}
              </p>
            )}
          </>
        )}
    </Loaded>
  </Section>
)
