/**
 * The decisions for phone numbers (contract §3 and §7): a workspace's numbers and defaults, provider reports about
 * them, and their credentials. Pure.
 */
import type { PhoneNumberId, WorkspaceId } from "../Id.ts"
import type { Sealed } from "../secrets/Sealed.ts"
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import * as PhoneNumber from "./PhoneNumber.ts"

/** A number's own credentials. */
export interface SealedCredentials {
  /** `PhoneNumber.credentialsVersion`. */
  readonly version: string
  /** The provider's access token, sealed for the number's id. */
  readonly accessToken: Sealed
  /** The base URL and version of the provider's API; `null` uses the configured value. */
  readonly baseUrl: string | null
  readonly apiVersion: string | null
}

/** A new number, with its own credentials if it has any. */
export interface Add {
  readonly number: PhoneNumber.PhoneNumber
  readonly credentials?: SealedCredentials | undefined
}

/** Where a number belongs at the provider. */
export type Assignment = Partial<Pick<PhoneNumber.PhoneNumber, "provider" | "providerAccountId" | "portfolioId">>

/** Assigns a number to a provider, an account and a portfolio; omitted fields keep their values. */
export interface Assign extends Assignment {
  readonly id: PhoneNumberId
}

/** Reports a change of the numbers that `name` selects, at the provider's time `at`. */
export interface Observe {
  readonly name: PhoneNumber.NumberName
  readonly now: Instant
  readonly at: Instant
  readonly change: PhoneNumber.NumberChange
}

/** Gives a number its own credentials, or with `null` removes them. */
export interface SetCredentials {
  readonly now: Instant
  readonly id: PhoneNumberId
  readonly credentials: SealedCredentials | null
}

/** A number, and when its reported fields were reported. */
export interface Observed {
  readonly number: PhoneNumber.PhoneNumber
  readonly toldAt: PhoneNumber.ReportTimes
}

/** The records that adding, removing and assigning numbers load, under locks on their workspaces. */
export interface LoadedWorkspaces extends Known {
  readonly byId: (id: PhoneNumberId) => PhoneNumber.PhoneNumber | undefined
  /** The numbers of a workspace. */
  readonly ofWorkspace: (id: WorkspaceId) => ReadonlyArray<PhoneNumber.PhoneNumber>
  /** Whether any workspace has a number with this provider id. */
  readonly isKnown: (providerNumberId: string) => boolean
}

/** The records that reports load, under locks on the numbers. */
export interface LoadedNames extends Known {
  /** The numbers that a name selects, in all workspaces. */
  readonly named: (name: PhoneNumber.NumberName) => ReadonlyArray<Observed>
}

/** The records that a change of credentials loads, under locks on the numbers. */
export interface LoadedNumbers extends Known {
  readonly byId: (id: PhoneNumberId) => Observed | undefined
}

/** New and changed numbers to write, each once. */
export interface Writes {
  readonly numbers: ReadonlyArray<PhoneNumber.PhoneNumber>
}

/** The changes that adding numbers writes. */
export interface AddWrites extends Writes {
  /** The credentials of new numbers, which have none yet. */
  readonly credentials: ReadonlyArray<{
    readonly id: PhoneNumberId
    readonly credentials: SealedCredentials
  }>
}

/** The changes that removing numbers writes. Everything that belongs to a removed number is deleted with it. */
export interface RemoveWrites extends Writes {
  readonly removed: ReadonlyArray<PhoneNumber.PhoneNumber>
  /** Accounts in which a workspace has no number left. The workspace's templates of these accounts are deleted. */
  readonly left: ReadonlyArray<Pick<PhoneNumber.PhoneNumber, "workspaceId" | "providerAccountId">>
}

/** The changes that retiring numbers writes. */
export interface RetireWrites extends Writes {
  /** The numbers that are not available any more. */
  readonly retired: ReadonlyArray<PhoneNumberId>
}

/** The numbers to write, each once. */
export interface ObserveWrites {
  readonly observed: ReadonlyArray<Observed>
}

/** The numbers and credentials to write. */
export interface CredentialsWrites extends ObserveWrites {
  /** The credentials to write for each number, at most once; `null` deletes them. */
  readonly credentials: ReadonlyArray<{
    readonly id: PhoneNumberId
    readonly credentials: SealedCredentials | null
  }>
}

/** The numbers of workspaces as the commands decided so far have left them. */
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
 * Decides `PhoneNumberStore.add`: adds numbers with their credentials to workspaces. A new default number replaces the
 * provider's previous default. False, and no change, if the provider id is known or the workspace already has the
 * number.
 */
