/** The pages of a campaign that is not started, new or changed. */
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import type { Campaign } from "@wac/client/internal"
import { approvedQuery } from "../templates/Queries.ts"
import { buttonClass } from "../ui/Button.tsx"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Page } from "../ui/Page.tsx"
import { CampaignForm } from "./CampaignForm.tsx"
import { campaignQuery } from "./Queries.ts"

const FormPage = (
  { campaign, title }: { readonly title: string; readonly campaign?: Campaign }
) => {
  const templates = useQuery(approvedQuery)
  return (
    <Page title={title} lead="One template to many customers. Every row is checked before anything is sent.">
      {templates.data === undefined || templates.data.length === 0
        ? (
          <div className="card">
            <Loaded query={templates} lines={6}>
              {() => (
                <Empty
                  title="The provider has approved no template yet"
                  actions={<Link to="/templates" className={buttonClass()}>Templates</Link>}
                />
              )}
            </Loaded>
          </div>
        )
        : <CampaignForm templates={templates.data} {...(campaign === undefined ? {} : { campaign })} />}
    </Page>
  )
}

export const NewCampaignPage = () => <FormPage title="New campaign" />

/** Changes a campaign that is not started, or gives it another file. */
export const EditCampaignPage = () => {
  const { id } = useParams({ from: "/campaigns/$id/edit" })
  const query = useQuery(campaignQuery(id))
  return query.data === undefined
    ? (
      <Page title="Change the campaign">
        <div className="card">
          <Loaded query={query}>{() => null}</Loaded>
        </div>
      </Page>
    )
    : <FormPage key={id} title="Change the campaign" campaign={query.data} />
}
