/** Compares the results of a campaign's two variants, and shows whether the difference is more than chance. */
import type { Campaign, CampaignComparison, CampaignDifference } from "@wac/client/internal"
import type { ReactNode } from "react"
import { grouped } from "../ui/Language.ts"
import { Section } from "../ui/Page.tsx"
import { Table } from "../ui/Table.tsx"

const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 })

const points = new Intl.NumberFormat("en", { signDisplay: "exceptZero", maximumFractionDigits: 1 })

/** A difference of shares in percentage points. */
const inPoints = (share: number): string => points.format(share * 100).replace("-", "−")

/** A sentence about which variant is better, if that is more than chance. */
const verdict = ({ difference, isDistinguishable }: CampaignDifference): string =>
  isDistinguishable
    ? `Variant ${difference > 0 ? "B" : "A"} is better, beyond chance.`
    : "The difference may be chance."

/** A row of the table: a measure of both variants, and their difference. */
interface Measure {
  readonly name: string
  readonly a: string
  readonly b: string
  readonly difference: ReactNode
}

const measure = (name: string, compared: CampaignDifference | null): Measure =>
  compared === null
    ? { name, a: "–", b: "–", difference: <span className="text-muted">Nothing to compare yet.</span> }
    : {
      name,
      a: percent.format(compared.a),
      b: percent.format(compared.b),
      difference: (
        <>
          <span className="tabular-nums">
            {inPoints(compared.difference)} points, between {inPoints(compared.low)} and {inPoints(compared.high)}
          </span>
          <br />
          <span className={compared.isDistinguishable ? "font-medium" : "text-muted"}>{verdict(compared)}</span>
        </>
      )
    }

export const Comparison = (
  { campaign: { template, templateB }, comparison: { counts, delivered, read } }: {
    readonly campaign: Campaign
    readonly comparison: CampaignComparison
  }
) => (
  <Section
    flush
    title="Variants"
    description="Shares of the messages that were tried, and the 95 % confidence interval of their difference."
  >
    <Table<Measure>
      label="Variants"
      keyOf={({ name }) => name}
      items={[
        { name: "Customers", a: grouped(counts.a.total), b: grouped(counts.b.total), difference: null },
        measure("Delivered", delivered),
        measure("Read", read)
      ]}
      columns={[
        { name: "Measure", isUnseen: true, className: "font-medium", cell: ({ name }) => name },
        { name: `A: ${template.name}`, className: "tabular-nums", cell: ({ a }) => a },
        { name: `B: ${templateB?.name ?? ""}`, className: "tabular-nums", cell: ({ b }) => b },
        { name: "B less A", cell: ({ difference }) => difference }
      ]}
    />
  </Section>
)
