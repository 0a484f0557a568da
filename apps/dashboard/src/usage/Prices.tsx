/** What the messages of the last 30 days cost, as far as the provider has told and the operator knows its rates. */
import { useQuery } from "@tanstack/react-query"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Section } from "../ui/Page.tsx"
import { Cell, Row, Table } from "../ui/Table.tsx"
import { grouped } from "../ui/Words.ts"
import { marketName } from "./Market.ts"
import { usageQuery } from "./Queries.ts"

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
            <Table label="Prices" columns={["Market", "Category", "Type", "Messages", "Cost", "Rates from"]}>
              {lines.map(({ billable, category, cost, market, messages, type }) => (
                <Row key={`${market} ${category} ${type} ${billable} ${cost?.currency} ${cost?.ratesFrom}`}>
                  <Cell>{marketName(market)}</Cell>
                  <Cell>{category}</Cell>
                  <Cell>{type}</Cell>
                  <Cell className="tabular-nums">{grouped(messages)}</Cell>
                  <Cell className="tabular-nums">
                    {cost !== null ? `${cost.amount} ${cost.currency}` : billable === false ? "Free" : "No rate"}
                  </Cell>
                  <Cell>{cost === null ? null : cost.ratesFrom}</Cell>
                </Row>
              ))}
            </Table>
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
