/**
 * SQL that deletes an expired row whenever a row is stored. The table never grows beyond the most rows that were valid
 * at one time, so its size needs no sweep.
 */
import type { Relation } from "./Schema.ts"

/**
 * Deletes one expired row of a table that has an indexed column `expires_at`. Only one, because a plan that was made
 * while the table was small would search the whole table for several. `at` is an expression for the time that is
 * constant for all rows, `others` a further condition on the row `o`.
 */
export const forgetOne = (table: Relation, at: string, others = "true"): string =>
  `delete from ${table} e where e.ctid = (
    select o.ctid from ${table} o where o.expires_at <= ${at} and ${others}
    order by o.expires_at limit 1 for update skip locked
  )`
