/** The message templates that the provider has. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useSearch } from "@tanstack/react-router"
import type { TemplateDetail } from "@wac/client/internal"
import { useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Failure, Notice } from "../ui/Failure.tsx"
import { useChosen, useFilter } from "../ui/Filters.tsx"
import { ListPage, useList } from "../ui/List.tsx"
import { Fact, Facts } from "../ui/Page.tsx"
import { Status, type Tone } from "../ui/Status.tsx"
import { rowLink } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"
import { capitalized, counted } from "../ui/Words.ts"
import { Preview } from "./Preview.tsx"

const tones: { readonly [status: string]: Tone } = {
  approved: "good",
  pending: "calm",
  in_appeal: "calm",
  paused: "warn",
  rejected: "bad",
  disabled: "bad"
}

const statuses = ["approved", "pending", "rejected", "paused", "disabled"].map((status) =>
  [status, capitalized(status)] as const
)

export const TemplateState = ({ status }: { readonly status: string }) => (
  <Status tone={tones[status] ?? "calm"} {...(tones[status] === undefined ? { icon: "circle" } : {})}>
    {capitalized(status)}
  </Status>
)

const Detail = ({ onClose, template }: { readonly template: TemplateDetail; readonly onClose: () => void }) => (
  <Dialog title={template.name} isOpen onClose={onClose} width="max-w-2xl">
    <div className="space-y-4">
      <Preview template={template} />
      {template.unfillable === null ? null : <Notice tone="warn">{template.unfillable}</Notice>}
      {template.rejectionReason === null ? null : <Notice tone="bad">Rejected: {template.rejectionReason}</Notice>}
      <Facts>
        <Fact name="Status">
          <TemplateState status={template.status} />
        </Fact>
        <Fact name="Language">{template.language}</Fact>
        <Fact name="Category">{capitalized(template.category)}</Fact>
        <Fact name="Placeholders">{template.variables.length === 0 ? "None" : template.variables.join(", ")}</Fact>
        <Fact name="Quality">{template.quality === null ? "Not known" : capitalized(template.quality)}</Fact>
        <Fact name="Synced">
          <Time at={template.syncedAt} />
        </Fact>
      </Facts>
      <div className="flex justify-end">
        <Button onClick={onClose}>Close</Button>
      </div>
    </div>
  </Dialog>
)

const choices = { status: { label: "Status", options: statuses } }

export const TemplatesPage = () => {
  const { name } = useSearch({ from: "/templates" })
  const setFilter = useFilter()
  const client = useQueryClient()
  const refusal = useRefusal(RoleOf.templatesSync)
  const [opened, setOpened] = useState<TemplateDetail>()
  const list = useList("templates", { ...useChosen(choices), name }, api.templates.list, { every: 15_000 })
  const sync = useMutation({
    mutationFn: () => api.templates.sync(),
    onSettled: () => client.invalidateQueries({ queryKey: ["templates"] })
  })
  return (
    <ListPage
      title="Templates"
      lead="Messages that the provider has approved. Outside a service window only a template can be sent."
      actions={
        <Button icon="refresh" refusal={refusal} isPending={sync.isPending} onClick={() => sync.mutate()}>
          {sync.isPending ? "Syncing…" : "Sync now"}
        </Button>
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
      search={{ label: "Name", placeholder: "Exact name", value: name, onSearch: (name) => setFilter({ name }) }}
      choices={choices}
      list={list}
      what="template"
      columns={[
        {
          name: "Name",
          cell: (template) => (
            <button
              type="button"
              className={`${rowLink} text-left break-all`}
              onClick={() => setOpened(template)}
            >
              {template.name}
            </button>
          )
        },
        { name: "Status", cell: ({ status }) => <TemplateState status={status} /> },
        { name: "Language", from: "sm", cell: ({ language }) => language },
        { name: "Category", from: "sm", cell: ({ category }) => capitalized(category) },
        { name: "Placeholders", from: "md", className: "tabular-nums", cell: ({ variables }) => variables.length },
        { name: "Synced", from: "lg", className: "text-muted", cell: ({ syncedAt }) => <Time at={syncedAt} /> }
      ]}
      none={{ title: "No templates yet", children: "Create templates at the provider, then sync." }}
      noMatch={{ children: "Names are matched exactly." }}
    >
      {opened === undefined ? null : <Detail template={opened} onClose={() => setOpened(undefined)} />}
    </ListPage>
  )
}
