/**
 * Statements that lock webhooks' health. A transaction that changes anything of a webhook, except only its row in
 * `webhooks`, takes this lock first, and several in the order of ids.
 */
import type { Id } from "@wac/core"
import { list } from "../Columns.ts"
import { type Statement, statement } from "../Statement.ts"

/**
 * The strength of the lock: `key share` prevents a removal, `no key update` also prevents other changes, and `update`
 * is for a removal.
 */
export type Strength = "key share" | "no key update" | "update"

/** Prepares a statement that locks the health of workspaces' present webhooks. */
export const lockHealth = (strength: Strength) =>
  statement(
    { workspaces: list<Id.WorkspaceId>("text") },
    ({ workspaces }) =>
      `select h.webhook_id from wac.webhook_health h
    where h.webhook_id = any (array(select w.id from wac.webhooks w where w.workspace_id = any (${workspaces})))
    order by h.webhook_id for ${strength}`
  )

const lockAll = statement(
  { webhooks: list<Id.WebhookId>("text") },
  ({ webhooks }) =>
    `select h.webhook_id from wac.webhook_health h where h.webhook_id = any (${webhooks})
    order by h.webhook_id for no key update`
)

/** The statement that locks the health of webhooks against changes. */
export const lockHealthOf = (webhooks: ReadonlyArray<Id.WebhookId>): Statement =>
  lockAll({ webhooks: [...new Set(webhooks)] })
