/**
 * The rows of `wac.suppressions`: a customer's opt-outs, and the exceptions from them (core's `Suppression`).
 */
import { type Id, Suppression, type Time } from "@wac/core"
import { columns, type Reader, unlessEmpty } from "../Columns.ts"
import { type Rows, type Statement, statement } from "../Statement.ts"
import { insert } from "../TableStatements.ts"

/** A suppression as a row. */
interface SuppressionRow extends Pick<Suppression.Suppression, "workspaceId" | "hash" | "optedOut"> {
  /** `''` means every number of the workspace, because a column of a primary key cannot be null. */
  readonly phoneNumberId: Id.PhoneNumberId | ""
  readonly name: string | null
  readonly source: Suppression.Source | null
  readonly at: Time.Instant | null
}

const stored = columns<SuppressionRow>({
  workspaceId: "text",
  hash: "text",
  phoneNumberId: "text",
  optedOut: "boolean",
  name: "text",
  source: "text",
  at: "bigint"
})

/** The list of columns, each with the alias of the table. */
export const columnList = (table: string): string => stored.names(table)

/**
 * A subquery for the suppressions with a hash, to use in `cross join lateral`. `offset 0` makes the planner look them
 * up by their key.
 */
export const byHash = (workspace: string, hash: string): string =>
  `(select own.* from wac.suppressions own where own.workspace_id = ${workspace} and own.hash = ${hash} offset 0)`

/** Loads the suppressions with these hashes. */
export const load = statement(
  { hashes: stored.pick("workspaceId", "hash") },
  ({ hashes }) =>
    `select ${columnList("s")} from ${hashes("a")}
  cross join lateral ${byHash("a.workspace_id", "a.hash")} s`
)

/** Reads a suppression from a row, or from a row's JSON. */
export const reader: Reader<Suppression.Suppression> = {
  read: (row) => {
    const { at, name, phoneNumberId, source, ...one } = stored.read(row)
    return {
      ...one,
      phoneNumberId: phoneNumberId === "" ? null : phoneNumberId,
      name: name === null ? null : { key: name, at: at!, source: source! }
    }
  }
}

/** Indexes loaded rows by workspace and hash. */
export const indexByHash = (
  rows: Rows
): (workspaceId: string, hash: string) => ReadonlyArray<Suppression.Suppression> => {
  const index = new Map<string, Array<Suppression.Suppression>>()
  for (const one of rows.map(reader.read)) {
    const key = `${one.workspaceId} ${one.hash}`
    const known = index.get(key)
    if (known === undefined) index.set(key, [one])
    else known.push(one)
  }
  return (workspaceId, hash) => index.get(`${workspaceId} ${hash}`) ?? []
}

const upsert = insert(
  stored,
  "wac.suppressions as s",
  `
  on conflict (workspace_id, hash, phone_number_id) do update set ${
    stored.set("excluded", "workspaceId", "hash", "phoneNumberId")
  }`
)

const deleteRows = unlessEmpty(
  stored.pick("workspaceId", "hash", "phoneNumberId"),
  (rows) =>
    `delete from wac.suppressions s using ${rows("g")}
  where s.workspace_id = g.workspace_id and s.hash = g.hash and s.phone_number_id = g.phone_number_id`
)

const orderKey = (one: Suppression.Suppression): string => `${one.workspaceId} ${Suppression.placeOf(one)}`

/** Sorts rows in the order in which all transactions lock them, so that there is no deadlock. */
const inLockOrder = (all: ReadonlyArray<Suppression.Suppression>): ReadonlyArray<Suppression.Suppression> =>
  all.toSorted((a, b) => orderKey(a) < orderKey(b) ? -1 : 1)

const rowOf = ({ name, phoneNumberId, ...one }: Suppression.Suppression): SuppressionRow => ({
  ...one,
  phoneNumberId: phoneNumberId ?? "",
  name: name && name.key,
  source: name && name.source,
  at: name && name.at
})

/** Deletes and writes suppressions. */
export const write = ({ gone, kept }: Suppression.Changes): ReadonlyArray<Statement> => [
  ...deleteRows(inLockOrder(gone).map(rowOf)),
  ...upsert(inLockOrder(kept).map(rowOf))
]
