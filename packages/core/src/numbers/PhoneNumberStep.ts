/**
 * What the transitions of phone numbers decide (contract §3 and §7): which numbers a workspace has and which of them are
 * its default ones, what upstream reports of them, and their credentials.
 */
import type { PhoneNumberId, WorkspaceId } from "../Id.ts"
import type { Sealed } from "../secrets/Sealed.ts"
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import * as PhoneNumber from "./PhoneNumber.ts"

/** Credentials of a number's own. */
export interface SealedCredentials {
  /** As in `PhoneNumber`. */
  readonly version: string
  /** What the provider is shown; sealed for the number's id. */
  readonly accessToken: Sealed
  /** Where the provider's interface is, and which version of it to speak; `null`: as configured. */
  readonly baseUrl: string | null
  readonly apiVersion: string | null
}

/** A number is given to an account of a provider. */
export interface Assign extends Pick<PhoneNumber.PhoneNumber, "provider" | "providerAccountId"> {
  readonly id: PhoneNumberId
}

/** Upstream reports a change of the numbers of a name, of the time `at`. */
export interface Observe {
  readonly name: PhoneNumber.NumberName
  readonly at: Instant
  readonly change: PhoneNumber.NumberChange
}

/** A number gets credentials of its own, or with `null` loses them. */
export interface SetCredentials {
  readonly now: Instant
  readonly id: PhoneNumberId
  readonly credentials: SealedCredentials | null
}

/** A number, and when what holds of it was reported. */
export interface Observed {
  readonly number: PhoneNumber.PhoneNumber
  readonly toldAt: PhoneNumber.ToldAt
}

/** What adding, removing and assigning numbers load, under locks of their workspaces. */
export interface LoadedWorkspaces extends Known {
  readonly byId: (id: PhoneNumberId) => PhoneNumber.PhoneNumber | undefined
  /** The numbers of a workspace. */
  readonly ofWorkspace: (id: WorkspaceId) => ReadonlyArray<PhoneNumber.PhoneNumber>
  /** Whether a workspace has a number of that name with the provider. */
  readonly isKnown: (providerNumberId: string) => boolean
}

/** What observations load, under locks of the numbers. */
export interface LoadedNames extends Known {
  /** The numbers of a name, of all workspaces. */
  readonly named: (name: PhoneNumber.NumberName) => ReadonlyArray<Observed>
}

/** What a change of credentials loads, under locks of the numbers. */
export interface LoadedNumbers extends Known {
  readonly byId: (id: PhoneNumberId) => Observed | undefined
}

/** Numbers as they are after the step, each once: new ones and changed ones. */
export interface Writes {
  readonly numbers: ReadonlyArray<PhoneNumber.PhoneNumber>
}

/** What goes when numbers are removed: all that is of a number goes with it. */
export interface RemoveWrites extends Writes {
  readonly removed: ReadonlyArray<PhoneNumber.PhoneNumber>
  /** Accounts of which a workspace has no number any more: the templates that it has of them go. */
  readonly left: ReadonlyArray<Pick<PhoneNumber.PhoneNumber, "workspaceId" | "providerAccountId">>
}

/** Numbers as they are after the step, each once. */
export interface ObserveWrites {
  readonly observed: ReadonlyArray<Observed>
}

export interface CredentialsWrites extends ObserveWrites {
  /** Of each number at most once, `null` where it has none of its own any more. */
  readonly credentials: ReadonlyArray<{
    readonly id: PhoneNumberId
    readonly credentials: SealedCredentials | null
  }>
}

/** The numbers of workspaces as the commands so far have left them. */
class Workspaces {
  private readonly loaded: LoadedWorkspaces
  private readonly before = new Map<PhoneNumberId, PhoneNumber.PhoneNumber>()
  private readonly numbers = new Map<WorkspaceId, ReadonlyArray<PhoneNumber.PhoneNumber>>()

  constructor(loaded: LoadedWorkspaces) {
    this.loaded = loaded
  }

  of(id: WorkspaceId): ReadonlyArray<PhoneNumber.PhoneNumber> {
    const known = this.numbers.get(id)
    if (known !== undefined) return known
    const loaded = this.loaded.ofWorkspace(id)
    for (const number of loaded) this.before.set(number.id, number)
    this.numbers.set(id, loaded)
    return loaded
  }

  byId(id: PhoneNumberId): PhoneNumber.PhoneNumber | undefined {
    const loaded = this.loaded.byId(id)
    const workspaces = loaded === undefined ? [...this.numbers.keys()] : [loaded.workspaceId]
    return workspaces.flatMap((workspaceId) => this.of(workspaceId)).find((number) => number.id === id)
  }

  isKnown(providerNumberId: string): boolean {
    const changed = [...this.numbers.values()].flat()
    if (changed.some((number) => number.providerNumberId === providerNumberId)) return true
    const isGone = [...this.before.values()].some((number) => number.providerNumberId === providerNumberId)
    return !isGone && this.loaded.isKnown(providerNumberId)
  }

