/** How the two variants of a campaign's template did, and whether the difference can be told from chance. */
import type { Campaign, CampaignComparison, CampaignDifference } from "@wac/client/internal"
import { Section } from "../ui/Page.tsx"
import { Cell, Row, Table } from "../ui/Table.tsx"
import { grouped } from "../ui/Words.ts"

const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 })

const points = new Intl.NumberFormat("en", { signDisplay: "exceptZero", maximumFractionDigits: 1 })

/** A difference of shares in percentage points. */
const inPoints = (share: number): string => points.format(share * 100).replace("-", "−")

/** What a difference says, in a sentence. */
const verdict = ({ difference, isDistinguishable }: CampaignDifference): string =>
  isDistinguishable
    ? `Variant ${difference > 0 ? "B" : "A"} is better, beyond chance.`
    : "The difference may be chance."

const Measure = (
  { compared, name }: { readonly name: string; readonly compared: CampaignDifference | null }
) => (
  <Row>
    <Cell className="font-medium">{name}</Cell>
    {compared === null
      ? (
        <>
          <Cell>–</Cell>
          <Cell>–</Cell>
          <Cell className="text-muted">Nothing to compare yet.</Cell>
        </>
      )
      : (
        <>
          <Cell className="tabular-nums">{percent.format(compared.a)}</Cell>
          <Cell className="tabular-nums">{percent.format(compared.b)}</Cell>
          <Cell>
            <span className="tabular-nums">
              {inPoints(compared.difference)} points, between {inPoints(compared.low)} and {inPoints(compared.high)}
            </span>
            <br />
            <span className={compared.isDistinguishable ? "font-medium" : "text-muted"}>{verdict(compared)}</span>
          </Cell>
        </>
      )}
  </Row>
)

/** The variants of a campaign that has them. */
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
    <Table
      label="Variants"
      columns={[{ hidden: "Measure" }, `A: ${template.name}`, `B: ${templateB?.name ?? ""}`, "B less A"]}
    >
      <Row>
        <Cell className="font-medium">Customers</Cell>
        <Cell className="tabular-nums">{grouped(counts.a.total)}</Cell>
        <Cell className="tabular-nums">{grouped(counts.b.total)}</Cell>
        <Cell>{""}</Cell>
      </Row>
      <Measure name="Delivered" compared={delivered} />
      <Measure name="Read" compared={read} />
    </Table>
  </Section>
)