export const add: Decide<Add, LoadedWorkspaces, boolean, AddWrites> = (loaded, commands) => {
  const workspaces = new Workspaces(loaded)
  const given: Array<AddWrites["credentials"][number]> = []
  const answers = commands.map(({ credentials, number }) => {
    const others = workspaces.of(number.workspaceId)
    if (workspaces.isKnown(number.providerNumberId)) return false
    if (others.some(({ phoneNumber }) => phoneNumber === number.phoneNumber)) return false
    workspaces.keep(number.workspaceId, [
      ...others.map((other) =>
        number.isDefault && other.isDefault && other.provider === number.provider
          ? { ...other, isDefault: false }
          : other
      ),
      { ...number, credentialsVersion: credentials?.version ?? null }
    ])
    if (credentials !== undefined) given.push({ id: number.id, credentials })
    return true
  })
  return { answers, writes: { ...workspaces.writes(), credentials: given } }
}

/**
 * Decides `PhoneNumberStore.assign`: assigns numbers to providers, accounts and portfolios. A number becomes the
 * default at its provider if its workspace has no other. The answer is whether the number exists.
 */
export const assign: Decide<Assign, LoadedWorkspaces, boolean, Writes> = (loaded, commands) => {
  const workspaces = new Workspaces(loaded)
  const answers = commands.map(({ id, ...to }) => {
    const number = workspaces.byId(id)
    if (number === undefined) return false
    const all = workspaces.of(number.workspaceId)
    const moved = { ...number, ...to }
    const isTaken = all.some((other) => other.id !== id && other.provider === moved.provider && other.isDefault)
    const assigned = { ...moved, isDefault: number.isDefault && !isTaken }
    workspaces.keep(number.workspaceId, all.map((other) => other.id === id ? assigned : other))
    return true
  })
  return { answers, writes: workspaces.writes() }
}

/** Decides `PhoneNumberStore.remove`. The answer is whether the number existed. */
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

/**
 * Decides the first step of a removal that takes several: the numbers send nothing any more, and available numbers
 * of their providers, if there are any, become the defaults in their place. The answer is whether the number exists.
 */
export const retire: Decide<PhoneNumberId, LoadedWorkspaces, boolean, RetireWrites> = (loaded, ids) => {
  const workspaces = new Workspaces(loaded)
  const retired: Array<PhoneNumberId> = []
  const answers = ids.map((id) => {
    const number = workspaces.byId(id)
    if (number === undefined) return false
    const others = workspaces.of(number.workspaceId).filter((other) => other.id !== id)
    const hasSuccessor = others.some(({ available, provider }) => available && provider === number.provider)
    workspaces.keep(number.workspaceId, [
      ...others,
      { ...number, available: false, isDefault: number.isDefault && !hasSuccessor }
    ])
    retired.push(id)
    return true
  })
  return { answers, writes: { ...workspaces.writes(), retired } }
}

/** Numbers with their report times, as the commands decided so far have left them. */
class Observations {
  private readonly observed = new Map<PhoneNumberId, Observed>()

  of(loaded: Observed): Observed {
    return this.observed.get(loaded.number.id) ?? loaded
  }

  apply(before: Observed, change: PhoneNumber.NumberChange, at: Instant, now: Instant): void {
    this.observed.set(before.number.id, PhoneNumber.observe(before, change, at, now))
  }

  writes(): ObserveWrites {
    return { observed: [...this.observed.values()] }
  }
}

/**
 * Decides `PhoneNumberStore.observe`: applies provider reports (`PhoneNumber.observe`). The answer is how many numbers
 * the name selects.
 */
export const observe: Decide<Observe, LoadedNames, number, ObserveWrites> = (loaded, commands) => {
  const observations = new Observations()
  const answers = commands.map(({ at, change, name, now }) => {
    const named = loaded.named(name)
    for (const observed of named) observations.apply(observations.of(observed), change, at, loaded.now(now))
    return named.length
  })
  return { answers, writes: observations.writes() }
}

/**
 * Decides `PhoneNumberStore.setCredentials`: sets or removes a number's own credentials. That lifts a block for
 * `credentials`, like a report of the time `now`. The answer is whether the number exists.
 */
export const setCredentials: Decide<SetCredentials, LoadedNumbers, boolean, CredentialsWrites> = (loaded, commands) => {
  const observations = new Observations()
  const given = new Map<PhoneNumberId, SealedCredentials | null>()
  const answers = commands.map(({ credentials, id, now }) => {
    const found = loaded.byId(id)
    if (found === undefined) return false
    const { number, toldAt } = observations.of(found)
    observations.apply(
      { number: { ...number, credentialsVersion: credentials && credentials.version }, toldAt },
      number.block?.reason === "credentials" ? { block: null } : {},
      now,
      now
    )
    given.set(id, credentials)
    return true
  })
  return {
    answers,
    writes: { ...observations.writes(), credentials: Array.from(given, ([id, credentials]) => ({ id, credentials })) }
  }
}
