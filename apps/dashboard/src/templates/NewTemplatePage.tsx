/** The pages with a template's form: for a new template, for another language of a template, and for a change. */
import { Link, useParams, useSearch } from "@tanstack/react-router"
import type { TemplateDetail } from "@wac/client/internal"
import type { ReactNode } from "react"
import { useFresh } from "../session/Save.ts"
import { buttonClass } from "../ui/Button.tsx"
import { Empty, LoadState } from "../ui/Loaded.tsx"
import { Missing } from "../ui/Missing.tsx"
import { Page } from "../ui/Page.tsx"
import { beyondForm, draftOf, empty } from "./Draft.ts"
import { templateOfId } from "./Queries.ts"
import { TemplateForm } from "./TemplateForm.tsx"

const lead = "A message whose text the provider approves before it can be sent."

/** The page that loads an existing template for its form; a hint if the form cannot edit the template. */
const FormOf = (
  { children, id, title }: {
    readonly id: string
    readonly title: string
    readonly children: (template: TemplateDetail) => ReactNode
  }
) => {
  const query = useFresh(templateOfId(id))
  const beyond = query.data === undefined ? undefined : beyondForm(query.data)
  return (
    <Page
      title={title}
      lead={query.data === undefined ? lead : `${query.data.name} · ${query.data.language}`}
    >
      {query.data === undefined
        ? (
          <div className="card">
            <LoadState query={query} missing={<Missing what="template" to="/templates" all="All templates" />} />
          </div>
        )
        : beyond === undefined
        ? children(query.data)
        : (
          <div className="card">
            <Empty
              title="This form cannot hold the template"
              actions={<Link to="/templates/$id" params={{ id }} className={buttonClass()}>Back to the template</Link>}
            >
              It has {beyond}. Change it with the API or at the provider.
            </Empty>
          </div>
        )}
    </Page>
  )
}

export const NewTemplatePage = () => {
  const { like } = useSearch({ from: "/templates/new" })
  return like === undefined
    ? (
      <Page title="New template" lead={lead}>
        <TemplateForm begin={empty} />
      </Page>
    )
    : (
      <FormOf key={like} id={like} title="New template">
        {(template) => <TemplateForm begin={{ ...draftOf(template), language: "" }} />}
      </FormOf>
    )
}

export const EditTemplatePage = () => {
  const { id } = useParams({ from: "/templates/$id/edit" })
  return (
    <FormOf key={id} id={id} title="Change the template">
      {(template) => <TemplateForm begin={draftOf(template)} template={template} />}
    </FormOf>
  )
}
