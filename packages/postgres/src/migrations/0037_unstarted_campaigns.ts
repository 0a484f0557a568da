/**
 * An index of the campaigns that nobody has started, whose messages no list shows.
 */
import { ifMissing, type Index } from "../IndexBuild.ts"

export const index: Index = {
  name: "campaigns_unstarted",
  table: "campaigns",
  definition:
    "(workspace_id, id) where state ->> 'startedAt' is null and state ->> 'status' not in ('scheduled', 'paused')"
}

export const sql = `
${ifMissing(index)};
comment on index campaigns_unstarted is 'For lists of messages, which leave out those of these campaigns';
`
