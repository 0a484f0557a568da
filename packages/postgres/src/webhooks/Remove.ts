/**
 * Removes webhooks (core's `WebhookStep.remove`). Their deliveries stay as they are; `webhook_skips` states that the
 * pending ones are skipped. Claims stay, for the attempts in flight.
 */
import { Delivery, WebhookStep } from "@wac/core"
import type { StepOptions } from "../Database.ts"
import { instants, texts } from "../Parameter.ts"
import { lockHealth } from "./Health.ts"
import { delivery } from "./StoredDelivery.ts"
import { loadPresent, readPresent } from "./WebhookStep.ts"

/** The greatest position, which nothing will ever have. */
const everything = "9223372036854775807"

const skipsText = `insert into webhook_skips (webhook_id, until, skipped_at, created_before)
  select r.id, ${everything}, r.at, ${everything} from unnest($1::text[], $2::bigint[]) r (id, at)`

const skippedTests = delivery.pick("webhookId", "status", "nextAttemptAt", "completedAt")

/** Tests in progress, which are never skipped by position. */
const testsText = `update deliveries d set ${skippedTests.set("r", "webhookId")}
  from ${skippedTests.rows("r")} where d.webhook_id = r.webhook_id and d.status = 'testing'`

/** `WebhookStore.remove`. */
export const remove: StepOptions<WebhookStep.Named, WebhookStep.Loaded, boolean, WebhookStep.RemoveWrites> = {
  load: (commands) => {
    const workspaces = commands.map(({ workspaceId }) => workspaceId)
    return [lockHealth(workspaces, "update"), loadPresent(workspaces)]
  },
  read: (rows, now) => readPresent(rows.at(-1)!, now),
  decide: WebhookStep.remove,
  write: ({ removed }) => {
    if (removed.length === 0) return []
    const ids = texts(removed.map(({ webhook }) => webhook.id))
    const at = instants(removed.map(({ at }) => at))
    return [
      { text: "delete from webhooks w where w.id = any ($1::text[])", params: [ids] },
      { text: skipsText, params: [ids, at] },
      {
        text: testsText,
        params: skippedTests.params(
          removed.map(({ at, webhook }) => ({ ...Delivery.ending("skipped", at), webhookId: webhook.id }))
        )
      },
      { text: "delete from webhook_drains n where n.webhook_id = any ($1::text[])", params: [ids] }
    ]
  }
}
