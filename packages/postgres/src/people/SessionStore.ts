import { SessionStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { asked } from "../Asked.ts"
import { instant, plain } from "../Column.ts"
import { Database } from "../Database.ts"
import type { Row } from "../Statement.ts"

const sessionOf = (row: Row): SessionStore.StoredSession => ({
  tokenHash: plain(row, "token_hash"),
  userId: plain(row, "user_id"),
  createdAt: instant(row, "created_at"),
  idleUntil: instant(row, "idle_until"),
  absoluteUntil: instant(row, "absolute_until")
})

export const layer = Layer.effect(
  SessionStore.SessionStore,
  Effect.map(Effect.all([Database, asked]), ([{ query }, askedAt]) =>
    SessionStore.SessionStore.of({
      // sessions that have ended leave when somebody signs in, more than come
      create: ({ absoluteUntil, createdAt, idleUntil, tokenHash, userId }, { of, passwordHash } = {}) =>
        Effect.map(
          query(
            "SessionStore.create",
            // the member's row is locked against a change of the password (wac_set_password), which ends all sessions:
            // one of the two comes first, and a session that comes second sees the new password
            `with held as (
              select m.user_id from members m
              where m.user_id = $2 and ($7::text is null or m.password_hash = $7)
              for share
            ), present as materialized (
              select coalesce($3::bigint, wac_now()) as now, h.user_id from held h
            ), ended as (
              delete from sessions where exists (select from present) and (token_hash = $6 or token_hash = any (array(
                select s.token_hash from sessions s where s.absolute_until <= (select p.now from present p)
                order by s.absolute_until limit 100
              )))
            ), kept as (
              insert into sessions (token_hash, user_id, created_at, idle_until, absolute_until)
              select $1, p.user_id, p.now, p.now + $4::bigint, p.now + $5::bigint from present p
              on conflict (token_hash) do nothing
            )
            select user_id from present`,
            [
              tokenHash,
              userId,
              askedAt(createdAt) ?? null,
              idleUntil - createdAt,
              absoluteUntil - createdAt,
              of ?? null,
              passwordHash ?? null
            ]
          ),
          (rows) => rows.length > 0
        ),
      use: (tokenHash, now, idleUntil) =>
        Effect.map(
          query(
            "SessionStore.use",
            `with present as materialized (select coalesce($2::bigint, wac_now()) as now)
            update sessions set idle_until = greatest(idle_until, least(p.now + $3::bigint, absolute_until))
            from present p
            where token_hash = $1 and p.now < idle_until and p.now < absolute_until
            returning token_hash, user_id, created_at, idle_until, absolute_until`,
            [tokenHash, askedAt(now) ?? null, idleUntil - now]
          ),
          ([row]) => Option.map(Option.fromUndefinedOr(row), sessionOf)
        ),
      remove: (tokenHash) =>
        Effect.asVoid(query("SessionStore.remove", "delete from sessions where token_hash = $1", [tokenHash]))
    }))
)
