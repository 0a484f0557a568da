/**
 * `MemberStore` in memory: each method is one synchronous step over `State`, decided by `MemberStep`.
 */
import { type Id, type IssuerClaims, type Member, MemberStep, MemberStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { type Memory, State } from "../State.ts"

/** Adds a member, or replaces their entry. */
export const keepMember = (memory: Memory, member: Member.Member): void => {
  const members = memory.members.get(member.workspaceId) ?? new Map<Id.UserId, Member.Member>()
  memory.members.set(member.workspaceId, members.set(member.userId, member))
}

/** Ends the sessions of a person for which `ends` is true. Returns how many. */
const endSessions = (
  memory: Memory,
  userId: Id.UserId,
  ends: (session: { readonly tokenHash: string; readonly workspaceId: Id.WorkspaceId }) => boolean
): number => {
  const theirs = [...memory.sessions.values()].filter((session) => session.userId === userId && ends(session))
  for (const { tokenHash } of theirs) memory.sessions.delete(tokenHash)
  return theirs.length
}

const memberships = (memory: Memory, userId: Id.UserId): ReadonlyArray<Member.Member> =>
  [...memory.members.values()].flatMap((members) => {
    const member = members.get(userId)
    return member === undefined ? [] : [member]
  }).sort((a, b) => a.createdAt - b.createdAt || (a.workspaceId < b.workspaceId ? -1 : 1))

const account = (memory: Memory, person: Member.Person | undefined): Option.Option<MemberStore.Account> => {
  if (person === undefined) return Option.none()
  return Option.some({
    person,
    memberships: memberships(memory, person.userId).map(({ role, workspaceId }) => ({
      role,
      workspace: memory.workspaces.get(workspaceId)!
    }))
  })
}

const ofWorkspace = (memory: Memory, workspaceId: Id.WorkspaceId): ReadonlyArray<Member.Member> =>
  [...memory.members.get(workspaceId)?.values() ?? []].sort((a, b) =>
    a.createdAt - b.createdAt || (a.userId < b.userId ? -1 : 1)
  )

/** `MemberStore.setPassword`. */
export const setPassword = (
  memory: Memory,
  userId: Id.UserId,
  passwordHash: string,
  { keep, next, verified }: MemberStore.PasswordConditions = {}
): Option.Option<number> => {
  const person = memory.people.get(userId)
  if (person === undefined || (verified !== undefined && person.passwordHash !== verified)) return Option.none()
  if (keep !== undefined && memory.sessions.get(keep)?.userId !== userId) return Option.none()
  memory.people.set(userId, { ...person, passwordHash })
  for (const reset of memory.passwordResets.values()) {
    if (reset.userId === userId) memory.passwordResets.delete(reset.tokenHash)
  }
  const ended = endSessions(memory, userId, ({ tokenHash }) => tokenHash !== keep)
  const kept = keep === undefined ? undefined : memory.sessions.get(keep)
  if (kept !== undefined && next !== undefined) {
    memory.sessions.delete(kept.tokenHash)
    memory.sessions.set(next, { ...kept, tokenHash: next }, 0)
  }
  return Option.some(ended)
}

/** Takes an address out of a workspace's alert settings. */
const stopAlerts = (memory: Memory, workspaceId: Id.WorkspaceId, email: string): void => {
  const settings = memory.alertSettings.get(workspaceId)
  if (settings === undefined) return
  memory.alertSettings.set(workspaceId, { ...settings, emails: settings.emails.filter((each) => each !== email) })
}

const change = (memory: Memory, command: MemberStep.Change): MemberStep.Changed => {
  const { answers, writes } = MemberStep.change({
    now: memory.now,
    members: (workspaceId) => ofWorkspace(memory, workspaceId),
    invitations: (workspaceId, userId) =>
      [...memory.invitations.values()].filter((one) =>
        one.workspaceId === workspaceId && one.by?.person?.userId === userId
      )
  }, [command])
  for (const { role, userId, workspaceId } of writes.roles) {
    keepMember(memory, { ...memory.members.get(workspaceId)!.get(userId)!, role })
  }
  for (const { email, userId, workspaceId } of writes.removed) {
    memory.members.get(workspaceId)!.delete(userId)
    endSessions(memory, userId, (session) => session.workspaceId === workspaceId)
    stopAlerts(memory, workspaceId, email)
  }
  for (const { id, tokenHash } of memory.invitations.values()) {
    if (writes.ended.includes(id)) memory.invitations.delete(tokenHash)
  }
  return answers[0]!
}

const linkOf = ({ issuer, subject }: IssuerClaims.Identity): string => JSON.stringify([issuer, subject])

const assign = (memory: Memory, command: MemberStep.Assign): MemberStep.Recognized => {
  const { answers, writes } = MemberStep.assign({
    now: memory.now,
    identified: (identity) => {
      const link = memory.identities.get(linkOf(identity))
      return link && memory.people.get(link.userId)
    },
    addressed: (email, issuer) => {
      const person = [...memory.people.values()].find((person) => person.email === email)
      const isLinked = [...memory.identities.values()].some((link) =>
        link.issuer === issuer && link.userId === person?.userId
      )
      return person && { ...person, isLinked }
    },
    memberships: (userId) => memberships(memory, userId)
  }, [command])
  for (const person of writes.people) memory.people.set(person.userId, person)
  for (const link of writes.links) memory.identities.set(linkOf(link), link)
  for (const { continued, members, userId } of writes.assigned) {
    for (const others of memory.members.values()) others.delete(userId)
    for (const member of members) keepMember(memory, member)
    endSessions(memory, userId, ({ workspaceId }) => !continued.includes(workspaceId))
  }
  for (const { email, workspaceId } of writes.removed) stopAlerts(memory, workspaceId, email)
  return answers[0]!
}

const unlink = (memory: Memory, userId: Id.UserId): number => {
  const links = [...memory.identities].filter(([, link]) => link.userId === userId)
  for (const [key] of links) memory.identities.delete(key)
  endSessions(memory, userId, () => true)
  return links.length
}

export const layer = Layer.effect(
  MemberStore.MemberStore,
  Effect.map(State, (memory) =>
    MemberStore.MemberStore.of({
      findByEmail: (email) =>
        Effect.sync(() => account(memory, [...memory.people.values()].find((person) => person.email === email))),
      findByUserId: (userId) => Effect.sync(() => account(memory, memory.people.get(userId))),
      list: Effect.sync(() =>
        [...memory.members.keys()].flatMap((workspaceId) =>
          ofWorkspace(memory, workspaceId).map((member) => ({
            member,
            workspace: memory.workspaces.get(workspaceId)!
          }))
        ).sort((a, b) => a.member.createdAt - b.member.createdAt)
      ),
      ofWorkspace: (workspaceId) => Effect.sync(() => ofWorkspace(memory, workspaceId)),
      setPassword: (userId, passwordHash, conditions) =>
        Effect.sync(() => setPassword(memory, userId, passwordHash, conditions)),
      assign: (command) => Effect.sync(() => assign(memory, command)),
      unlink: (userId) => Effect.sync(() => unlink(memory, userId)),
      change: (command) => Effect.sync(() => change(memory, command))
    }))
)
