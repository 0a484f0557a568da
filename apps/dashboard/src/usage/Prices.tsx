/**
 * The section with the cost of messages in a time range, as far as prices of the provider and rates of the operator are
 * known.
 */
import { useQuery } from "@tanstack/react-query"
import type { Usage, UsageLine } from "@wac/client/internal"
import { ChartPart } from "../ui/ChartPart.tsx"
import { grouped } from "../ui/Language.ts"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Section } from "../ui/Page.tsx"
import { type Column, Table } from "../ui/Table.tsx"
import { marketName } from "./Market.ts"
import { usageQuery } from "./Queries.ts"
import { useUsageRange } from "./Range.ts"
import { stepsOf } from "./Steps.ts"

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

const amountIn = (costs: Usage["costs"], currency: string): number =>
  Number(costs.find((cost) => cost.currency === currency)?.amount ?? 0)

/** The charts of the cost over time, one for each currency. */
const Spend = ({ usage }: { readonly usage: Usage }) =>
  usage.costs.map(({ amount, currency }) => {
    const { format } = new Intl.NumberFormat("en", { style: "currency", currency, maximumSignificantDigits: 6 })
    return (
      <div key={currency} className="px-4 pt-2">
        <ChartPart
          kind="bars"
          label={`Spend in ${currency}`}
          series={[{ key: currency, name: currency, fill: "fill-accent", texture: "plain" }]}
          steps={stepsOf(usage, ({ costs }) => ({ [currency]: amountIn(costs, currency) }))}
          format={format}
        />
        <p className="py-2 font-medium tabular-nums">Total: {amount} {currency}</p>
      </div>
    )
  })

export const Prices = () => (
  <Section
    flush
    title="Prices"
    description="Messages of the time above whose price the provider has reported. Costs need a rate card of the operator."
  >
    <Loaded query={useQuery(usageQuery(useUsageRange()))} lines={2}>
      {(usage) =>
        usage.lines.length === 0 ? <Empty title="The provider has reported no prices in this time" /> : (
          <>
            <Spend usage={usage} />
            <Table
              label="Prices"
              columns={columns}
              items={usage.lines}
              keyOf={({ billable, category, cost, market, type }) =>
                `${market} ${category} ${type} ${billable} ${cost?.currency} ${cost?.ratesFrom}`}
            />
          </>
        )}
    </Loaded>
  </Section>
)
