/**
 * `SessionStore` in PostgreSQL: the statements of its methods.
 */
import { type Id, type Member, Session, SessionStore } from "@wac/core"
import { Duration, Effect, Layer, Option } from "effect"
import { callerClock } from "../CallerClock.ts"
import * as Clocks from "../Clocks.ts"
import { columns } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import type { Row } from "../Statement.ts"

/** A JSON object, which the constraint of the column holds to one. */
const rolesOf = (stored: { readonly [workspaceId: string]: Member.Role } | null): Session.Roles | null =>
  stored && new Map(Object.entries(stored).map(([workspaceId, role]) => [workspaceId as Id.WorkspaceId, role]))

const session = columns<
  Omit<SessionStore.StoredSession, "roles"> & { readonly roles: Parameters<typeof rolesOf>[0] }
>({
  id: "text",
  tokenHash: "text",
  userId: "text",
  workspaceId: "text",
  roles: "json",
  address: "text",
  agent: "text",
  createdAt: "bigint",
  idleUntil: "bigint",
  absoluteUntil: "bigint"
})

const sessionOf = (row: Row): SessionStore.StoredSession => {
  const { roles, ...others } = session.read(row)
  return { ...others, roles: rolesOf(roles) }
}

const forgottenAtOnce = 1000

const forgetText = `with gone as (
    delete from sessions s where s.ctid = any (array(
      select s.ctid from sessions s where s.absolute_until <= $1 order by s.absolute_until limit $2
    ))
    returning s.id
  )
  select ${Forgotten.columns("$2")} from gone`

export const layer = Layer.effect(
  SessionStore.SessionStore,
  Effect.map(Effect.all([Database, callerClock]), ([{ query }, callerNow]) =>
    SessionStore.SessionStore.of({
      create: (session, { of, passwordHash, provenAt } = {}) =>
        Effect.map(
          query(
            "SessionStore.create",
            // the person's row is locked against a change of the password (SetPassword), which ends all sessions: one
            // of the two comes first, and a session that comes second sees the new password
            `with held as (
              select p.user_id from people p
              where p.user_id = $2 and ($7::text is null or p.password_hash = $7)
              for share
            ), present as materialized (
              select coalesce($3::bigint, ${Clocks.now}) as now, h.user_id from held h
            ), ended as (
              delete from sessions where token_hash = $6 and exists (select from present)
            ), kept as (
              insert into sessions (token_hash, user_id, created_at, idle_until, absolute_until, id, workspace_id,
                address, agent, roles, proven_at)
              select $1, p.user_id, p.now, p.now + $4::bigint, p.now + $5::bigint, $8, $9, $10, $11,
                $12::text::jsonb, $13
              from present p
              on conflict (token_hash) do nothing
            )
            select user_id from present`,
            [
              session.tokenHash,
              session.userId,
              callerNow(session.createdAt) ?? null,
              session.idleUntil - session.createdAt,
              session.absoluteUntil - session.createdAt,
              of ?? null,
              passwordHash ?? null,
              session.id,
              session.workspaceId,
              session.address,
              session.agent,
              session.roles && JSON.stringify(Object.fromEntries(session.roles)),
              provenAt ?? null
            ]
          ),
          (rows) => rows.length > 0
        ),
      use: (tokenHash, now, idleUntil) =>
        Effect.map(
          query(
            "SessionStore.use",
            // the rule of Session.used as a condition: every request of the dashboard waits for this, and a step would
            // take a second round trip. The conformance suite compares the two
            `with present as materialized (select coalesce($2::bigint, ${Clocks.now}) as now)
            update sessions set idle_until = greatest(idle_until, least(p.now + $3::bigint, absolute_until))
            from present p
            where token_hash = $1 and p.now < idle_until and p.now < absolute_until
            returning ${session.names()}`,
            [tokenHash, callerNow(now) ?? null, idleUntil - now]
          ),
          ([row]) => Option.map(Option.fromUndefinedOr(row), sessionOf)
        ),
      isFresh: (tokenHash, now) =>
        Effect.map(
          query(
            "SessionStore.isFresh",
            `select from sessions
            where token_hash = $1 and ${Clocks.at("$2")} < coalesce(proven_at, created_at) + $3::bigint`,
            [tokenHash, callerNow(now) ?? null, Duration.toMillis(Session.freshFor)]
          ),
          (rows) => rows.length > 0
        ),
      prove: (tokenHash, now) =>
        Effect.asVoid(
          query(
            "SessionStore.prove",
            `update sessions set proven_at = ${Clocks.at("$2")} where token_hash = $1`,
            [tokenHash, callerNow(now) ?? null]
          )
        ),
      list: (userId, now) =>
        Effect.map(
          query(
            "SessionStore.list",
            `select ${session.names()} from sessions
            where user_id = $1 and idle_until > ${Clocks.at("$2")} and absolute_until > ${Clocks.at("$2")}
            order by created_at desc, id desc`,
            [userId, callerNow(now) ?? null]
          ),
          (rows) => rows.map(sessionOf)
        ),
      end: (userId, id) =>
        Effect.map(
          query("SessionStore.end", "delete from sessions where user_id = $1 and id = $2 returning id", [userId, id]),
          (rows) => rows.length > 0
        ),
      endAll: (userId, keep) =>
        Effect.map(
          query(
            "SessionStore.endAll",
            "delete from sessions where user_id = $1 and token_hash is distinct from $2 returning id",
            [userId, keep ?? null]
          ),
          (rows) => rows.length
        ),
      move: (tokenHash, workspaceId) =>
        Effect.asVoid(
          query("SessionStore.move", "update sessions set workspace_id = $2 where token_hash = $1", [
            tokenHash,
            workspaceId
          ])
        ),
      forget: (before) =>
        Effect.map(
          query("SessionStore.forget", forgetText, [before, forgottenAtOnce]),
          Forgotten.read
        ),
      remove: (tokenHash) =>
        Effect.asVoid(query("SessionStore.remove", "delete from sessions where token_hash = $1", [tokenHash]))
    }))
)
