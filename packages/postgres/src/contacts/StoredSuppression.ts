/**
 * Opt-outs of names in PostgreSQL (core's `Suppression`).
 */
import type { Id, Suppression, Time } from "@wac/core"
import { columns, insert, type Reader, unlessEmpty } from "../Columns.ts"
import { type Rows, type Statement, statement } from "../Statement.ts"

/** An opt-out, as columns. */
interface Stored extends Pick<Suppression.Suppression, "workspaceId" | "hash" | "optedOut"> {
  /** Empty for every number: a key has no null. */
  readonly phoneNumberId: Id.PhoneNumberId | ""
  readonly name: string | null
  readonly source: Suppression.Source | null
  readonly at: Time.Instant | null
}

const stored = columns<Stored>({
  workspaceId: "text",
  hash: "text",
  phoneNumberId: "text",
  optedOut: "boolean",
  name: "text",
  source: "text",
  at: "bigint"
})

/** The columns, of a table of that name. */
export const names = (table: string): string => stored.names(table)

/** The opt-outs under a hash: an expression for a `cross join lateral`. */
export const under = (workspace: string, hash: string): string =>
  `(select own.* from wac.suppressions own where own.workspace_id = ${workspace} and own.hash = ${hash} offset 0)`

/** Loads the opt-outs under hashes. */
export const load = statement(
  { hashes: stored.pick("workspaceId", "hash") },
  ({ hashes }) =>
    `select ${names("s")} from ${hashes("a")}
  cross join lateral ${under("a.workspace_id", "a.hash")} s`
)

/** An opt-out of a row, or of its JSON. */
export const suppression: Reader<Suppression.Suppression> = {
  read: (row) => {
    const { at, name, phoneNumberId, source, ...one } = stored.read(row)
    return {
      ...one,
      phoneNumberId: phoneNumberId === "" ? null : phoneNumberId,
      name: name === null ? null : { key: name, at: at!, source: source! }
    }
  }
}

/** Finds what was loaded by workspace and hash. */
export const found = (
  rows: Rows
): (workspaceId: string, hash: string) => ReadonlyArray<Suppression.Suppression> => {
  const byHash = new Map<string, Array<Suppression.Suppression>>()
  for (const one of rows.map(suppression.read)) {
    const name = `${one.workspaceId} ${one.hash}`
    byHash.set(name, [...(byHash.get(name) ?? []), one])
  }
  return (workspaceId, hash) => byHash.get(`${workspaceId} ${hash}`) ?? []
}

const keep = insert(
  stored,
  "wac.suppressions as s",
  `
  on conflict (workspace_id, hash, phone_number_id) do update set ${
    stored.set("excluded", "workspaceId", "hash", "phoneNumberId")
  }`
)

const remove = unlessEmpty(
  stored.pick("workspaceId", "hash", "phoneNumberId"),
  (rows) =>
    `delete from wac.suppressions s using ${rows("g")}
  where s.workspace_id = g.workspace_id and s.hash = g.hash and s.phone_number_id = g.phone_number_id`
)

const placeOf = ({ hash, phoneNumberId, workspaceId }: Suppression.Suppression): string =>
  `${workspaceId} ${hash} ${phoneNumberId ?? ""}`

/** In an order that all transactions share, so that none waits for another in a circle. */
const inOrder = (all: ReadonlyArray<Suppression.Suppression>): ReadonlyArray<Suppression.Suppression> =>
  [...all].sort((a, b) => placeOf(a) < placeOf(b) ? -1 : 1)

const storedOf = ({ name, phoneNumberId, ...one }: Suppression.Suppression): Stored => ({
  ...one,
  phoneNumberId: phoneNumberId ?? "",
  name: name && name.key,
  source: name && name.source,
  at: name && name.at
})

/** Writes and removes opt-outs. */
export const write = ({ gone, kept }: Suppression.Changes): ReadonlyArray<Statement> => [
  ...remove(gone.map(storedOf)),
  ...keep(inOrder(kept).map(storedOf))
]
