/** The section with the receiver's report over time: outcomes of attempts, time to respond, and outages. */
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import type { ReceiverOutage, ReceiverReport } from "@wac/client/internal"
import type { ReactNode } from "react"
import type { LinkOf, Place, Series } from "../ui/Chart.tsx"
import { ChartPart } from "../ui/ChartPart.tsx"
import { ChoiceFilters, range } from "../ui/Filters.tsx"
import { grouped, plural, rich, t } from "../ui/Language.ts"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { tookOf } from "../ui/Moment.ts"
import { Fact, Facts, Section } from "../ui/Page.tsx"
import { exactly } from "../ui/Time.tsx"
import { percentiles } from "../usage/Percentiles.ts"
import { receiverRanges, useReceiverRange } from "../usage/Range.ts"
import { stepsOf } from "../usage/Steps.ts"
import { bandsOf } from "./Bands.ts"
import { outcomeName } from "./DeliveryWords.tsx"
import { receiverQuery } from "./Queries.ts"

/** An outcome of attempts, and the filters that list the deliveries whose last attempt had this outcome. */
interface Outcome extends Series {
  readonly key: keyof ReceiverReport["outcomes"]
  readonly search: Place["search"]
}

const refused = { outcome: "status" }

const outcomes: ReadonlyArray<Outcome> = [
  { key: "delivered", name: t("Delivered"), fill: "fill-accent", texture: "plain", search: { status: "delivered" } },
  { key: "status2xx", name: t("2xx, not 200"), fill: "fill-bad", texture: "plain", search: refused },
  { key: "status4xx", name: "4xx", fill: "fill-bad", texture: "stripes", search: refused },
  { key: "status5xx", name: "5xx", fill: "fill-bad", texture: "dots", search: refused },
  { key: "statusOther", name: t("Another status"), fill: "fill-bad", texture: "grid", search: refused },
  ...([
    ["redirect", "redirect", "fill-warn", "stripes"],
    ["timeout", "timeout", "fill-warn", "plain"],
    ["connect", "connect", "fill-ink", "plain"],
    ["tls", "tls", "fill-ink", "stripes"],
    ["dns", "dns", "fill-ink", "dots"],
    ["blockedAddress", "blocked_address", "fill-ink", "grid"]
  ] as const).map(([key, outcome, fill, texture]) => ({
    key,
    name: outcomeName(outcome),
    fill,
    texture,
    search: { outcome }
  }))
]

const linkOf: LinkOf = (key, { from, until }) => {
  const { search } = outcomes.find((outcome) => outcome.key === key)!
  const [begin, end] = [from, until].map((at) => new Date(at).toISOString())
  return { to: "/deliveries", search: { ...search, since: range, begin, end } }
}

const states: Record<ReceiverOutage["kind"], string> = { failing: t("Failing"), paused: t("Paused") }

const Outage = (
  { since, state, until }: Pick<ReceiverOutage, "since" | "until"> & { readonly state: ReactNode }
) =>
  until === null
    ? rich("{state} from {since}, and still is", { state, since: exactly(since) })
    : rich("{state} from {since} to {until}", { state, since: exactly(since), until: exactly(until) })

const Outages = ({ outages }: Pick<ReceiverReport, "outages">) =>
  outages.length === 0 ?
    <p className="text-[13px] text-muted">{t("No outage of a minute or more was noticed in this time.")}</p> :
    (
      <ul className="space-y-1 text-[13px]">
        {outages.map(({ kind, since, until }) => (
          <li key={`${kind} ${since}`}>
            <Outage state={<span className="font-medium">{states[kind]}</span>} since={since} until={until} />
          </li>
        ))}
      </ul>
    )

const Charts = ({ report }: { readonly report: ReceiverReport }) => {
  const total = outcomes.reduce((sum, { key }) => sum + report.outcomes[key], 0)
  const bands = bandsOf(report.outages)
  const took = (millis: number | null) => millis === null ? "–" : tookOf(millis)
  return (
    <div className="space-y-6">
      <Facts>
        <Fact name={t("Attempts")}>
          {grouped(total)}
          {total === 0 ?
            null :
            (
              <span className="block text-[13px] text-muted">
                {plural(
                  total - report.outcomes.delivered,
                  "{count} not answered with 200",
                  "{count} not answered with 200"
                )}
              </span>
            )}
        </Fact>
        <Fact name={t("Half of the answers within")}>{took(report.p50Ms)}</Fact>
        <Fact name={t("19 of 20 answers within")}>
          {took(report.p95Ms)}
          <span className="block text-[13px] text-muted">{t("Attempts without an answer in time count in full.")}</span>
        </Fact>
      </Facts>
      {report.steps.length === 0 || total === 0 ?
        <Empty title={t("No attempts in this time")} /> :
        (
          <div className="grid gap-x-10 gap-y-8 lg:grid-cols-2">
            <div className="min-w-0 space-y-4">
              <h3 className="font-medium">{t("Attempts by outcome")}</h3>
              <ChartPart
                kind="bars"
                label={t("Attempts by outcome")}
                series={outcomes.filter(({ key }) => report.outcomes[key] > 0)}
                steps={stepsOf(report, ({ outcomes }) => ({ ...outcomes }))}
                format={grouped}
                linkOf={linkOf}
                bands={bands}
              />
            </div>
            <div className="min-w-0 space-y-4">
              <h3 className="font-medium">{t("Time to answer")}</h3>
              {report.p50Ms === null ?
                <Empty title={t("No attempt was answered in this time")} /> :
                (
                  <ChartPart
                    kind="line"
                    label={t("Time to answer")}
                    series={percentiles}
                    steps={stepsOf(report, ({ p50Ms, p95Ms }) => ({ p50Ms, p95Ms }))}
                    format={tookOf}
                    bands={bands}
                  />
                )}
            </div>
          </div>
        )}
      <div className="space-y-2">
        <h3 className="font-medium">{t("Outages")}</h3>
        <Outages outages={report.outages} />
      </div>
    </div>
  )
}

export const ReceiverSection = () => (
  <Section
    title={t("Receiver")}
    description={t("What your server answered, and how long that took. Shaded times are outages.")}
    actions={<ChoiceFilters choices={receiverRanges} />}
  >
    <Loaded query={useQuery({ ...receiverQuery(useReceiverRange()), placeholderData: keepPreviousData })} lines={6}>
      {(report) => <Charts report={report} />}
    </Loaded>
  </Section>
)
