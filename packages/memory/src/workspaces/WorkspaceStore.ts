/**
 * `WorkspaceStore` in memory: each method is one synchronous step over `State`, decided by `WorkspaceStep`.
 */
import { type Id, type Workspace, WorkspaceStep, WorkspaceStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { keepAdded } from "../numbers/PhoneNumberStore.ts"
import { keepMember } from "../people/MemberStore.ts"
import { type Memory, State } from "../State.ts"

type Store = WorkspaceStore.WorkspaceStore["Service"]

/** Creates a workspace. The first one is created only if there is none. */
const create = (memory: Memory, command: WorkspaceStep.Create | WorkspaceStep.CreateFirst): boolean => {
  const { answers: [answer], writes } = WorkspaceStep.create({
    now: memory.now,
    isAny: memory.workspaces.size > 0,
    isKnown: (providerNumberId) => memory.phoneNumberByProviderId.has(providerNumberId)
  }, [command])
  if (answer === "number_known") {
    throw new Error(`the phone number ${command.phoneNumber.phoneNumber} belongs to a workspace already`)
  }
  for (const workspace of writes.workspaces) memory.workspaces.set(workspace.id, workspace)
  keepAdded(memory, writes)
  for (const { passwordHash, ...owner } of writes.owners) {
    const { createdAt, email, userId } = owner
    memory.people.set(userId, { userId, email, passwordHash, createdAt })
    keepMember(memory, owner)
  }
  return answer === "created"
}

const list = (memory: Memory): ReadonlyArray<Workspace.Workspace> =>
  [...memory.workspaces.values()].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))

const configure = (memory: Memory, id: Id.WorkspaceId, settings: Parameters<Store["configure"]>[1]): void => {
  const workspace = memory.workspaces.get(id)
  if (workspace !== undefined) memory.workspaces.set(id, { ...workspace, ...settings })
}

export const layer = Layer.effect(
  WorkspaceStore.WorkspaceStore,
  Effect.map(State, (memory) =>
    WorkspaceStore.WorkspaceStore.of({
      createFirst: (first) => Effect.sync(() => create(memory, first)),
      create: (created) => Effect.asVoid(Effect.sync(() => create(memory, created))),
      get: (id) => Effect.sync(() => Option.fromUndefinedOr(memory.workspaces.get(id))),
      list: Effect.sync(() => list(memory)),
      configure: (id, settings) => Effect.sync(() => configure(memory, id, settings))
    }))
)
