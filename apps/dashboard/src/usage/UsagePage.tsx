/** What the workspace did over time, and what it has used of its quota. */
import { useQuery } from "@tanstack/react-query"
import { api } from "../session/Service.ts"
import { live } from "../session/Session.tsx"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Fact, Facts, Page, Section } from "../ui/Page.tsx"
import { Cell, Row, Table } from "../ui/Table.tsx"
import { grouped } from "../ui/Words.ts"
import { Activity } from "./Activity.tsx"

const monthName = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" })

const named = (month: string): string => monthName.format(new Date(`${month}-01T00:00:00Z`))

export const UsagePage = () => {
  const query = useQuery({
    queryKey: ["usage", { period: "week" }],
    queryFn: ({ signal }) => api.usage.get({ period: "week" }, { signal }),
    ...live(10_000)
  })
  return (
    <Page title="Usage" lead="What this workspace sent, how its webhook did, and what is left of its limits.">
      <Activity />
      <Section title="Limits">
        <Loaded query={query} lines={2}>
          {({ month, quota, requestsPerSecond, used }) => (
            <Facts>
              <Fact name={`Messages in ${named(month)} (UTC)`}>
                {grouped(used)} of {quota === null ? "any number" : grouped(quota)}
                {quota === null ? null : (
                  <progress
                    max={Math.max(quota, 1)}
                    value={Math.min(used, quota)}
                    aria-label="Used of the quota"
                    className="mt-1 block h-2 w-full max-w-60 accent-accent"
                  />
                )}
              </Fact>
              <Fact name="API requests">{grouped(requestsPerSecond)} a second</Fact>
            </Facts>
          )}
        </Loaded>
      </Section>
      <Section flush title="Messages by month">
        <Loaded query={query} lines={2}>
          {({ months }) =>
            months.length === 0 ?
              <Empty title="Nothing was sent yet" /> :
              (
                <Table label="Months" columns={["Month (UTC)", "Messages"]}>
                  {months.map(({ month, used }) => (
                    <Row key={month}>
                      <Cell>{named(month)}</Cell>
                      <Cell className="tabular-nums">{grouped(used)}</Cell>
                    </Row>
                  ))}
                </Table>
              )}
        </Loaded>
      </Section>
    </Page>
  )
}
