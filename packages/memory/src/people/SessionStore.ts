import { SessionStore, type Time } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { type Memory, State } from "../State.ts"

const use = (
  memory: Memory,
  tokenHash: string,
  now: Time.Instant,
  idleUntil: Time.Instant
): Option.Option<SessionStore.StoredSession> => {
  const session = memory.sessions.get(tokenHash)
  if (session === undefined || now >= session.idleUntil || now >= session.absoluteUntil) return Option.none()
  const used = { ...session, idleUntil: Math.max(session.idleUntil, Math.min(idleUntil, session.absoluteUntil)) }
  memory.sessions.set(tokenHash, used, now)
  return Option.some(used)
}

export const layer = Layer.effect(
  SessionStore.SessionStore,
  Effect.map(State, (memory) =>
    SessionStore.SessionStore.of({
      create: (session, { of, passwordHash } = {}) =>
        Effect.sync(() => {
          if (passwordHash !== undefined && memory.members.get(session.userId)?.passwordHash !== passwordHash) {
            return false
          }
          if (of !== undefined) memory.sessions.delete(of)
          const now = memory.now(session.createdAt)
          memory.sessions.set(session.tokenHash, SessionStore.createdAt(session, now), now)
          return true
        }),
      use: (tokenHash, asked, idleUntil) =>
        Effect.sync(() => {
          const now = memory.now(asked)
          return use(memory, tokenHash, now, now + idleUntil - asked)
        }),
      remove: (tokenHash) => Effect.sync(() => memory.sessions.delete(tokenHash))
    }))
)
