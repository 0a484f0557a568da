/**
 * `PortalStore` in PostgreSQL: combines the operations of this folder (`OpenPortal`) and adds the short statements.
 */
import { PortalStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { callerClock } from "../CallerClock.ts"
import * as Clocks from "../Clocks.ts"
import { Database } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import { first, statement, value } from "../Statement.ts"
import { openPortal, portal } from "./OpenPortal.ts"

const create = statement({ link: portal.one, now: Clocks.asked }, ({ link, now }) => {
  const expiresAt = `p.now + ${link.expiresAt} - ${link.createdAt}`
  return `with present as materialized (select ${now} as now)
  insert into wac.portals (${portal.names()}, is_open)
  select ${portal.values({ ...link, createdAt: "p.now", expiresAt })}, false from present p
  returning ${portal.names()}`
})

const tokenHash = value<string>()

const find = statement({ tokenHash, now: Clocks.asked }, ({ now, tokenHash }) => `
  select ${portal.names("o")} from wac.portals o
  where o.token_hash = ${tokenHash} and o.is_open and o.expires_at > ${now}`)

const end = statement({ tokenHash }, ({ tokenHash }) => `
  delete from wac.portals o where o.token_hash = ${tokenHash} and o.is_open`)

const forget = Forgotten.endedBefore("wac.portals", "expires_at", "<=")

export const layer = Layer.effect(
  PortalStore.PortalStore,
  Effect.gen(function*() {
    const { query, stepped } = yield* Database
    const callerNow = yield* callerClock
    const opening = yield* stepped("PortalStore.open", openPortal)
    return PortalStore.PortalStore.of({
      create: (link) =>
        Effect.map(
          query("PortalStore.create", create({ link, now: callerNow(link.createdAt) })),
          ([created]) => portal.read(created!)
        ),
      open: (command) => Effect.map(opening(command), Option.fromUndefinedOr),
      find: (tokenHash, now) =>
        Effect.map(query("PortalStore.find", find({ tokenHash, now: callerNow(now) })), first(portal.read)),
      forget: (before) => Effect.map(query("PortalStore.forget", forget({ before })), Forgotten.read),
      end: (tokenHash) => Effect.asVoid(query("PortalStore.end", end({ tokenHash })))
    })
  })
)
