/**
 * Spends tokens and returns them (core's `TokenStep`): what is loaded and written. Buckets of workspaces and of phone
 * numbers are columns of their rows; all others are in `buckets`. Locks are taken in this order, and within each kind
 * in the order of keys.
 */
import { Limits, type RateLimit, type Time, TokenStep } from "@wac/core"
import { plain } from "../Column.ts"
import type { StepOptions } from "../Database.ts"
import { doubles, texts } from "../Parameter.ts"
import type { Statement } from "../Statement.ts"

const lockOfText = (table: string): string =>
  `select k.key, w.bucket_full_at as full_at
  from unnest($1::text[], $2::text[]) k (key, id) join ${table} w on w.id = k.id
  order by w.id for no key update of w`

/**
 * Rewrites existing rows unchanged, to lock them in the same statement: between two statements a sweep could delete
 * them.
 */
const lockOrMakeText = `insert into buckets as b (key, full_at) select k, 0 from unnest($1::text[]) k order by k
  on conflict (key) do update set full_at = b.full_at
  returning b.key, b.full_at`

const lockText =
  "select b.key, b.full_at from buckets b where b.key = any ($1::text[]) order by b.key for no key update"

const keepOfText = (table: string): string =>
  `update ${table} w set bucket_full_at = s.full_at from unnest($1::text[], $2::double precision[]) s (id, full_at)
  where w.id = s.id`

const keepText =
  `update buckets b set full_at = s.full_at from unnest($1::text[], $2::double precision[]) s (key, full_at)
  where b.key = s.key`

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

const load = (othersText: string) => (commands: ReadonlyArray<TokenStep.Tokens>): ReadonlyArray<Statement> => {
  const keys = new Set(commands.flatMap(({ buckets }) => buckets.map(({ key }) => key)))
  const { numbers, others, workspaces } = divided([...keys].map((key) => ({ key })))
  const lockOf = (table: string, buckets: typeof numbers): ReadonlyArray<Statement> =>
    buckets.length === 0 ? [] : [{
      text: lockOfText(table),
      params: [texts(buckets.map(({ key }) => key)), texts(buckets.map(({ id }) => id))]
    }]
  return [
    ...lockOf("workspaces", workspaces),
    ...lockOf("phone_numbers", numbers),
    ...others.length === 0 ? [] : [{ text: othersText, params: [texts(others.map(({ key }) => key))] }]
  ]
}

const read: StepOptions<TokenStep.Tokens, TokenStep.Loaded, unknown, TokenStep.Writes>["read"] = (rows, now) => {
  const fullAt = new Map(rows.flat().map((row) => [plain<string>(row, "key"), plain<Time.Instant>(row, "full_at")]))
  return { now, fullAt: (key) => fullAt.get(key) }
}

const write = (writes: TokenStep.Writes): ReadonlyArray<Statement> => {
  const { numbers, others, workspaces } = divided(writes)
  const keepOf = (table: string, buckets: typeof numbers): ReadonlyArray<Statement> =>
    buckets.length === 0 ? [] : [{
      text: keepOfText(table),
      params: [texts(buckets.map(({ id }) => id)), doubles(buckets.map(({ fullAt }) => fullAt))]
    }]
  return [
    ...keepOf("workspaces", workspaces),
    ...keepOf("phone_numbers", numbers),
    ...others.length === 0 ? [] : [{
      text: keepText,
      params: [texts(others.map(({ key }) => key)), doubles(others.map(({ fullAt }) => fullAt))]
    }]
  ]
}

/** `RateLimitStore.spend`. */
export const spend: StepOptions<
  TokenStep.Tokens,
  TokenStep.Loaded,
  ReadonlyArray<RateLimit.Reading>,
  TokenStep.Writes
> = { load: load(lockOrMakeText), read, decide: TokenStep.spend, write }

/** `RateLimitStore.giveBack`. */
export const giveBack: StepOptions<TokenStep.Tokens, TokenStep.Loaded, void, TokenStep.Writes> = {
  load: load(lockText),
  read,
  decide: TokenStep.giveBack,
  write
}
