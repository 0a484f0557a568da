import { type Id, type Workspace, WorkspaceStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { addPhoneNumber } from "../numbers/PhoneNumberStore.ts"
import { type Memory, State } from "../State.ts"

type Store = WorkspaceStore.WorkspaceStore["Service"]

const create = (memory: Memory, { phoneNumber, workspace }: Parameters<Store["create"]>[0]): void => {
  if (!addPhoneNumber(memory, phoneNumber)) {
    throw new Error(`the phone number ${phoneNumber.phoneNumber} belongs to a workspace already`)
  }
  memory.workspaces.set(workspace.id, workspace)
}

const createFirst = (memory: Memory, { owner, ...first }: Parameters<Store["createFirst"]>[0]): boolean => {
  if (memory.workspaces.size > 0) return false
  create(memory, first)
  memory.members.set(owner.userId, owner)
  return true
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
      createFirst: (first) => Effect.sync(() => createFirst(memory, first)),
      create: (created) => Effect.sync(() => create(memory, created)),
      get: (id) => Effect.sync(() => Option.fromUndefinedOr(memory.workspaces.get(id))),
      list: Effect.sync(() => list(memory)),
      configure: (id, settings) => Effect.sync(() => configure(memory, id, settings))
    }))
)
