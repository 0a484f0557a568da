/**
 * Locks of webhooks' health: who changes what is of a webhook, but for its own row, waits for it first, and several in the
 * order of their names.
 */
import type { Id } from "@wac/core"
import { texts } from "../Parameter.ts"
import type { Statement } from "../Statement.ts"

/** How a row is locked: against removal, against changes, or by who removes it. */
export type Strength = "key share" | "no key update" | "update"

/** Locks the health of the present webhooks of workspaces. */
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
