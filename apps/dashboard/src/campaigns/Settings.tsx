/** The section with a campaign's settings, and when it was created, started and ended. */
import type { Campaign } from "@wac/client/internal"
import { textOf } from "../contacts/Said.tsx"
import { TemplateLink } from "../templates/TemplateLink.tsx"
import { Fact, Facts, Section } from "../ui/Page.tsx"
import { Id } from "../ui/Table.tsx"
import { Time, TimeOr } from "../ui/Time.tsx"
import { percentOf } from "./Draft.ts"
import { senderOf } from "./Pace.ts"

/** The template of a variant, and the values of its placeholders. */
const PlannedTemplate = (
  { from, template: { bodyParams, language, name }, variant }: {
    readonly from: Campaign["from"]
    readonly template: Campaign["template"]
    readonly variant?: "A" | "B" | undefined
  }
) => {
  const values = bodyParams === undefined
    ? []
    : Array.isArray(bodyParams)
    ? bodyParams.map(textOf)
    : Object.entries(bodyParams).map(([name, value]) => `${name}: ${textOf(value)}`)
  const ofVariant = variant === undefined ? "" : ` of variant ${variant}`
  return (
    <>
      <Fact name={`Template${ofVariant}`}>
        <TemplateLink name={name} language={language} from={from ?? ""} />
      </Fact>
      <Fact name={`Placeholders${ofVariant}`}>{values.length === 0 ? "None" : values.join(", ")}</Fact>
    </>
  )
}

export const Settings = ({ campaign }: { readonly campaign: Campaign }) => {
  const { template, templateB } = campaign
  const from = senderOf(campaign)
  return (
    <Section title="Settings">
      <Facts>
        <PlannedTemplate from={from} template={template} variant={templateB === null ? undefined : "A"} />
        {templateB === null ? null : <PlannedTemplate from={from} template={templateB} variant="B" />}
        <Fact name="From">{from ?? "The default number when its recipients are checked"}</Fact>
        <Fact name="Starts">
          <TimeOr at={campaign.startAt} none="When it is started" />
        </Fact>
        <Fact name="Sends nothing after">
          <TimeOr at={campaign.notAfter} none="24 hours after the start" />
        </Fact>
        <Fact name="Share of the number’s rate">{percentOf(campaign.share)} %</Fact>
        <Fact name="Quiet hours">
          {campaign.quietHours === null
            ? "None"
            : `${campaign.quietHours.from} to ${campaign.quietHours.to}, by each customer’s clock`}
        </Fact>
        <Fact name="Held out for comparison">
          {campaign.holdout === 0 ? "Nobody" : `${percentOf(campaign.holdout)} % of the customers`}
        </Fact>
        <Fact name="Pauses automatically">
          When more than {percentOf(campaign.maxFailureRate)} % of messages fail
        </Fact>
        <Fact name="Started">
          <TimeOr at={campaign.startedAt} none="Not yet" />
        </Fact>
        <Fact name="Ended">
          <TimeOr at={campaign.completedAt} none="Not yet" />
        </Fact>
        <Fact name="Created">
          <Time at={campaign.createdAt} />
        </Fact>
        <Fact name="Id">
          <Id>{campaign.id}</Id>
        </Fact>
      </Facts>
    </Section>
  )
}
