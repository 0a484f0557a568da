/**
 * Removes webhooks (core's `WebhookStep.remove`). Their deliveries stay as they are; `webhook_skips` states that the
 * pending ones are skipped. Claims stay, for the attempts in flight.
 */
import { Delivery, type Id, WebhookStep } from "@wac/core"
import { bigint, list, row, text, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { lockHealth } from "./Health.ts"
import { delivery } from "./StoredDelivery.ts"
import { loadPresent, readPresent } from "./WebhookStep.ts"

/** The greatest possible position, which no delivery will ever have: all deliveries up to it are skipped. */
export const everything = "9223372036854775807"

const skip = unlessEmpty(
  row({ webhookId: text<Id.WebhookId>(), at: bigint() }),
  (rows) =>
    `insert into wac.webhook_skips (webhook_id, until, skipped_at, created_before)
  select r.webhook_id, ${everything}, r.at, ${everything} from ${rows("r")}`
)

const skippedTests = delivery.pick("webhookId", "status", "nextAttemptAt", "completedAt")

/** Ends tests in progress as skipped, since they are never skipped by position. */
const skipTests = unlessEmpty(skippedTests, (rows) =>
  `update wac.deliveries d set ${skippedTests.set("r", "webhookId")}
  from ${rows("r")} where d.webhook_id = r.webhook_id and d.status = 'testing'`)

const ids = list<Id.WebhookId>("text")
const removeWebhooks = unlessEmpty(ids, (ids) => `delete from wac.webhooks w where w.id = any (${ids})`)
const removeDrains = unlessEmpty(ids, (ids) => `delete from wac.webhook_drains n where n.webhook_id = any (${ids})`)

const lock = lockHealth("update")

/** `WebhookStore.remove`. */
export const remove: StepOptions<WebhookStep.Named, WebhookStep.Loaded, boolean, WebhookStep.RemoveWrites> = {
  load: (commands) => {
    const workspaces = commands.map(({ workspaceId }) => workspaceId)
    return [lock({ workspaces }), loadPresent({ workspaces })]
  },
  read: (rows, now) => readPresent(rows.at(-1)!, now),
  decide: WebhookStep.remove,
  write: ({ removed }) => {
    const ids = removed.map(({ webhook }) => webhook.id)
    return [
      ...removeWebhooks(ids),
      ...skip(removed.map(({ at, webhook }) => ({ webhookId: webhook.id, at }))),
      ...skipTests(removed.map(({ at, webhook }) => ({ ...Delivery.ending("skipped", at), webhookId: webhook.id }))),
      ...removeDrains(ids)
    ]
  }
}
