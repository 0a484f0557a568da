/**
 * An index of each workspace's waiting entries of the outbox, so that the workspaces take turns.
 */
import { ifMissing, type Index } from "../IndexBuild.ts"

export const index: Index = {
  name: "outbox_lines",
  table: "outbox",
  definition: "(workspace_id, place) where moved_at is null"
}

export const sql = `
${ifMissing(index)};
comment on index outbox_lines is 'The waiting entries of each workspace, in the order of arrival';
comment on column outbox.moved_at is
  'When it became a message, queued or failed; or when a sweep last found that its key is still kept';
`
