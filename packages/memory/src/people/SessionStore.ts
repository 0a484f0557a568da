/**
 * `SessionStore` in memory: each method is one synchronous step over `State`.
 */
import { Session, SessionStore, StorageTime, type Time } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { type Memory, State } from "../State.ts"

const use = (
  memory: Memory,
  tokenHash: string,
  now: Time.Instant,
  idleUntil: Time.Instant
): Option.Option<SessionStore.StoredSession> => {
  const session = memory.sessions.get(tokenHash)
  const used = session && Session.used(session, now, idleUntil)
  if (used !== undefined) memory.sessions.set(tokenHash, used, now)
  return Option.fromUndefinedOr(used)
}

export const layer = Layer.effect(
  SessionStore.SessionStore,
  Effect.map(State, (memory) =>
    SessionStore.SessionStore.of({
      create: (session, { of, passwordHash } = {}) =>
        Effect.sync(() => {
          const person = memory.people.get(session.userId)
          if (person === undefined || (passwordHash !== undefined && person.passwordHash !== passwordHash)) return false
          if (of !== undefined) memory.sessions.delete(of)
          const now = memory.now(session.createdAt)
          memory.sessions.set(session.tokenHash, StorageTime.createdAt(session, now, "idleUntil", "absoluteUntil"), now)
          return true
        }),
      use: (tokenHash, asked, idleUntil) =>
        Effect.sync(() => {
          const now = memory.now(asked)
          return use(memory, tokenHash, now, now + idleUntil - asked)
        }),
      list: (userId, asked) =>
        Effect.sync(() => {
          const now = memory.now(asked)
          return [...memory.sessions.values()].filter((session) =>
            session.userId === userId && Session.isLive(session, now)
          ).sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
        }),
      end: (userId, id) =>
        Effect.sync(() => {
          const own = [...memory.sessions.values()].find((session) => session.userId === userId && session.id === id)
          if (own !== undefined) memory.sessions.delete(own.tokenHash)
          return own !== undefined
        }),
      move: (tokenHash, workspaceId) =>
        Effect.sync(() => {
          const session = memory.sessions.get(tokenHash)
          if (session !== undefined) memory.sessions.set(tokenHash, { ...session, workspaceId }, 0)
        }),
      // expired ones are dropped as the map grows
      forget: () => Effect.succeed(false),
      remove: (tokenHash) => Effect.sync(() => memory.sessions.delete(tokenHash))
    }))
)
