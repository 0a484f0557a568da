import { type Member, MemberStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { type Memory, State } from "../State.ts"

const membership = (memory: Memory, member: Member.Member | undefined): Option.Option<MemberStore.Membership> => {
  if (member === undefined) return Option.none()
  const workspace = memory.workspaces.get(member.workspaceId)
  return Option.map(Option.fromUndefinedOr(workspace), (workspace) => ({ member, workspace }))
}

export const layer = Layer.effect(
  MemberStore.MemberStore,
  Effect.map(State, (memory) =>
    MemberStore.MemberStore.of({
      findByEmail: (email) =>
        Effect.sync(() => membership(memory, [...memory.members.values()].find((member) => member.email === email))),
      list: Effect.sync(() =>
        [...memory.members.values()]
          .sort((a, b) => a.createdAt - b.createdAt)
          .flatMap((member) => Option.toArray(membership(memory, member)))
      ),
      setPassword: (userId, passwordHash) =>
        Effect.sync(() => {
          const member = memory.members.get(userId)
          if (member === undefined) return Option.none()
          memory.members.set(userId, { ...member, passwordHash })
          const theirs = [...memory.sessions.values()].filter((session) => session.userId === userId)
          for (const { tokenHash } of theirs) memory.sessions.delete(tokenHash)
          return Option.some(theirs.length)
        }),
      findByUserId: (userId) => Effect.sync(() => membership(memory, memory.members.get(userId)))
    }))
)
