/** The funnel of a campaign's messages (sent, delivered, read), and the number of recipients for each outcome. */
import type { Campaign, CampaignOutcome } from "@wac/client/internal"
import { Bar } from "../ui/Bar.tsx"
import { grouped } from "../ui/Language.ts"
import { outcomeNames, outcomes } from "./CampaignWords.tsx"

type Counts = Campaign["counts"]

const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 })

/** The steps of the funnel: each also counts the outcomes of later steps. */
const steps: ReadonlyArray<readonly [name: string, outcomes: ReadonlyArray<CampaignOutcome>]> = [
  ["Sent", ["sent", "delivered", "read"]],
  ["Delivered", ["delivered", "read"]],
  ["Read", ["read"]]
]

const sum = (counts: Counts, of: ReadonlyArray<CampaignOutcome>): number =>
  of.reduce((total, outcome) => total + counts[outcome], 0)

const Step = ({ count, name, total }: { readonly name: string; readonly count: number; readonly total: number }) => (
  <div>
    <div className="flex items-baseline justify-between gap-3">
      <span>{name}</span>
      <span className="tabular-nums">
        <strong>{grouped(count)}</strong>
        <span className="text-muted">{total === 0 ? "" : ` · ${percent.format(count / total)}`}</span>
      </span>
    </div>
    <Bar max={total} value={count} className="mt-1" />
  </div>
)

export const Funnel = ({ counts }: { readonly counts: Counts }) => (
  <div className="grid gap-x-10 gap-y-6 lg:grid-cols-2">
    <div className="space-y-4">
      <Step name="Recipients" count={counts.total} total={counts.total} />
      {steps.map(([name, of]) => <Step key={name} name={name} count={sum(counts, of)} total={counts.total} />)}
    </div>
    <dl className="grid grid-cols-2 content-start gap-x-4 gap-y-3 sm:grid-cols-3">
      {outcomeNames.map((outcome) => (
        <div key={outcome} className="min-w-0">
          <dt className="text-[13px] text-muted">{outcomes[outcome][0]}</dt>
          <dd className="text-lg font-semibold tabular-nums">{grouped(counts[outcome])}</dd>
          <dd className="text-[13px] text-muted">{outcomes[outcome][1]}</dd>
        </div>
      ))}
    </dl>
  </div>
)
