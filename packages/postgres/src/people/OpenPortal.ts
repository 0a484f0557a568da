/**
 * How PostgreSQL carries out `PortalStore.open`: the link's row lock lets one request after another decide.
 */
import { type Portal, PortalStep } from "@wac/core"
import { boolean, columns, row } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"

export const portal = columns<Portal.Portal>({
  id: "text",
  tokenHash: "text",
  workspaceId: "text",
  role: "text",
  visitor: "text",
  createdAt: "bigint",
  expiresAt: "bigint"
})

const opened = row({ isOpen: boolean() })

const lockText = `select ${portal.names("o")}, o.is_open from portals o where o.token_hash = $1 for update`

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
      kept: () => row === undefined ? undefined : { portal: portal.read(row), ...opened.read(row) }
    }
  },
  decide: PortalStep.open,
  write: (opened) =>
    opened.map(({ session, tokenHash }) => ({
      text: openText,
      params: [tokenHash, session.tokenHash, session.createdAt, session.expiresAt]
    }))
}
