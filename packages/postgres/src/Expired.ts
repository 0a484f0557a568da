/**
 * Deletes expired rows whenever one is stored, so that there are never more than there were at a time, and no sweep is
 * needed.
 */
import type { Relation } from "./Schema.ts"

/**
 * Deletes one row of a table that has `expires_at`, and an index of it. One, because a plan that was made for a small
 * table would look for several in the whole table. `at` is an expression that is the same in all rows, and `others` a
 * condition on the row `o`.
 */
export const forgetOne = (table: Relation, at: string, others = "true"): string =>
  `delete from ${table} e where e.ctid = (
    select o.ctid from ${table} o where o.expires_at <= ${at} and ${others}
    order by o.expires_at limit 1 for update skip locked
  )`
