/**
 * Decides the creation of workspaces: each begins with a number, and the first one also with its owner. Pure.
 */
import type { PhoneNumber } from "../numbers/PhoneNumber.ts"
import * as PhoneNumberStep from "../numbers/PhoneNumberStep.ts"
import type { Member, Person } from "../people/Member.ts"
import type { Decide, Known } from "../Step.ts"
import type { Workspace } from "./Workspace.ts"

/** A new workspace with its first number, and the number's own credentials if it has any. */
export interface Create {
  readonly workspace: Workspace
  readonly phoneNumber: PhoneNumber
  readonly credentials?: PhoneNumberStep.SealedCredentials | undefined
}

/** The first workspace's owner. */
export type Owner = Person & Member

/** The first workspace of all, with its owner. */
export interface CreateFirst extends Create {
  readonly owner: Owner
}

/** The records that creating workspaces loads, under a lock that serializes it. */
export interface Loaded extends Known {
  /** Whether there is a workspace. */
  readonly isAny: boolean
  /** Whether any workspace has a number with this provider id. */
  readonly isKnown: PhoneNumberStep.LoadedWorkspaces["isKnown"]
}

/** The result of creating a workspace. */
export type Created =
  | "created"
  /** The number already belongs to a workspace. */
  | "number_known"
  /** There is already a workspace, so this would not be the first. */
  | "not_first"

/**
 * The rows to insert: workspaces, their first numbers with the credentials of these, and the owner of the first
 * workspace of all.
 */
export interface Writes extends PhoneNumberStep.AddWrites {
  readonly workspaces: ReadonlyArray<Workspace>
  readonly owners: ReadonlyArray<Owner>
}

/** Decides the creation of workspaces. The first one, which has an owner, is created only if there is none. */
export const create: Decide<Create | CreateFirst, Loaded, Created, Writes> = (loaded, commands) => {
  const made: Array<Create | CreateFirst> = []
  const answers = commands.map((command): Created => {
    if ("owner" in command && (loaded.isAny || made.length > 0)) return "not_first"
    const isMade = made.some(({ phoneNumber }) => phoneNumber.providerNumberId === command.phoneNumber.providerNumberId)
    if (isMade || loaded.isKnown(command.phoneNumber.providerNumberId)) return "number_known"
    made.push(command)
    return "created"
  })
  const { writes } = PhoneNumberStep.add(
    { now: loaded.now, byId: () => undefined, ofWorkspace: () => [], isKnown: () => false },
    made.map(({ credentials, phoneNumber }) => ({ number: phoneNumber, credentials }))
  )
  return {
    answers,
    writes: {
      ...writes,
      workspaces: made.map(({ workspace }) => workspace),
      owners: made.flatMap((one) => "owner" in one ? [one.owner] : [])
    }
  }
}
