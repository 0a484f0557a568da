/** The message templates that the provider has. */
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useSearch } from "@tanstack/react-router"
import type { TemplateDetail } from "@wac/client/internal"
import { useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { api, firstPage } from "../session/Service.ts"
import { live, useRefusal } from "../session/Session.tsx"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Failure, Notice } from "../ui/Failure.tsx"
import { Filters, SearchFilter, SelectFilter, useFilter } from "../ui/Filters.tsx"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Fact, Facts, Page } from "../ui/Page.tsx"
import { pageSize, Paging } from "../ui/Paged.tsx"
import { Status, type Tone } from "../ui/Status.tsx"
import { Cell, Row, rowLink, Table } from "../ui/Table.tsx"
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

export const TemplatesPage = () => {
  const search = useSearch({ from: "/templates" })
  const setFilter = useFilter()
  const client = useQueryClient()
  const refusal = useRefusal(RoleOf.templatesSync)
  const [opened, setOpened] = useState<TemplateDetail>()
  const { cursor, name, status } = search
  const query = useQuery({
    queryKey: ["templates", { status, name, cursor }],
    queryFn: ({ signal }) =>
      firstPage(api.templates.list({
        limit: pageSize,
        ...(status === undefined ? {} : { status }),
        ...(name === undefined ? {} : { name }),
        ...(cursor === undefined ? {} : { cursor })
      }, { signal })),
    placeholderData: keepPreviousData,
    ...live(15_000)
  })
  const sync = useMutation({
    mutationFn: () => api.templates.sync(),
    onSettled: () => client.invalidateQueries({ queryKey: ["templates"] })
  })
  const isFiltered = status !== undefined || name !== undefined
  return (
    <Page
      title="Templates"
      lead="Messages that the provider has approved. Outside a service window only a template can be sent."
      actions={
        <Button icon="refresh" refusal={refusal} isPending={sync.isPending} onClick={() => sync.mutate()}>
          {sync.isPending ? "Syncing…" : "Sync now"}
        </Button>
      }
    >
      <Failure error={sync.error} />
      {sync.data === undefined ? null : (
        <p role="status" className="text-good">
          The provider lists {counted(sync.data.count, "template", "templates")}, as of{" "}
          <Time at={sync.data.syncedAt} />.
        </p>
      )}
      <Filters>
        <SearchFilter label="Name" placeholder="Exact name" value={name} onSearch={(name) => setFilter({ name })} />
        <SelectFilter label="Status" value={status} options={statuses} onChange={(status) => setFilter({ status })} />
      </Filters>
      <div className="card">
        <Loaded query={query} lines={6}>
          {({ data, nextCursor }) =>
            data.length === 0
              ? (
                <Empty title={isFiltered ? "No template fits these filters" : "No templates yet"}>
                  {isFiltered ? "Names are matched exactly." : "Create templates at the provider, then sync."}
                </Empty>
              )
              : (
                <>
                  <Table
                    label="Templates"
                    columns={["Name", "Status", { name: "Language", className: "hidden sm:table-cell" }, {
                      name: "Category",
                      className: "hidden sm:table-cell"
                    }, {
                      name: "Placeholders",
                      className: "hidden md:table-cell"
                    }, { name: "Synced", className: "hidden lg:table-cell" }]}
                  >
                    {data.map((template) => (
                      <Row key={template.id}>
                        <Cell>
                          <button
                            type="button"
                            className={`${rowLink} text-left break-all`}
                            onClick={() => setOpened(template)}
                          >
                            {template.name}
                          </button>
                        </Cell>
                        <Cell>
                          <TemplateState status={template.status} />
                        </Cell>
                        <Cell className="hidden sm:table-cell">{template.language}</Cell>
                        <Cell className="hidden sm:table-cell">{capitalized(template.category)}</Cell>
                        <Cell className="hidden tabular-nums md:table-cell">{template.variables.length}</Cell>
                        <Cell className="hidden text-muted lg:table-cell">
                          <Time at={template.syncedAt} />
                        </Cell>
                      </Row>
                    ))}
                  </Table>
                  <Paging cursor={cursor} next={nextCursor} />
                </>
              )}
        </Loaded>
      </div>
      {opened === undefined ? null : <Detail template={opened} onClose={() => setOpened(undefined)} />}
    </Page>
  )
}
