/**
 * An index of the entries of the outbox that wait for another try, so that a claim reads only those whose time has come.
 */
import { ifMissing, type Index } from "../IndexBuild.ts"

export const index: Index = {
  name: "outbox_again",
  table: "outbox",
  definition: "(workspace_id, due_at, place) where moved_at is null and tries > 0"
}

export const sql = `
${ifMissing(index)};
comment on index outbox_again is 'The entries of each workspace that wait for another try, the first due one first';
`
