import { type Member, MemberStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { type Memory, State } from "./State.ts"

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
      findByUserId: (userId) => Effect.sync(() => membership(memory, memory.members.get(userId)))
    }))
)
