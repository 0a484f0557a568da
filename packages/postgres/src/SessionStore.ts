import { SessionStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { instant, plain } from "./Column.ts"
import { Database, type Row } from "./Database.ts"

const sessionOf = (row: Row): SessionStore.StoredSession => ({
  tokenHash: plain(row, "token_hash"),
  userId: plain(row, "user_id"),
  createdAt: instant(row, "created_at"),
  idleUntil: instant(row, "idle_until"),
  absoluteUntil: instant(row, "absolute_until")
})

export const layer = Layer.effect(
  SessionStore.SessionStore,
  Effect.map(Database, ({ query }) =>
    SessionStore.SessionStore.of({
      // sessions that have ended leave when somebody signs in, more than come
      create: ({ absoluteUntil, createdAt, idleUntil, tokenHash, userId }) =>
        Effect.asVoid(query(
          "SessionStore.create",
          `with ended as (
            delete from sessions where token_hash = any (array(
              select s.token_hash from sessions s where s.absolute_until <= $3 order by s.absolute_until limit 100
            ))
          )
          insert into sessions (token_hash, user_id, created_at, idle_until, absolute_until)
          values ($1, $2, $3, $4, $5)
          on conflict (token_hash) do nothing`,
          [tokenHash, userId, createdAt, idleUntil, absoluteUntil]
        )),
      use: (tokenHash, now, idleUntil) =>
        Effect.map(
          query(
            "SessionStore.use",
            `update sessions set idle_until = greatest(idle_until, least($3, absolute_until))
            where token_hash = $1 and $2 < idle_until and $2 < absolute_until
            returning token_hash, user_id, created_at, idle_until, absolute_until`,
            [tokenHash, now, idleUntil]
          ),
          ([row]) => Option.map(Option.fromUndefinedOr(row), sessionOf)
        ),
      remove: (tokenHash) =>
        Effect.asVoid(query("SessionStore.remove", "delete from sessions where token_hash = $1", [tokenHash]))
    }))
)
