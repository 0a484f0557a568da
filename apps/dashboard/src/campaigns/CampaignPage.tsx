/** One campaign: its report before it starts, its progress, its result, and what can be done with it. */
import { useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { Notice } from "../ui/Failure.tsx"
import { Loaded } from "../ui/Loaded.tsx"
import { Missing } from "../ui/Missing.tsx"
import { Page } from "../ui/Page.tsx"
import { CampaignState, pauseReasons } from "./CampaignWords.tsx"
import { Comparison } from "./Comparison.tsx"
import { Course } from "./Course.tsx"
import { Plan } from "./Plan.tsx"
import { Problems } from "./Problems.tsx"
import { Progress } from "./Progress.tsx"
import { campaignQuery } from "./Queries.ts"
import { Reasons } from "./Reasons.tsx"
import { Recipients } from "./Recipients.tsx"
import { Report } from "./Report.tsx"
import { Steps } from "./Steps.tsx"

export const CampaignPage = () => {
  const { id } = useParams({ from: "/campaigns/$id" })
  const query = useQuery(campaignQuery(id))
  const campaign = query.data
  if (campaign === undefined) {
    return (
      <Page title="Campaign">
        <div className="card">
          <Loaded
            query={query}
            missing={<Missing what="campaign" to="/campaigns" all="All campaigns" />}
          >
            {() => null}
          </Loaded>
        </div>
      </Page>
    )
  }
  const isBefore = ["draft", "checking", "ready"].includes(campaign.status)
  return (
    <Page
      title={campaign.name}
      lead={<CampaignState status={campaign.status} />}
      actions={<Steps campaign={campaign} />}
    >
      {query.error === null ? null : <Loaded query={query}>{() => null}</Loaded>}
      {isBefore && campaign.pausedReason !== null
        ? <Notice tone="warn" role="status">The check stopped. {pauseReasons[campaign.pausedReason]}</Notice>
        : null}
      {isBefore ? <Report campaign={campaign} /> : <Progress campaign={campaign} at={query.dataUpdatedAt} />}
      {isBefore ? null : <Course campaign={campaign} />}
      {isBefore || campaign.comparison === null
        ? null
        : <Comparison campaign={campaign} comparison={campaign.comparison} />}
      <Reasons campaign={campaign} />
      {campaign.problems === 0 || campaign.status === "checking" ? null : <Problems campaign={campaign} />}
      <Plan campaign={campaign} />
      <div id="rows">
        <Recipients campaign={campaign} />
      </div>
    </Page>
  )
}