  keep(id: WorkspaceId, numbers: ReadonlyArray<PhoneNumber.PhoneNumber>): void {
    this.numbers.set(id, PhoneNumber.withDefaults(numbers))
  }

  writes(): Writes {
    return { numbers: [...this.numbers.values()].flat().filter((number) => this.before.get(number.id) !== number) }
  }
}

/**
 * Adds numbers to workspaces. As the default one it replaces that of its provider. False, and nothing changed, when its
 * name with the provider is known, or its workspace has the number already.
 */
export const add: Decide<PhoneNumber.PhoneNumber, LoadedWorkspaces, boolean, Writes> = (loaded, numbers) => {
  const workspaces = new Workspaces(loaded)
  const answers = numbers.map((number) => {
    const others = workspaces.of(number.workspaceId)
    if (workspaces.isKnown(number.providerNumberId)) return false
    if (others.some(({ phoneNumber }) => phoneNumber === number.phoneNumber)) return false
    workspaces.keep(number.workspaceId, [
      ...others.map((other) =>
        number.isDefault && other.isDefault && other.provider === number.provider
          ? { ...other, isDefault: false }
          : other
      ),
      number
    ])
    return true
  })
  return { answers, writes: workspaces.writes() }
}

/**
 * Gives numbers to accounts of providers. A number is the default one there if its workspace has no other. Answers whether
 * there is such a number.
 */
export const assign: Decide<Assign, LoadedWorkspaces, boolean, Writes> = (loaded, commands) => {
  const workspaces = new Workspaces(loaded)
  const answers = commands.map(({ id, provider, providerAccountId }) => {
    const number = workspaces.byId(id)
    if (number === undefined) return false
    const all = workspaces.of(number.workspaceId)
    const isTaken = all.some((other) => other.id !== id && other.provider === provider && other.isDefault)
    const assigned = { ...number, provider, providerAccountId, isDefault: number.isDefault && !isTaken }
    workspaces.keep(number.workspaceId, all.map((other) => other.id === id ? assigned : other))
    return true
  })
  return { answers, writes: workspaces.writes() }
}

/** Removes numbers. Answers whether there was such a number. */
export const remove: Decide<PhoneNumberId, LoadedWorkspaces, boolean, RemoveWrites> = (loaded, ids) => {
  const workspaces = new Workspaces(loaded)
  const removed: Array<PhoneNumber.PhoneNumber> = []
  const left: Array<RemoveWrites["left"][number]> = []
  const answers = ids.map((id) => {
    const number = workspaces.byId(id)
    if (number === undefined) return false
    const { providerAccountId, workspaceId } = number
    const others = workspaces.of(workspaceId).filter((other) => other.id !== id)
    workspaces.keep(workspaceId, others)
    removed.push(number)
    if (others.every((other) => other.providerAccountId !== providerAccountId)) {
      left.push({ workspaceId, providerAccountId })
    }
    return true
  })
  return { answers, writes: { ...workspaces.writes(), removed, left } }
}

/** Numbers and when what holds of them was reported, as the commands so far have left them. */
class Words {
  private readonly observed = new Map<PhoneNumberId, Observed>()

  of(loaded: Observed): Observed {
    return this.observed.get(loaded.number.id) ?? loaded
  }

  hear(before: Observed, change: PhoneNumber.NumberChange, at: Instant): void {
    this.observed.set(before.number.id, PhoneNumber.observe(before, change, at))
  }

  writes(): ObserveWrites {
    return { observed: [...this.observed.values()] }
  }
}

/** Applies upstream's words (`PhoneNumber.observe`). Answers with how many numbers have the name. */
export const observe: Decide<Observe, LoadedNames, number, ObserveWrites> = (loaded, commands) => {
  const words = new Words()
  const answers = commands.map(({ at, change, name }) => {
    const named = loaded.named(name)
    for (const observed of named) words.hear(words.of(observed), change, at)
    return named.length
  })
  return { answers, writes: words.writes() }
}

/**
 * Gives numbers credentials of their own, or takes them away. A block for `credentials` is lifted by it, as by a word of
 * the time `now`. Answers whether there is such a number.
 */
export const setCredentials: Decide<SetCredentials, LoadedNumbers, boolean, CredentialsWrites> = (loaded, commands) => {
  const words = new Words()
  const given = new Map<PhoneNumberId, SealedCredentials | null>()
  const answers = commands.map(({ credentials, id, now }) => {
    const found = loaded.byId(id)
    if (found === undefined) return false
    const { number, toldAt } = words.of(found)
    words.hear(
      { number: { ...number, credentialsVersion: credentials && credentials.version }, toldAt },
      number.block?.reason === "credentials" ? { block: null } : {},
      now
    )
    given.set(id, credentials)
    return true
  })
  return {
    answers,
    writes: { ...words.writes(), credentials: Array.from(given, ([id, credentials]) => ({ id, credentials })) }
  }
}
