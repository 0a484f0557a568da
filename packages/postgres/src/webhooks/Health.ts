/**
 * Locks on webhooks' health. A transaction that changes anything of a webhook other than its own row takes this lock
 * first, and several in the order of ids.
 */
import type { Id } from "@wac/core"
import { texts } from "../Parameter.ts"
import type { Statement } from "../Statement.ts"

/** The strength of the lock: against removal, against changes, or to remove. */
export type Strength = "key share" | "no key update" | "update"

/** Locks the health of workspaces' present webhooks. */
export const lockHealth = (workspaces: ReadonlyArray<Id.WorkspaceId>, strength: Strength): Statement => ({
  text: `select h.webhook_id from webhook_health h
    where h.webhook_id = any (array(select w.id from webhooks w where w.workspace_id = any ($1::text[])))
    order by h.webhook_id for ${strength}`,
  params: [texts(workspaces)]
})

/** Locks the health of webhooks. */
export const lockHealthOf = (webhooks: ReadonlyArray<Id.WebhookId>): Statement => ({
  text: `select h.webhook_id from webhook_health h where h.webhook_id = any ($1::text[])
    order by h.webhook_id for no key update`,
  params: [texts([...new Set(webhooks)])]
})
