/**
 * `SessionStore` in memory: each method is one synchronous step over `State`.
 */
import { Session, SessionStore, StorageTime, type Time } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { type Memory, type SessionRecord, State } from "../State.ts"

const shown = ({ provenAt: _, ...session }: SessionRecord): SessionStore.StoredSession => session

const use = (
  memory: Memory,
  tokenHash: string,
  now: Time.Instant,
  idleUntil: Time.Instant
): Option.Option<SessionStore.StoredSession> => {
  const session = memory.sessions.get(tokenHash)
  const used = session && Session.used(session, now, idleUntil)
  if (used !== undefined) memory.sessions.set(tokenHash, used, now)
  return Option.map(Option.fromUndefinedOr(used), shown)
}

export const layer = Layer.effect(
  SessionStore.SessionStore,
  Effect.map(State, (memory) =>
    SessionStore.SessionStore.of({
      create: (session, { isContinuing = false, of, passwordHash, provenAt } = {}) =>
        Effect.sync(() => {
          const person = memory.people.get(session.userId)
          if (person === undefined || (passwordHash !== undefined && person.passwordHash !== passwordHash)) return false
          const before = of === undefined ? undefined : memory.sessions.get(of)
          if (isContinuing && before?.userId !== session.userId) return false
          if (of !== undefined) memory.sessions.delete(of)
          const now = memory.now(session.createdAt)
          const created = StorageTime.createdAt(session, now, "idleUntil", "absoluteUntil")
          memory.sessions.set(session.tokenHash, {
            ...created,
            provenAt: provenAt ?? created.createdAt,
            ...isContinuing && before !== undefined && {
              provenAt: before.provenAt,
              absoluteUntil: before.absoluteUntil,
              idleUntil: Math.min(created.idleUntil, before.absoluteUntil)
            }
          }, now)
          return true
        }),
      use: (tokenHash, asked, idleUntil) =>
        Effect.sync(() => {
          const now = memory.now(asked)
          return use(memory, tokenHash, now, now + idleUntil - asked)
        }),
      isFresh: (tokenHash, asked) =>
        Effect.sync(() => {
          const session = memory.sessions.get(tokenHash)
          return session !== undefined && Session.isFresh(session.provenAt, memory.now(asked))
        }),
      prove: (tokenHash, asked, next) =>
        Effect.sync(() => {
          const session = memory.sessions.get(tokenHash)
          if (session === undefined) return false
          memory.sessions.delete(tokenHash)
          memory.sessions.set(next, { ...session, tokenHash: next, provenAt: memory.now(asked) }, 0)
          return true
        }),
      list: (userId, asked) =>
        Effect.sync(() => {
          const now = memory.now(asked)
          return [...memory.sessions.values()].filter((session) =>
            session.userId === userId && Session.isLive(session, now)
          ).sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)).map(shown)
        }),
      end: (userId, id) =>
        Effect.sync(() => {
          const own = [...memory.sessions.values()].find((session) => session.userId === userId && session.id === id)
          if (own !== undefined) memory.sessions.delete(own.tokenHash)
          return own !== undefined
        }),
      endAll: (userId, keep) =>
        Effect.sync(() => {
          const theirs = [...memory.sessions.values()].filter((session) =>
            session.userId === userId && session.tokenHash !== keep
          )
          for (const { tokenHash } of theirs) memory.sessions.delete(tokenHash)
          return theirs.length
        }),
      move: (tokenHash, workspaceId) =>
        Effect.sync(() => {
          const session = memory.sessions.get(tokenHash)
          if (session !== undefined) memory.sessions.set(tokenHash, { ...session, workspaceId }, 0)
        }),
      forget: (before) =>
        Effect.sync(() => ({
          removed: memory.sessions.forget(({ absoluteUntil }) => absoluteUntil <= before),
          isMore: false
        })),
      remove: (tokenHash) => Effect.sync(() => memory.sessions.delete(tokenHash))
    }))
)
