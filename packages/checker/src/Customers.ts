/**
 * The promises about customers, under all of their names: windows, opt-outs and campaigns (contract §7, §11, §13).
 */
import { type Blame, day, endOf } from "./Broken.ts"
import type { CustomerNames, Entry, PreferenceSet, ProviderCall, Received } from "./History.ts"

/**
 * How long a send may take from its checks to the call: the lease of its claim, in milliseconds.
 */
export const claimLease = 30_000

/** Returns when the first request with a message's key began; `undefined` if no send in the history has the message. */
export type AskedAt = (message: string) => number | undefined

/** The earliest time at which the service can have made the checks before a call. */
export const checkedFrom = ({ begun, message_id: message }: ProviderCall, askedAt: AskedAt): number =>
  Math.min(begun, Math.max(askedAt(message) ?? -Infinity, begun - claimLease))

/** Keeps the latest value for each phone number of the workspace, and for all of them under `undefined`. */
class Latest<A extends { readonly at: number }> {
  private readonly byNumber = new Map<string | undefined, A>()
  give(number: string | undefined, given: A): void {
    const before = this.byNumber.get(number)
    if (before === undefined || given.at > before.at) this.byNumber.set(number, given)
  }
  of(number: string | undefined): A | undefined {
    const [own, ofAll] = [this.byNumber.get(number), this.byNumber.get(undefined)]
    return own === undefined || (ofAll !== undefined && ofAll.at > own.at) ? ofAll : own
  }
  /** Adds the values of another one. */
  join(other: Latest<A>): void {
    for (const [number, given] of other.byNumber) this.give(number, given)
  }
}

/** A time, and the entry that shows it. */
interface Shown {
  readonly at: number
  readonly entry: Entry
}

/** The windows, preferences and campaign messages of one customer, under all known names. */
class Customer {
  /** When the last window ends. */
  readonly windows = new Latest<Shown>()
  readonly optIns = new Latest<Shown>()
  readonly optOuts = new Latest<Shown>()
  /** The first message of each campaign. */
  readonly campaigns = new Map<string, ProviderCall>()
  size = 1
  join(other: Customer): void {
    this.windows.join(other.windows)
    this.optIns.join(other.optIns)
    this.optOuts.join(other.optOuts)
    for (const [campaign, call] of other.campaigns) {
      if (!this.campaigns.has(campaign)) this.campaigns.set(campaign, call)
    }
    this.size += other.size
  }
}

/** Customers by name. `join` merges the customers of names that turn out to belong to one (a union-find). */
export class Customers {
  private readonly parents = new Map<string, string>()
  private readonly customers = new Map<string, Customer>()
  private rootOf(name: string): string {
    let root = name
    for (let parent = this.parents.get(root); parent !== undefined; parent = this.parents.get(root)) root = parent
    return root
  }
  of(name: string): Customer {
    const root = this.rootOf(name)
    const known = this.customers.get(root)
    if (known !== undefined) return known
    const customer = new Customer()
    this.customers.set(root, customer)
    return customer
  }
  join([first, ...others]: ReadonlyArray<string>): void {
    for (const other of first === undefined ? [] : others) {
      const [a, b] = [this.of(first!), this.of(other)]
      if (a === b) continue
      const [kept, gone] = a.size < b.size ? [other, first!] : [first!, other]
      const root = this.rootOf(gone)
      this.of(kept).join(this.of(gone))
      this.customers.delete(root)
      this.parents.set(root, this.rootOf(kept))
    }
  }
}

/** The entries about customers. */
export interface OfCustomers {
  readonly calls: ReadonlyArray<ProviderCall>
  readonly customerNames: ReadonlyArray<CustomerNames>
  readonly received: ReadonlyArray<Received>
  readonly preferences: ReadonlyArray<PreferenceSet>
  readonly askedAt: AskedAt
}

type Addressed = ProviderCall & { readonly to: string }

/** A change at a time. Of several at the same time, those of calls are last. */
interface Happening {
  readonly at: number
  readonly call?: Addressed
  readonly change: (customers: Customers) => void
}

