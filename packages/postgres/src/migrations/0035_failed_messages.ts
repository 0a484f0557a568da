/**
 * An index of the messages that failed. A failure is known by its time, which no other change of a message sets: so
 * sends and reports of messages that do not fail maintain no index (docs/decisions/0061-failed-messages.md).
 */
import { ifMissing, type Index } from "../IndexBuild.ts"

export const index: Index = {
  name: "messages_failed",
  table: "messages",
  definition: "(workspace_id, id) where failed_at is not null"
}

export const sql = `
${ifMissing(index)};
comment on index messages_failed is
  'For the list of failed messages. By the time of the failure, not the status: an index that knew the status would be maintained by every send and every report';
`
