/** The section with the limits of a workspace, and how much of the quota is used. */
import { useQuery } from "@tanstack/react-query"
import { Bar } from "../ui/Bar.tsx"
import { grouped } from "../ui/Language.ts"
import { Loaded } from "../ui/Loaded.tsx"
import { Fact, Facts, Section } from "../ui/Page.tsx"
import { usageQuery } from "./Queries.ts"

const monthName = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" })

/** The name of a month: `2026-01` becomes `January 2026`. */
export const named = (month: string): string => monthName.format(new Date(`${month}-01T00:00:00Z`))

export const Limits = () => (
  <Section title="Limits" description="Messages that the provider has accepted, or may have, count against the quota.">
    <Loaded query={useQuery(usageQuery({ period: "day" }))} lines={2}>
      {({ month, quota, requestsPerSecond, used }) => (
        <Facts>
          <Fact name={`Messages in ${named(month)} (UTC)`}>
            {quota === null
              ? `${grouped(used)}, without a limit`
              : `${grouped(used)} of ${grouped(quota)}; ${grouped(Math.max(quota - used, 0))} left`}
            {quota === null ?
              null :
              <Bar label="Used of the quota" max={quota} value={used} className="mt-1 max-w-60" />}
          </Fact>
          <Fact name="API requests">At most {grouped(requestsPerSecond)} a second</Fact>
        </Facts>
      )}
    </Loaded>
  </Section>
)
