/** The page that lists the message templates that the provider has, and syncs them. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { Link, useSearch } from "@tanstack/react-router"
import * as RoleOf from "../generated/RoleOf.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { useChosen, useFilter, useFilterWords } from "../ui/Filters.tsx"
import { isWhole, ListPage, useList } from "../ui/List.tsx"
import { idInFile, rowLink } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"
import { capitalized, counted } from "../ui/Words.ts"
import { DeleteTemplates } from "./DeleteTemplates.tsx"
import { asName } from "./Names.ts"
import { TemplateState, templateStatuses } from "./TemplateWords.tsx"

const choices = { status: { label: "Status", options: templateStatuses } }

const NewTemplate = () => {
  const refusal = useRefusal(RoleOf.templatesCreate)
  return refusal === undefined
    ? <Link to="/templates/new" className={buttonClass("primary")}>New template</Link>
    : <Button look="primary" refusal={refusal}>New template</Button>
}

export const TemplatesPage = () => {
  const { name } = useSearch({ from: "/templates" })
  const setFilter = useFilter()
  const client = useQueryClient()
  const refusal = useRefusal(RoleOf.templatesSync)
  const list = useList("templates", { ...useChosen(choices), nameContains: name }, api.templates.list, {
    every: 15_000
  })
  const words = useFilterWords(choices, { Name: name })
  const sync = useMutation({
    mutationFn: () => api.templates.sync(),
    onSettled: () => client.invalidateQueries({ queryKey: ["templates"] })
  })
  return (
    <ListPage
      title="Templates"
      lead="Messages that the provider approves. Outside a service window only a template can be sent."
      actions={
        <>
          <Button icon="refresh" refusal={refusal} isPending={sync.isPending} onClick={() => sync.mutate()}>
            {sync.isPending ? "Syncing…" : "Sync now"}
          </Button>
          <NewTemplate />
        </>
      }
      before={
        <>
          <Failure error={sync.error} />
          {sync.data === undefined ? null : (
            <p role="status" className="text-good">
              The provider lists {counted(sync.data.count, "template", "templates")}, as of{" "}
              <Time at={sync.data.syncedAt} />.
            </p>
          )}
        </>
      }
      search={{
        label: "Name",
        placeholder: "A part of the name",
        value: name,
        onSearch: (name) => setFilter({ name: name && asName(name) })
      }}
      choices={choices}
      about={words.length === 0
        ? undefined
        : (
          <DeleteTemplates
            count={isWhole(list) ? list.query.data?.data.length : undefined}
            filter={words}
            walk={list.walk}
          />
        )}
      list={list}
      what="template"
      columns={[
        {
          name: "Name",
          text: ({ name }) => name,
          cell: ({ id, name }) => (
            <Link to="/templates/$id" params={{ id }} className={`${rowLink} break-all`}>{name}</Link>
          )
        },
        { name: "Status", text: ({ status }) => status, cell: ({ status }) => <TemplateState status={status} /> },
        { name: "Language", from: "sm", text: ({ language }) => language, cell: ({ language }) => language },
        {
          name: "Category",
          from: "sm",
          text: ({ category }) => category,
          cell: ({ category }) => capitalized(category)
        },
        {
          name: "Placeholders",
          from: "md",
          className: "tabular-nums",
          text: ({ variables }) => variables.length,
          cell: ({ variables }) => variables.length
        },
        {
          name: "Synced",
          from: "lg",
          className: "text-muted",
          text: ({ syncedAt }) => syncedAt,
          cell: ({ syncedAt }) => <Time at={syncedAt} />
        },
        idInFile
      ]}
      none={{
        title: "No templates yet",
        children: "Create one here, or sync if you have created it at the provider.",
        actions: <NewTemplate />
      }}
      noMatch={{ children: "A template is found by any part of its name." }}
    />
  )
}
