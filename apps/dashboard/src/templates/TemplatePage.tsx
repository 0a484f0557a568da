/** The page of one template: its preview, its status at the provider, and its other languages. */
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import type { TemplateDetail } from "@wac/client/internal"
import * as RoleOf from "../generated/RoleOf.ts"
import { useRefusal } from "../session/Session.tsx"
import { Loaded, LoadState } from "../ui/Loaded.tsx"
import { Missing } from "../ui/Missing.tsx"
import { Notice } from "../ui/Notice.tsx"
import { Fact, Facts, Page, Section } from "../ui/Page.tsx"
import { Id } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"
import { capitalized } from "../ui/Words.ts"
import { Preview } from "./Preview.tsx"
import { namesakesQuery, templateOfId } from "./Queries.ts"
import { TemplateActions } from "./TemplateActions.tsx"
import { meaningOf, TemplateState } from "./TemplateWords.tsx"

const Languages = ({ template: { id, name, providerAccountId } }: { readonly template: TemplateDetail }) => {
  const query = useQuery(namesakesQuery(name))
  return (
    <Section title="Languages" description="The templates of this name. Each language is reviewed separately.">
      <Loaded query={query} lines={1}>
        {(templates) => (
          <ul className="space-y-2">
            {templates.filter((template) => template.providerAccountId === providerAccountId).map((template) => (
              <li key={template.id} className="flex flex-wrap items-center gap-x-4 gap-y-1">
                {template.id === id
                  ? <span className="min-w-16 font-medium" aria-current="page">{template.language}</span>
                  : (
                    <Link
                      to="/templates/$id"
                      params={{ id: template.id }}
                      className="min-w-16 text-accent underline"
                    >
                      {template.language}
                    </Link>
                  )}
                <TemplateState status={template.status} />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Section>
  )
}

/** The link to the changes of the template in the audit, if the reader may see the audit. */
const Changes = ({ id }: { readonly id: string }) =>
  useRefusal(RoleOf.auditList) === undefined
    ? (
      <Fact name="Changes">
        <Link to="/settings/audit" search={{ target: id }} className="text-accent underline">In the audit</Link>
      </Fact>
    )
    : null

const Detail = ({ template }: { readonly template: TemplateDetail }) => (
  <>
    {template.rejectionReason === null
      ? null
      : <Notice tone="bad">The provider rejected it: {capitalized(template.rejectionReason)}.</Notice>}
    {template.unfillable === null ?
      null :
      <Notice tone="warn">It can be sent with the API only, not from here: {template.unfillable}.</Notice>}
    <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
      <Section title="At the provider">
        <Facts>
          <Fact name="Status">
            <TemplateState status={template.status} />
            <span className="block text-[13px] text-muted">{meaningOf(template.status)}</span>
          </Fact>
          <Fact name="Language">{template.language}</Fact>
          <Fact name="Category">{capitalized(template.category)}</Fact>
          <Fact name="Quality">
            {template.quality === null
              ? <span className="text-muted">Not known yet</span>
              : capitalized(template.quality)}
          </Fact>
          <Fact name="Placeholders">
            {template.variables.length === 0 ? <span className="text-muted">None</span> : template.variables.join(", ")}
          </Fact>
          <Fact name="Synced">
            <Time at={template.syncedAt} />
          </Fact>
          <Fact name="Provider’s id">
            <Id>{template.providerTemplateId}</Id>
          </Fact>
          <Changes id={template.id} />
        </Facts>
      </Section>
      <Section title="On the phone">
        <Preview template={template} />
      </Section>
    </div>
    <Languages template={template} />
  </>
)

export const TemplatePage = () => {
  const { id } = useParams({ from: "/templates/$id" })
  const query = useQuery(templateOfId(id))
  return (
    <Page
      title={query.data === undefined ? "Template" : query.data.name}
      lead={<Id>{id}</Id>}
      actions={query.data === undefined ? undefined : <TemplateActions key={id} template={query.data} />}
    >
      {query.data === undefined
        ? (
          <div className="card">
            <LoadState
              query={query}
              missing={
                <Missing what="template" to="/templates" all="All templates">
                  It may be deleted, or the provider does not list it any more.
                </Missing>
              }
            />
          </div>
        )
        : <Loaded query={query}>{(template) => <Detail template={template} />}</Loaded>}
    </Page>
  )
}
