/**
 * `InvitationStore` in memory: each method is one synchronous step over `State`, decided by `InvitationStep`.
 */
import { type Id, type Invitation, InvitationStep, InvitationStore, StorageTime, type Time } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { type Memory, State } from "../State.ts"
import { keepMember, setPassword } from "./MemberStore.ts"

const create = (memory: Memory, invitation: Invitation.Invitation): void => {
  for (const { email, tokenHash, workspaceId } of memory.invitations.values()) {
    if (workspaceId === invitation.workspaceId && email === invitation.email) memory.invitations.delete(tokenHash)
  }
  const now = memory.now(invitation.createdAt)
  memory.invitations.set(invitation.tokenHash, StorageTime.createdAt(invitation, now, "expiresAt"), now)
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

const remove = (memory: Memory, workspaceId: Id.WorkspaceId, id: Id.InvitationId) => {
  const found = [...memory.invitations.values()].find((one) => one.id === id && one.workspaceId === workspaceId)
  if (found !== undefined) memory.invitations.delete(found.tokenHash)
  return Option.fromUndefinedOr(found)
}

const accept = (memory: Memory, command: InvitationStep.Accept): InvitationStep.Accepted => {
  const { answers, writes } = InvitationStep.accept({
    now: memory.now,
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
      remove: (workspaceId, id) => Effect.sync(() => remove(memory, workspaceId, id)),
      accept: (command) => Effect.sync(() => accept(memory, command)),
      createReset: (reset) =>
        Effect.sync(() => {
          const now = memory.now(reset.createdAt)
          memory.passwordResets.set(reset.tokenHash, StorageTime.createdAt(reset, now, "expiresAt"), now)
        }),
      redeemReset: (tokenHash, passwordHash, now) =>
        Effect.sync(() => Option.fromUndefinedOr(redeemReset(memory, { tokenHash, passwordHash, now })))
    }))
)
