/** The page of one campaign: its report before the start, its progress and result, its actions, settings and rows. */
import { useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { LoadState } from "../ui/Loaded.tsx"
import { Missing } from "../ui/Missing.tsx"
import { Notice } from "../ui/Notice.tsx"
import { Page } from "../ui/Page.tsx"
import { Actions } from "./Actions.tsx"
import { CampaignState, pauseReasons } from "./CampaignWords.tsx"
import { CheckReport } from "./CheckReport.tsx"
import { Comparison } from "./Comparison.tsx"
import { FailureReasons } from "./FailureReasons.tsx"
import { ForReaders } from "./ForReaders.tsx"
import { Problems } from "./Problems.tsx"
import { Progress } from "./Progress.tsx"
import { campaignQuery } from "./Queries.ts"
import { Recipients } from "./Recipients.tsx"
import { Settings } from "./Settings.tsx"
import { Timeline } from "./Timeline.tsx"

const LoadedCampaign = ({ id }: { readonly id: string }) => {
  const query = useQuery(campaignQuery(id))
  const campaign = query.data
  if (campaign === undefined) {
    return (
      <Page title="Campaign">
        <div className="card">
          <LoadState
            query={query}
            missing={<Missing what="campaign" to="/campaigns" all="All campaigns" />}
          />
        </div>
      </Page>
    )
  }
  const isUnstarted = ["draft", "checking", "ready"].includes(campaign.status)
  return (
    <Page
      title={campaign.name}
      lead={<CampaignState status={campaign.status} />}
      actions={<Actions campaign={campaign} />}
    >
      {query.error === null ? null : <LoadState query={query} />}
      {isUnstarted && campaign.pausedReason !== null
        ? <Notice tone="warn" role="status">The check stopped. {pauseReasons[campaign.pausedReason]}</Notice>
        : null}
      {isUnstarted ? <CheckReport campaign={campaign} /> : <Progress campaign={campaign} at={query.dataUpdatedAt} />}
      {isUnstarted ? null : <Timeline campaign={campaign} />}
      {isUnstarted || campaign.comparison === null
        ? null
        : <Comparison campaign={campaign} comparison={campaign.comparison} />}
      <FailureReasons campaign={campaign} />
      {campaign.problems === 0 || campaign.status === "checking" ? null : <Problems campaign={campaign} />}
      <Settings campaign={campaign} />
      {/* the report, the problems and the failure reasons link here */}
      <div id="rows">
        <Recipients campaign={campaign} />
      </div>
    </Page>
  )
}

export const CampaignPage = () => {
  const { id } = useParams({ from: "/campaigns/$id" })
  return (
    <ForReaders title="Campaign">
      <LoadedCampaign id={id} />
    </ForReaders>
  )
}
