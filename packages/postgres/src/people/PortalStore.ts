/**
 * `PortalStore` in PostgreSQL: combines the operations of this folder (`OpenPortal`) and adds the short statements.
 */
import { PortalStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { callerClock } from "../CallerClock.ts"
import * as Clocks from "../Clocks.ts"
import { Database } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import type { Row } from "../Statement.ts"
import { openPortal, portal } from "./OpenPortal.ts"

const forgottenAtOnce = 1000

const forgetText = `with gone as (
    delete from portals o where o.ctid = any (array(
      select o.ctid from portals o where o.expires_at <= $1 order by o.expires_at limit $2
    ))
    returning o.id
  )
  select ${Forgotten.columns("$2")} from gone`

const createText = `with present as materialized (select ${Clocks.at("$6")} as now)
  insert into portals (id, token_hash, workspace_id, role, visitor, is_open, created_at, expires_at)
  select $1, $2, $3, $4, $5, false, p.now, p.now + $7::bigint from present p`

const findText = `select ${portal.names("o")} from portals o
  where o.token_hash = $1 and o.is_open and o.expires_at > ${Clocks.at("$2")}`

const endText = "delete from portals o where o.token_hash = $1 and o.is_open"

const first = ([row]: ReadonlyArray<Row>) => Option.map(Option.fromUndefinedOr(row), portal.read)

export const layer = Layer.effect(
  PortalStore.PortalStore,
  Effect.gen(function*() {
    const { query, stepped } = yield* Database
    const callerNow = yield* callerClock
    const opening = yield* stepped("PortalStore.open", openPortal)
    return PortalStore.PortalStore.of({
      create: ({ createdAt, expiresAt, id, role, tokenHash, visitor, workspaceId }) =>
        Effect.asVoid(
          query("PortalStore.create", createText, [
            id,
            tokenHash,
            workspaceId,
            role,
            visitor,
            callerNow(createdAt) ?? null,
            expiresAt - createdAt
          ])
        ),
      open: (command) => Effect.map(opening(command), Option.fromUndefinedOr),
      find: (sessionHash, now) =>
        Effect.map(query("PortalStore.find", findText, [sessionHash, callerNow(now) ?? null]), first),
      forget: (before) =>
        Effect.map(
          query("PortalStore.forget", forgetText, [before, forgottenAtOnce]),
          Forgotten.read
        ),
      end: (sessionHash) => Effect.asVoid(query("PortalStore.end", endText, [sessionHash]))
    })
  })
)
