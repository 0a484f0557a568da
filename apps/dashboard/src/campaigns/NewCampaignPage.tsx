/** The pages with the form of a campaign: for a new one, and for changes of one that has not started. */
import { useQuery } from "@tanstack/react-query"
import { Link, useParams, useSearch } from "@tanstack/react-router"
import { phoneNumbersQuery } from "../numbers/Queries.ts"
import { useFresh } from "../session/Save.ts"
import { approvedQuery } from "../templates/Queries.ts"
import { buttonClass } from "../ui/Button.tsx"
import { Empty, Loaded, LoadState } from "../ui/Loaded.tsx"
import { Missing } from "../ui/Missing.tsx"
import { Page } from "../ui/Page.tsx"
import { CampaignForm } from "./CampaignForm.tsx"
import type { Start } from "./Draft.ts"
import { ForReaders } from "./ForReaders.tsx"
import { campaignQuery } from "./Queries.ts"

const FormPage = (
  { start, title }: { readonly title: string; readonly start?: Start }
) => {
  const templates = useQuery(approvedQuery)
  const numbers = useQuery(phoneNumbersQuery)
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
        : numbers.data === undefined
        ? (
          <div className="card">
            <LoadState query={numbers} lines={6} />
          </div>
        )
        : <CampaignForm approved={templates.data} numbers={numbers.data} start={start} />}
    </Page>
  )
}

/** The form that starts from a campaign, once the campaign is loaded. */
const LoadedFormPage = (
  { id, isCopy, title }: { readonly id: string; readonly title: string; readonly isCopy: boolean }
) => {
  const query = useFresh(campaignQuery(id))
  return query.data === undefined
    ? (
      <Page title={title}>
        <div className="card">
          <LoadState query={query} missing={<Missing what="campaign" to="/campaigns" all="All campaigns" />} />
        </div>
      </Page>
    )
    : <FormPage key={id} title={title} start={{ campaign: query.data, isCopy }} />
}

/** The page for a new campaign. Its form may start from the plan of another campaign. */
export const NewCampaignPage = () => {
  const { like } = useSearch({ from: "/campaigns/new" })
  const title = "New campaign"
  return like === undefined ? <FormPage title={title} /> : (
    <ForReaders title={title}>
      <LoadedFormPage id={like} title={title} isCopy />
    </ForReaders>
  )
}

/** The page that changes a campaign that has not started, or replaces its file. */
export const EditCampaignPage = () => {
  const { id } = useParams({ from: "/campaigns/$id/edit" })
  const title = "Change the campaign"
  return (
    <ForReaders title={title}>
      <LoadedFormPage id={id} title={title} isCopy={false} />
    </ForReaders>
  )
}
