/**
 * `InvitationStore` in memory: each method is one synchronous step over `State`, decided by `InvitationStep`.
 */
import {
  type Id,
  type Invitation,
  InvitationStep,
  InvitationStore,
  type Member,
  StorageTime,
  type Time
} from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { type Memory, State } from "../State.ts"
import { keepMember, setPassword } from "./MemberStore.ts"

const managers = (memory: Memory): InvitationStep.LoadedManagers => ({
  now: memory.now,
  roleOf: (workspaceId: Id.WorkspaceId, userId: Id.UserId): Member.Role | undefined =>
    memory.members.get(workspaceId)?.get(userId)?.role
})

const create = (
  memory: Memory,
  invitation: Invitation.Invitation & { readonly by: Invitation.Maker }
): InvitationStep.Created => {
  const pending = (workspaceId: Id.WorkspaceId, email: string) =>
    [...memory.invitations.values()].find((one) => one.workspaceId === workspaceId && one.email === email)
  const { answers, writes } = InvitationStep.create({ ...managers(memory), pending }, [invitation])
  for (const made of writes) {
    const replaced = pending(made.workspaceId, made.email)
    if (replaced !== undefined) memory.invitations.delete(replaced.tokenHash)
    memory.invitations.set(made.tokenHash, made, made.createdAt)
  }
  return answers[0]!
}

const list = (
  memory: Memory,
  workspaceId: Id.WorkspaceId,
  asked: Time.Instant
): ReadonlyArray<Invitation.Invitation> => {
  const now = memory.now(asked)
  return [...memory.invitations.values()].filter((one) => one.workspaceId === workspaceId && one.expiresAt > now)
    .sort((a, b) => a.id < b.id ? 1 : -1)
}

const withdraw = (memory: Memory, command: InvitationStep.Withdraw): InvitationStep.Withdrawn => {
  const { answers, writes } = InvitationStep.withdraw({
    ...managers(memory),
    invitation: (workspaceId, id) =>
      [...memory.invitations.values()].find((one) => one.id === id && one.workspaceId === workspaceId)
  }, [command])
  for (const { tokenHash } of writes) memory.invitations.delete(tokenHash)
  return answers[0]!
}

const accept = (memory: Memory, command: InvitationStep.Accept): InvitationStep.Accepted => {
  const { answers, writes } = InvitationStep.accept({
    ...managers(memory),
    invitation: (tokenHash) => memory.invitations.get(tokenHash),
    person: (email) => [...memory.people.values()].find((person) => person.email === email),
    isMember: (workspaceId, userId) => memory.members.get(workspaceId)?.has(userId) === true
  }, [command])
  for (const person of writes.people) memory.people.set(person.userId, person)
  for (const member of writes.members) keepMember(memory, member)
  for (const { tokenHash } of writes.accepted) memory.invitations.delete(tokenHash)
  return answers[0]!
}

const redeemReset = (memory: Memory, command: InvitationStep.Redeem): Id.UserId | undefined => {
  const { answers, writes } = InvitationStep.redeem({
    now: memory.now,
    reset: (tokenHash) => {
      const reset = memory.passwordResets.get(tokenHash)
      return reset !== undefined && memory.people.has(reset.userId) ? reset : undefined
    }
  }, [command])
  for (const { passwordHash, userId } of writes) setPassword(memory, userId, passwordHash)
  return answers[0]
}

export const layer = Layer.effect(
  InvitationStore.InvitationStore,
  Effect.map(State, (memory) =>
    InvitationStore.InvitationStore.of({
      create: (invitation) => Effect.sync(() => create(memory, invitation)),
      list: (workspaceId, now) => Effect.sync(() => list(memory, workspaceId, now)),
      find: (tokenHash) => Effect.sync(() => Option.fromUndefinedOr(memory.invitations.get(tokenHash))),
      withdraw: (command) => Effect.sync(() => withdraw(memory, command)),
      accept: (command) => Effect.sync(() => accept(memory, command)),
      createReset: (reset) =>
        Effect.sync(() => {
          const now = memory.now(reset.createdAt)
          const created = StorageTime.createdAt(reset, now, "expiresAt")
          memory.passwordResets.set(reset.tokenHash, created, now)
          return created
        }),
      findReset: (tokenHash, now) =>
        Effect.sync(() => {
          const reset = memory.passwordResets.get(tokenHash)
          return reset !== undefined && memory.now(now) < reset.expiresAt ? Option.some(reset.userId) : Option.none()
        }),
      redeemReset: (tokenHash, passwordHash, now) =>
        Effect.sync(() => Option.fromUndefinedOr(redeemReset(memory, { tokenHash, passwordHash, now })))
    }))
)
