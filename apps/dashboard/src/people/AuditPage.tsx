/** Who changed what, when and from where, as far back as the service keeps it. */
import { useSearch } from "@tanstack/react-router"
import type { AuditEntry } from "@wac/client/internal"
import * as RoleOf from "../generated/RoleOf.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { useFilter } from "../ui/Filters.tsx"
import { ListPage, useList } from "../ui/List.tsx"
import type { FileColumns } from "../ui/ListFile.tsx"
import { daysSince } from "../ui/Moment.ts"
import { type Column, Id } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"
import { actionWords } from "./AuditWords.ts"

const detailOf = (detail: { readonly [name: string]: string }): string =>
  Object.entries(detail).map(([name, value]) => `${name}: ${value}`).join(", ")

const byWhom = (by: AuditEntry["by"]): string =>
  by === null ? "The operator" : "email" in by ? by.email : `${by.name} (API key)`

const columns: ReadonlyArray<Column<AuditEntry>> = [
  {
    name: "Change",
    cell: ({ action, detail, target }) => (
      <>
        <span className="font-medium">{actionWords[action]}</span>
        {target === null ? null : (
          <span className="block text-muted">
            <Id>{target}</Id>
          </span>
        )}
        {detail === null
          ? null
          : <span className="block text-[13px] break-words text-muted">{detailOf(detail)}</span>}
      </>
    )
  },
  { name: "By", className: "break-words max-sm:break-all", cell: ({ by }) => byWhom(by) },
  { name: "Address", from: "md", className: "text-muted tabular-nums", cell: ({ address }) => address ?? "–" },
  { name: "At", className: "text-muted", cell: ({ at }) => <Time at={at} /> }
]

const file: FileColumns<AuditEntry> = {
  Change: ({ action }) => actionWords[action],
  Target: ({ target }) => target,
  Detail: ({ detail }) => detail === null ? null : detailOf(detail),
  By: ({ by }) => byWhom(by),
  Address: ({ address }) => address,
  At: ({ at }) => at
}

export const AuditPage = () => {
  const { person, target } = useSearch({ from: "/settings/audit" })
  const setFilter = useFilter()
  const refusal = useRefusal(RoleOf.auditList)
  const list = useList("audit", { userId: person, target }, api.audit.list, {
    every: 10_000,
    enabled: refusal === undefined
  })
  const { data } = list.query
  return (
    <ListPage
      title="Audit"
      lead={`Who changed what, when and from where. Entries hold no secret${
        data === undefined ? "" : ` and are kept for ${daysSince(data.since)}`
      }.`}
      refusal={refusal}
      search={{
        label: "Changed thing or person",
        placeholder: "key_…, whk_… or usr_…",
        value: target ?? person,
        onSearch: (id) =>
          setFilter(
            id?.startsWith("usr_") === true ? { person: id, target: undefined } : { person: undefined, target: id }
          )
      }}
      list={list}
      what="change"
      columns={columns}
      file={file}
      none={{ title: "Nothing was changed yet" }}
    />
  )
}
