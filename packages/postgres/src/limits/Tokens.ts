/**
 * Spends tokens and gives them back (core's `TokenStep`): loads and writes the buckets. The buckets of workspaces and
 * of phone numbers are columns of their rows; all others are in `buckets`. Locks are taken in this order, and within
 * each kind in the order of keys.
 */
import { Limits, type RateLimit, TokenStep } from "@wac/core"
import { double, list, row, text, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import type { Relation } from "../Schema.ts"
import type { Statement } from "../Statement.ts"

const lockOf = (table: Relation) =>
  unlessEmpty(row({ key: text(), id: text() }), (rows) =>
    `select k.key, w.bucket_full_at as full_at
  from ${rows("k")} join ${table} w on w.id = k.id
  order by w.id for no key update of w`)

const lockWorkspaces = lockOf("wac.workspaces")
const lockNumbers = lockOf("wac.phone_numbers")

const keys = list<string>("text")

/**
 * Creates missing buckets and locks all. Existing rows are rewritten unchanged, which locks them in the same statement:
 * between two statements, a sweep could delete them.
 */
const lockOrMake = unlessEmpty(
  keys,
  (keys) =>
    `insert into wac.buckets as b (key, full_at) select k, 0 from unnest(${keys}) k order by k
  on conflict (key) do update set full_at = b.full_at
  returning b.key, b.full_at`
)

const lock = unlessEmpty(
  keys,
  (keys) => `select b.key, b.full_at from wac.buckets b where b.key = any (${keys}) order by b.key for no key update`
)

const bucket = row({ key: text(), fullAt: double() })

const keepOf = (table: Relation) =>
  unlessEmpty(
    row({ id: text(), fullAt: double() }),
    (rows) => `update ${table} w set bucket_full_at = s.full_at from ${rows("s")} where w.id = s.id`
  )

const keepWorkspaces = keepOf("wac.workspaces")
const keepNumbers = keepOf("wac.phone_numbers")

const keepOthers = unlessEmpty(
  bucket,
  (rows) => `update wac.buckets b set full_at = s.full_at from ${rows("s")} where b.key = s.key`
)

/** Groups buckets by where they are stored. */
const divided = <A extends { readonly key: string }>(buckets: ReadonlyArray<A>) => {
  const workspaces: Array<A & { readonly id: string }> = []
  const numbers: Array<A & { readonly id: string }> = []
  const others: Array<A> = []
  for (const bucket of buckets) {
    const owner = Limits.ownerOf(bucket.key)
    if (owner === undefined) others.push(bucket)
    else if ("workspace" in owner) workspaces.push({ ...bucket, id: owner.workspace })
    else numbers.push({ ...bucket, id: owner.phoneNumber })
  }
  return { workspaces, numbers, others }
}

const load = (lockOthers: typeof lock) => (commands: ReadonlyArray<TokenStep.Tokens>): ReadonlyArray<Statement> => {
  const keys = new Set(commands.flatMap(({ buckets }) => buckets.map(({ key }) => key)))
  const { numbers, others, workspaces } = divided([...keys].map((key) => ({ key })))
  return [...lockWorkspaces(workspaces), ...lockNumbers(numbers), ...lockOthers(others.map(({ key }) => key))]
}

const read: StepOptions<TokenStep.Tokens, TokenStep.Loaded, unknown, TokenStep.Writes>["read"] = (rows, now) => {
  const fullAt = new Map(rows.flat().map(bucket.read).map(({ fullAt, key }) => [key, fullAt]))
  return { now, fullAt: (key) => fullAt.get(key) }
}

const write = (writes: TokenStep.Writes): ReadonlyArray<Statement> => {
  const { numbers, others, workspaces } = divided(writes)
  return [...keepWorkspaces(workspaces), ...keepNumbers(numbers), ...keepOthers(others)]
}

/** `RateLimitStore.spend`. */
export const spend: StepOptions<
  TokenStep.Tokens,
  TokenStep.Loaded,
  ReadonlyArray<RateLimit.Reading>,
  TokenStep.Writes
> = { load: load(lockOrMake), read, decide: TokenStep.spend, write }

/** `RateLimitStore.giveBack`. */
export const giveBack: StepOptions<TokenStep.Tokens, TokenStep.Loaded, void, TokenStep.Writes> = {
  load: load(lock),
  read,
  decide: TokenStep.giveBack,
  write
}
