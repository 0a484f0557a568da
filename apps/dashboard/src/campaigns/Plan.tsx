/** The settings of a campaign. */
import type { Campaign } from "@wac/client/internal"
import { TemplateLink } from "../templates/TemplateLink.tsx"
import { Fact, Facts, Section } from "../ui/Page.tsx"
import { Id } from "../ui/Table.tsx"
import { Time, TimeOr } from "../ui/Time.tsx"

/** A template and what fills it. */
const PlannedTemplate = (
  { of = "", template: { bodyParams, language, name } }: {
    readonly template: Campaign["template"]
    readonly of?: string
  }
) => {
  const values = bodyParams === undefined
    ? []
    : Array.isArray(bodyParams)
    ? bodyParams.map(String)
    : Object.entries(bodyParams).map(([name, value]) => `${name}: ${value}`)
  return (
    <>
      <Fact name={`Template${of}`}>
        <TemplateLink name={name} language={language} />
      </Fact>
      <Fact name={`Placeholders${of}`}>{values.length === 0 ? "None" : values.join(", ")}</Fact>
    </>
  )
}

export const Plan = ({ campaign }: { readonly campaign: Campaign }) => {
  const { template, templateB } = campaign
  return (
    <Section title="Plan">
      <Facts>
        <PlannedTemplate template={template} of={templateB === null ? "" : " of variant A"} />
        {templateB === null ? null : <PlannedTemplate template={templateB} of=" of variant B" />}
        <Fact name="From">{campaign.from ?? "The default number"}</Fact>
        <Fact name="Starts">
          <TimeOr at={campaign.startAt} none="When it is started" />
        </Fact>
        <Fact name="Sends nothing after">
          <TimeOr at={campaign.notAfter} none="24 hours after the start" />
        </Fact>
        <Fact name="Share of the number’s rate">{Math.round(campaign.share * 100)} %</Fact>
        <Fact name="Quiet hours">
          {campaign.quietHours === null
            ? "None"
            : `${campaign.quietHours.from} to ${campaign.quietHours.to}, by each customer’s clock`}
        </Fact>
        <Fact name="Held out for comparison">
          {campaign.holdout === 0 ? "Nobody" : `${Math.round(campaign.holdout * 100)} % of the customers`}
        </Fact>
        <Fact name="Pauses automatically">
          When more than {Math.round(campaign.maxFailureRate * 100)} % of messages fail
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
