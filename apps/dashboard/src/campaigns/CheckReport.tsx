/** The report of a campaign's check, before anything is sent: rows, forecast, and rows that are left out. */
import { Link } from "@tanstack/react-router"
import type { Campaign, CampaignForecast } from "@wac/client/internal"
import { Bar } from "../ui/Bar.tsx"
import { grouped } from "../ui/Language.ts"
import { lengthOf } from "../ui/Moment.ts"
import { Fact, Facts, Section } from "../ui/Page.tsx"
import { counted } from "../ui/Words.ts"
import { marketName } from "../usage/Market.ts"
import { withoutTime } from "./CampaignWords.tsx"
import { reachedBy } from "./Reach.ts"

/** The facts of the forecast: duration, use of the messaging limit, and costs. */
const Expected = ({ forecast }: { readonly forecast: CampaignForecast }) => {
  const { alwaysQuiet, costs, days, limitedCustomers, lines, messagingLimit, seconds } = forecast
  const unrated = lines.filter(({ billable, cost }) => billable !== false && cost === null)
  return (
    <>
      <Fact name="Takes, at its pace">{lengthOf(Math.max(1000, seconds * 1000))}</Fact>
      <Fact name="Counts against the messaging limit">
        {counted(limitedCustomers, "customer", "customers")}
        {messagingLimit === null
          ? "; there is no limit"
          : days === null
          ? "; the limit allows none"
          : ` of ${grouped(messagingLimit)} in 24 hours: ${counted(days, "day", "days")}`}
      </Fact>
      {alwaysQuiet === 0 ? null : <Fact name="Always in quiet hours">{withoutTime(alwaysQuiet)}</Fact>}
      {costs.length === 0 ? null : (
        <Fact name="Costs, by the rate card">
          {costs.map(({ amount, currency }) => `${amount} ${currency}`).join(", ")}
          {unrated.length === 0 ? "" : `; no rate for ${unrated.map(({ market }) => marketName(market)).join(", ")}`}
          <ul className="text-muted">
            {lines.flatMap(({ category, cost, market, messages }) =>
              cost === null ? [] : [
                <li key={`${market} ${category}`} className="tabular-nums">
                  {marketName(market)}, {category}: {counted(messages, "message", "messages")}, {cost.amount}{" "}
                  {cost.currency}
                </li>
              ]
            )}
          </ul>
        </Fact>
      )}
    </>
  )
}

export const CheckReport = ({ campaign }: { readonly campaign: Campaign }) => {
  const { checked, counts, forecast, problems, rows, status } = campaign
  const isChecking = status === "checking"
  const reached = reachedBy(campaign)
  return (
    <Section
      title="Report"
      description={isChecking
        ? "Every row is checked. Nothing is sent."
        : "Nothing is sent until the campaign is started."}
    >
      <div className="space-y-4">
        {isChecking
          ? (
            <div role="status" className="space-y-1">
              <p>Checked {grouped(checked)} of {counted(rows, "row", "rows")}.</p>
              <Bar label="Checked rows" max={rows} value={checked} className="max-w-md" />
            </div>
          )
          : null}
        <Facts>
          <Fact name="Rows">{grouped(rows)}</Fact>
          <Fact name="Customers to send to">{grouped(reached)}</Fact>
          {reached === counts.queued
            ? null
            : <Fact name="Held out for comparison">{counted(counts.queued - reached, "customer", "customers")}</Fact>}
          {forecast === null ? null : <Expected forecast={forecast} />}
          <Fact name="Rows left out">
            {problems === 0
              ? "None"
              : (
                <Link
                  to="."
                  search={{ outcome: "left_out" } as never}
                  hash="rows"
                  className="text-accent underline"
                >
                  {grouped(problems)}
                </Link>
              )}
          </Fact>
        </Facts>
      </div>
    </Section>
  )
}
