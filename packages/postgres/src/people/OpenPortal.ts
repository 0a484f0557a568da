/**
 * `PortalStore.open` in PostgreSQL. The lock on the link's row makes concurrent requests decide one after another.
 */
import { type Portal, PortalStep } from "@wac/core"
import { boolean, columns, row } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { statement, value } from "../Statement.ts"

/** The columns of a portal's link or session. */
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

const tokenHash = value<string>()

const lock = statement({ tokenHash }, ({ tokenHash }) => `
  select ${portal.names("o")}, o.is_open from wac.portals o where o.token_hash = ${tokenHash} for update`)

const open = statement(
  { tokenHash, session: portal.pick("tokenHash", "createdAt", "expiresAt").one },
  ({ session, tokenHash }) =>
    `update wac.portals o set token_hash = ${session.tokenHash}, is_open = true, created_at = ${session.createdAt},
    expires_at = ${session.expiresAt} where o.token_hash = ${tokenHash}`
)

/** `PortalStore.open`. Each step locks a single row, because the sweep locks many in a different order. */
export const openPortal: StepOptions<
  PortalStep.Open,
  PortalStep.Loaded,
  Portal.Portal | undefined,
  ReadonlyArray<PortalStep.Opened>
> = {
  size: 1,
  load: ([command]) => [lock(command!)],
  read: ([rows], now) => {
    const [row] = rows!
    return {
      now,
      kept: () => row === undefined ? undefined : { portal: portal.read(row), ...opened.read(row) }
    }
  },
  decide: PortalStep.open,
  write: (opened) => opened.map(open)
}
