/** The table of reasons why customers of a campaign did not get its message. */
import { Link } from "@tanstack/react-router"
import type { Campaign } from "@wac/client/internal"
import { grouped } from "../ui/Language.ts"
import { Section } from "../ui/Page.tsx"
import { type Column, Table } from "../ui/Table.tsx"
import { capitalized } from "../ui/Words.ts"
import { outcomes } from "./CampaignWords.tsx"

const reasonColumns: ReadonlyArray<Column<Campaign["reasons"][number]>> = [
  { name: "Outcome", cell: ({ outcome }) => outcomes[outcome][0] },
  { name: "Reason", cell: ({ reason }) => capitalized(reason) },
  {
    name: "Customers",
    className: "tabular-nums",
    cell: ({ outcome, reason, recipients }) => (
      <Link to="." search={{ outcome, reason } as never} hash="rows" className="text-accent underline">
        {grouped(recipients)}
      </Link>
    )
  }
]

/** The table, the most frequent reason first; nothing if there are no reasons. */
export const FailureReasons = ({ campaign: { reasons } }: { readonly campaign: Campaign }) =>
  reasons.length === 0 ? null : (
    <Section flush title="Why customers did not get it">
      <Table
        label="Reasons"
        columns={reasonColumns}
        items={reasons}
        keyOf={({ outcome, reason }) => `${outcome} ${reason}`}
      />
    </Section>
  )
