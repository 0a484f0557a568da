/**
 * An index of the entries of the outbox that were not tried yet, so that a claim finds them behind any number of those
 * that wait for another try.
 */
import { ifMissing, type Index } from "../IndexBuild.ts"

export const index: Index = {
  name: "outbox_fresh",
  table: "outbox",
  definition: "(workspace_id, place) where moved_at is null and tries = 0"
}

export const sql = `
${ifMissing(index)};
comment on index outbox_fresh is 'The entries of each workspace that were not tried yet, in the order of arrival';
`