const inTurn = (happenings: ReadonlyArray<Happening>): void => {
  const customers = new Customers()
  const sorted = [...happenings].sort((a, b) =>
    a.at - b.at || Number(a.call !== undefined) - Number(b.call !== undefined)
  )
  for (const { change } of sorted) change(customers)
}

/**
 * Checks the promises of §7, §11 and §13 about customers. For opt-outs and campaigns, two names count as one customer
 * once a report of both is acknowledged; for windows and opt-ins, once such a report has begun.
 */
export const checkCustomers = (
  { askedAt, calls, customerNames, preferences, received }: OfCustomers,
  clockError: number,
  blame: Blame
): void => {
  const addressed = calls.filter((call): call is Addressed => call.to !== undefined)
  const isFreeForm = ({ type }: ProviderCall) => type !== undefined && type !== "template"
  const optIns = new Map<Addressed, number>()

  // what may have happened: all that had begun
  inTurn([
    ...customerNames.map(({ begun, names }) => ({ at: begun, change: (all: Customers) => all.join(names) })),
    ...received.map((entry) => ({
      at: entry.begun,
      change: (all: Customers) => {
        const { at, from, preference, to } = entry
        // a message's own time may lie in the future: at most the end of the entry counts
        all.of(from).windows.give(to, { at: Math.min(at, endOf(entry)) + day, entry })
        if (preference === "opt_in") all.of(from).optIns.give(to, { at, entry })
      }
    })),
    ...preferences.filter(({ preference }) => preference === "opt_in").map((entry) => ({
      at: entry.begun,
      change: (all: Customers) => all.of(entry.name).optIns.give(entry.phone_number, { at: endOf(entry), entry })
    })),
    ...addressed.map((call) => ({
      at: call.begun,
      call,
      change: (all: Customers) => {
        const { optIns: choices, windows } = all.of(call.to)
        optIns.set(call, choices.of(call.from)?.at ?? -Infinity)
        const window = windows.of(call.from)
        if (isFreeForm(call) && !(call.begun - clockError < (window?.at ?? -Infinity))) {
          blame(
            "service-window",
            "free-form, outside the window",
            ...(window === undefined ? [] : [window.entry]),
            call
          )
        }
      }
    }))
  ])

  // what certainly has happened: all that had ended before the checks of the send
  const ends = <A extends Entry>(entries: ReadonlyArray<A>) => entries.filter(({ ended }) => ended !== null)
  const certain = (entry: Entry) => endOf(entry) + clockError
  inTurn([
    ...ends(customerNames).map((entry) => ({ at: certain(entry), change: (all: Customers) => all.join(entry.names) })),
    ...ends(received).filter(({ preference }) => preference === "opt_out").map((entry) => ({
      at: certain(entry),
      change: (all: Customers) => all.of(entry.from).optOuts.give(entry.to, { at: entry.at, entry })
    })),
    ...ends(preferences).filter(({ preference, status }) => preference === "opt_out" && status === 200).map((
      entry
    ) => ({
      at: certain(entry),
      change: (all: Customers) => all.of(entry.name).optOuts.give(entry.phone_number, { at: entry.begun, entry })
    })),
    ...addressed.map((call) => ({
      at: checkedFrom(call, askedAt),
      call,
      change: (all: Customers) => {
        const customer = all.of(call.to)
        const optOut = customer.optOuts.of(call.from)
        if (
          optOut !== undefined && (isFreeForm(call) || call.category === "marketing") &&
          optOut.at > optIns.get(call)! + clockError
        ) blame("opt-out", `${call.category ?? call.type} after an opt-out`, optOut.entry, call)
        const { campaign, outcome } = call
        if (campaign === undefined || outcome === "refused" || outcome === "not_sent") return
        const first = customer.campaigns.get(campaign)
        if (first === undefined) customer.campaigns.set(campaign, call)
        else if (first.message_id !== call.message_id) {
          blame("campaign-once", `two messages of ${campaign} to one customer`, first, call)
        }
      }
    }))
  ])
}
