/**
 * Opt-outs of names in PostgreSQL (core's `Suppression`).
 */
import type { Suppression } from "@wac/core"
import { instantOrNull, plain } from "../Column.ts"
import { columns } from "../Columns.ts"
import { texts } from "../Parameter.ts"
import type { Row, Rows, Statement } from "../Statement.ts"

const suppression = columns({
  workspaceId: "text",
  hash: "text",
  phoneNumberId: "text",
  optedOut: "boolean",
  name: "text",
  source: "text",
  at: "bigint"
})

/** The columns, of a table of that name. */
export const names = (table: string): string => suppression.names(table)

/** The opt-outs under a hash: an expression for a `cross join lateral`. */
export const under = (workspace: string, hash: string): string =>
  `(select own.* from suppressions own where own.workspace_id = ${workspace} and own.hash = ${hash} offset 0)`

/** Loads the opt-outs under hashes, given workspaces and hashes. */
export const loadText = `select ${names("s")} from unnest($1::text[], $2::text[]) a (workspace_id, hash)
  cross join lateral ${under("a.workspace_id", "a.hash")} s`

/** An opt-out of a row, or of its JSON. */
export const suppressionOf = (row: Row): Suppression.Suppression => {
  const name = plain<string | null>(row, "name")
  return {
    workspaceId: plain(row, "workspace_id"),
    hash: plain(row, "hash"),
    phoneNumberId: plain<string>(row, "phone_number_id") === "" ? null : plain(row, "phone_number_id"),
    optedOut: plain(row, "opted_out"),
    name: name === null ? null : { key: name, at: instantOrNull(row, "at")!, source: plain(row, "source") }
  }
}

/** Finds what was loaded by workspace and hash. */
export const found = (
  rows: Rows
): (workspaceId: string, hash: string) => ReadonlyArray<Suppression.Suppression> => {
  const byHash = new Map<string, Array<Suppression.Suppression>>()
  for (const one of rows.map(suppressionOf)) {
    const name = `${one.workspaceId} ${one.hash}`
    byHash.set(name, [...(byHash.get(name) ?? []), one])
  }
  return (workspaceId, hash) => byHash.get(`${workspaceId} ${hash}`) ?? []
}

const keepText = `${suppression.insert("suppressions as s")}
  on conflict (workspace_id, hash, phone_number_id) do update set ${
  suppression.pick("optedOut", "name", "source", "at").set("excluded")
}`

const removeText = `delete from suppressions s using unnest($1::text[], $2::text[], $3::text[])
    g (workspace_id, hash, phone_number_id)
  where s.workspace_id = g.workspace_id and s.hash = g.hash and s.phone_number_id = g.phone_number_id`

const placeOf = ({ hash, phoneNumberId, workspaceId }: Suppression.Suppression): string =>
  `${workspaceId} ${hash} ${phoneNumberId ?? ""}`

/** In an order that all transactions share, so that none waits for another in a circle. */
const inOrder = (all: ReadonlyArray<Suppression.Suppression>): ReadonlyArray<Suppression.Suppression> =>
  [...all].sort((a, b) => placeOf(a) < placeOf(b) ? -1 : 1)

/** Writes and removes opt-outs. */
export const write = ({ gone, kept }: Suppression.Changes): ReadonlyArray<Statement> => [
  ...gone.length === 0 ? [] : [{
    text: removeText,
    params: [
      texts(gone.map(({ workspaceId }) => workspaceId)),
      texts(gone.map(({ hash }) => hash)),
      texts(gone.map(({ phoneNumberId }) => phoneNumberId ?? ""))
    ]
  }],
  ...kept.length === 0 ? [] : [{
    text: keepText,
    params: suppression.params(
      inOrder(kept).map(({ name, phoneNumberId, ...one }) => ({
        ...one,
        phoneNumberId: phoneNumberId ?? "",
        name: name && name.key,
        source: name && name.source,
        at: name && name.at
      }))
    )
  }]
]
