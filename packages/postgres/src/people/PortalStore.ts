/**
 * `PortalStore` in PostgreSQL: the statements of its methods.
 */
import { type Portal, PortalStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { asked } from "../Asked.ts"
import * as Clocks from "../Clocks.ts"
import { instant, plain } from "../Column.ts"
import { Database } from "../Database.ts"
import type { Row } from "../Statement.ts"

const columns = "o.id, o.token_hash, o.workspace_id, o.role, o.visitor, o.created_at, o.expires_at"

const portalOf = (row: Row): Portal.Portal => ({
  id: plain(row, "id"),
  tokenHash: plain(row, "token_hash"),
  workspaceId: plain(row, "workspace_id"),
  role: plain(row, "role"),
  visitor: plain(row, "visitor"),
  createdAt: instant(row, "created_at"),
  expiresAt: instant(row, "expires_at")
})

const forgottenAtOnce = 1000

const forgetText = `with gone as (
    delete from portals o where o.ctid = any (array(
      select o.ctid from portals o where o.expires_at <= $1 order by o.expires_at limit $2
    ))
    returning o.id
  )
  select count(*) = $2 as is_more from gone`

const createText = `with present as materialized (select ${Clocks.at("$6")} as now)
  insert into portals (id, token_hash, workspace_id, role, visitor, is_open, created_at, expires_at)
  select $1, $2, $3, $4, $5, false, p.now, p.now + $7::bigint from present p`

const openText = `with present as materialized (select ${Clocks.at("$3")} as now)
  update portals o set token_hash = $2, is_open = true, created_at = p.now, expires_at = p.now + $4::bigint
  from present p where o.token_hash = $1 and not o.is_open and o.expires_at > p.now
  returning ${columns}`

const findText = `select ${columns} from portals o
  where o.token_hash = $1 and o.is_open and o.expires_at > ${Clocks.at("$2")}`

const endText = "delete from portals o where o.token_hash = $1 and o.is_open"

const first = ([row]: ReadonlyArray<Row>) => Option.map(Option.fromUndefinedOr(row), portalOf)

export const layer = Layer.effect(
  PortalStore.PortalStore,
  Effect.map(Effect.all([Database, asked]), ([{ query }, askedAt]) =>
    PortalStore.PortalStore.of({
      create: ({ createdAt, expiresAt, id, role, tokenHash, visitor, workspaceId }) =>
        Effect.asVoid(
          query("PortalStore.create", createText, [
            id,
            tokenHash,
            workspaceId,
            role,
            visitor,
            askedAt(createdAt) ?? null,
            expiresAt - createdAt
          ])
        ),
      open: ({ expiresAt, now, sessionHash, tokenHash }) =>
        Effect.map(
          query("PortalStore.open", openText, [tokenHash, sessionHash, askedAt(now) ?? null, expiresAt - now]),
          first
        ),
      find: (sessionHash, now) =>
        Effect.map(query("PortalStore.find", findText, [sessionHash, askedAt(now) ?? null]), first),
      forget: (before) =>
        Effect.map(
          query("PortalStore.forget", forgetText, [before, forgottenAtOnce]),
          ([row]) => plain<boolean>(row!, "is_more")
        ),
      end: (sessionHash) => Effect.asVoid(query("PortalStore.end", endText, [sessionHash]))
    }))
)
