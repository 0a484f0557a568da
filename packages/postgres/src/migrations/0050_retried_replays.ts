/**
 * An index of the replayed deliveries that are to be tried again. A replay counts them, and would otherwise read all
 * retries of its webhook (docs/decisions/0010-pausing-and-resuming.md).
 */
import { ifMissing, type Index } from "../IndexBuild.ts"

export const index: Index = {
  name: "deliveries_retried_replays",
  table: "deliveries",
  definition: "(webhook_id) where status = 'pending' and round_attempts > 0 and trigger = 'replay'"
}

export const sql = `
${ifMissing(index)};
comment on index deliveries_retried_replays is
  'Open rounds of replays after their first attempt: with deliveries_replayed, what a replay counts before it begins more';
`
