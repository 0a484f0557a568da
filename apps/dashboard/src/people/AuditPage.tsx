/** The page of the audit: who changed what, when and from where, as far back as the service keeps entries. */
import { Link, useSearch } from "@tanstack/react-router"
import type { AuditEntry } from "@wac/client/internal"
import * as RoleOf from "../generated/RoleOf.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { useFilter } from "../ui/Filters.tsx"
import { ListPage, useList } from "../ui/List.tsx"
import { daysSince } from "../ui/Moment.ts"
import { Id, idInFile, type ListColumn } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"
import { actionWords } from "./AuditWords.ts"

const detailOf = (detail: { readonly [name: string]: string }): string =>
  Object.entries(detail).map(([name, value]) => `${name}: ${value}`).join(", ")

const byWhom = (by: AuditEntry["by"]): string =>
  by === null ? "The operator" : "email" in by ? by.email : `${by.name} (API key)`

const columns: ReadonlyArray<ListColumn<AuditEntry>> = [
  {
    name: "Change",
    text: ({ action }) => actionWords[action],
    cell: ({ action, by, detail, target }) => (
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
        <span className="block text-[13px] break-all text-muted sm:hidden">by {byWhom(by)}</span>
      </>
    )
  },
  { name: "Target", text: ({ target }) => target, cell: null },
  { name: "Detail", text: ({ detail }) => detail === null ? null : detailOf(detail), cell: null },
  { name: "By", from: "sm", className: "break-words", text: ({ by }) => byWhom(by), cell: ({ by }) => byWhom(by) },
  {
    name: "Address",
    from: "md",
    className: "text-muted tabular-nums",
    text: ({ address }) => address,
    cell: ({ address }) => address ?? "–"
  },
  { name: "At", className: "text-muted", text: ({ at }) => at, cell: ({ at }) => <Time at={at} /> },
  idInFile
]

const isPerson = (id: string | undefined): id is string => id?.startsWith("usr_") === true

/** A sentence about whether the listed changes were made by a person or to them, with a link to the others. */
const OfPerson = ({ id, isTarget }: { readonly id: string; readonly isTarget: boolean }) => (
  <p className="text-muted">
    {isTarget ? "These are the changes that were made to this person." : "These are the changes that this person made."}
    {" "}
    <Link
      to="/settings/audit"
      search={isTarget ? { person: id } : { target: id }}
      className="text-accent underline"
    >
      {isTarget ? "Show what this person did" : "Show what was done to this person"}
    </Link>
  </p>
)

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
          setFilter(isPerson(id) ? { person: id, target: undefined } : { person: undefined, target: id })
      }}
      about={isPerson(target)
        ? <OfPerson id={target} isTarget />
        : isPerson(person)
        ? <OfPerson id={person} isTarget={false} />
        : null}
      list={list}
      what="change"
      columns={columns}
      none={{ title: "Nothing was changed yet" }}
    />
  )
}
