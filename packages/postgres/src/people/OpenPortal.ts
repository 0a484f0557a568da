/**
 * How PostgreSQL carries out `PortalStore.open`: the link's row lock lets one request after another decide.
 */
import { type Portal, PortalStep } from "@wac/core"
import { instant, plain } from "../Column.ts"
import type { StepOptions } from "../Database.ts"
import type { Row } from "../Statement.ts"

export const columns = "o.id, o.token_hash, o.workspace_id, o.role, o.visitor, o.created_at, o.expires_at"

export const portalOf = (row: Row): Portal.Portal => ({
  id: plain(row, "id"),
  tokenHash: plain(row, "token_hash"),
  workspaceId: plain(row, "workspace_id"),
  role: plain(row, "role"),
  visitor: plain(row, "visitor"),
  createdAt: instant(row, "created_at"),
  expiresAt: instant(row, "expires_at")
})

const lockText = `select ${columns}, o.is_open from portals o where o.token_hash = $1 for update`

const openText = `update portals o set token_hash = $2, is_open = true, created_at = $3, expires_at = $4
  where o.token_hash = $1`

/** `PortalStore.open`, one at a time: the sweep, which deletes many rows, locks them in another order. */
export const openPortal: StepOptions<
  PortalStep.Open,
  PortalStep.Loaded,
  Portal.Portal | undefined,
  ReadonlyArray<PortalStep.Opened>
> = {
  size: 1,
  load: ([command]) => [{ text: lockText, params: [command!.tokenHash] }],
  read: ([rows], now) => {
    const [row] = rows!
    return {
      now,
      kept: () => row === undefined ? undefined : { portal: portalOf(row), isOpen: plain(row, "is_open") }
    }
  },
  decide: PortalStep.open,
  write: (opened) =>
    opened.map(({ session, tokenHash }) => ({
      text: openText,
      params: [tokenHash, session.tokenHash, session.createdAt, session.expiresAt]
    }))
}
