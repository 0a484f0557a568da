/**
 * What happens in a simulated world: the operations of callers, customers and operators, and the kinds of faults. A plan
 * follows from its seed, and can be shrunk.
 */
import * as Chance from "./Chance.ts"

interface Timed {
  /** The operation's number in the plan that its seed gave; it stays when others are left out. */
  readonly id: number
  /** Milliseconds since the world began. */
  readonly at: number
}

/** Sends a message, and repeats the request until its answer is final. */
export interface Send extends Timed {
  readonly kind: "send"
  /** A name of a customer. */
  readonly to: string
  /** A text needs the customer's open window. */
  readonly type: "template" | "marketing" | "text"
  /** How many milliseconds after `at` to send; at once if `null`. */
  readonly later: number | null
  /** How many milliseconds after that it may be sent at most; `null` for the service's default. */
  readonly until: number | null
  /** How often the request is repeated after its answer was final. */
  readonly repetitions: number
  /** Whether another body follows under the same key. */
  readonly isMisused: boolean
}

/** Cancels or reads the message of a send, if it is known by then. */
export interface Asked extends Timed {
  readonly kind: "cancel" | "read"
  readonly of: number
}

/** A customer writes. */
export interface Written extends Timed {
  readonly kind: "written"
  /** The names that the provider tells with the message: one of the customer's, or both together. */
  readonly from: ReadonlyArray<string>
  readonly says: "hello" | "STOP" | "START"
  /** How many milliseconds before `at` the customer wrote it. */
  readonly age: number
}

/** A program opts a customer out or in. */
export interface Chosen extends Timed {
  readonly kind: "chosen"
  readonly name: string
  readonly preference: "opt_out" | "opt_in"
}

/** A campaign is made, checked and started. */
export interface Campaign extends Timed {
  readonly kind: "campaign"
  /** Names of customers, some of them twice. */
  readonly to: ReadonlyArray<string>
  /** How many milliseconds after `at` it sends at most; `null` for the service's default. */
  readonly until: number | null
}

/** A campaign is paused, resumed or cancelled, if it is known by then. */
export interface Steered extends Timed {
  readonly kind: "pause" | "resume" | "cancel_campaign"
  readonly of: number
}

/** The clock of a process is set. */
interface ClockSet extends Timed {
  readonly kind: "clock_set"
  readonly process: number
  /** By how many milliseconds it is ahead of the storage's from then on; behind if negative. */
  readonly ahead: number
}

/** A process ends, and is started again after `down` milliseconds. */
export interface Ended extends Timed {
  readonly kind: "ended"
  readonly process: number
  /** At once; before or after one of its next storage operations is carried out; or gracefully. */
  readonly how: "killed" | "killed_before" | "killed_after" | "stopped"
  /** How many storage operations are carried out before that one. */
  readonly others: number
  readonly down: number
}

/** A process stands still. */
interface Suspended extends Timed {
  readonly kind: "suspended"
  readonly process: number
  readonly millis: number
}

/** One operation of a plan. */
export type Operation = Send | Asked | Written | Chosen | Campaign | Steered | ClockSet | Ended | Suspended

/** The kinds of faults. */
const faults = ["storage", "hints", "callers", "provider", "receiver", "handler", "clocks"] as const
export type Fault = (typeof faults)[number]

/** A whole plan. */
export interface Plan {
  readonly seed: number
  readonly processes: number
  /** How long faults happen, in milliseconds. All operations begin within. */
  readonly length: number
  readonly faults: ReadonlyArray<Fault>
  /** The workspace's quota; `null` for none. */
  readonly quota: number | null
  /** In the order of their beginning. */
  readonly operations: ReadonlyArray<Operation>
}

const length = 60_000

/** The names of each customer: a number and a user id, which the service does not know to be one. */
export const customers: ReadonlyArray<readonly [phone: string, userId: string]> = [
  ["+12025550101", "US.1001"],
  ["+12025550102", "US.1002"],
  ["+12025550103", "US.1003"]
]

/** How many operations of each kind. */
const counts = { send: 12, asked: 5, written: 6, chosen: 3, steered: 2, clockSet: 1, ended: 3, suspended: 1 }

const windowLength = 24 * 60 * 60 * 1000

/** The plan of a seed. */
export const make = (seed: number): Plan => {
  const chance = Chance.make(seed, "plan")
  // drawn apart, so that a seed's other operations stay those that it had before there were ends
  const ends = Chance.make(seed, "ends")
  // an early end comes before the first retry, a late one may come after some
  const lateEnds = Chance.make(seed, "late ends")
  const processes = chance.between(2, 3)
  const process = () => chance.below(processes)
  const name = () => chance.pick(chance.pick(customers))
  const at = () => chance.below(length)
  let ids = 0
  const some = <A extends Operation>(count: number, one: (timed: Timed) => A): ReadonlyArray<A> =>
    Array.from({ length: count }, () => one({ id: ids++, at: at() }))
  const sends = some(counts.send, (timed): Send => ({
    ...timed,
    kind: "send",
    to: name(),
    type: chance.weighted({ template: 2, marketing: 2, text: 2 }),
    later: chance.oneIn(3) ? chance.between(2000, length) : null,
    repetitions: chance.below(3),
    isMisused: chance.oneIn(6),
    until: ends.oneIn(2) ? ends.between(500, lateEnds.oneIn(2) ? 90_000 : 5000) : null
  }))
  const campaigns = some(chance.below(2) + 1, (timed): Campaign => ({
    ...timed,
    kind: "campaign",
    to: chance.shuffle([
      ...Array.from({ length: chance.between(2, 6) }, name),
      ...Array.from({ length: chance.below(8) }, (_, index) => `+1202555020${index}`)
    ]),
    until: ends.oneIn(3) ? ends.between(5000, lateEnds.oneIn(2) ? 150_000 : 30_000) : null
  }))
  const operations: ReadonlyArray<Operation> = [
    ...sends,
    ...some(counts.asked, ({ id }): Asked => {
      const of = chance.pick(sends)
      return { id, kind: chance.pick(["cancel", "read"]), of: of.id, at: of.at + chance.between(100, 20_000) }
    }),
    ...some(counts.written, (timed): Written => {
      const names = chance.pick(customers)
      return {
        ...timed,
        kind: "written",
        from: chance.oneIn(2) ? names : [chance.pick(names)],
        says: chance.weighted({ hello: 6, STOP: 2, START: 2 }),
        // some windows end before the run does
        age: chance.oneIn(3) ? windowLength - chance.between(1, length) : 0
      }
    }),
    ...some(counts.chosen, (timed): Chosen => ({
      ...timed,
      kind: "chosen",
      name: name(),
      preference: chance.pick(["opt_out", "opt_in"])
    })),
    ...campaigns,
    ...campaigns.flatMap((campaign) =>
      some(counts.steered, ({ id }): Steered => ({
        id,
        kind: chance.weighted({ pause: 4, resume: 3, cancel_campaign: 1 }),
        of: campaign.id,
        at: campaign.at + chance.between(2000, 20_000)
      }))
    ),
    ...some(counts.clockSet, (timed): ClockSet => ({
      ...timed,
      kind: "clock_set",
      process: process(),
      ahead: chance.between(-20_000, 20_000)
    })),
    ...some(counts.ended, (timed): Ended => ({
      ...timed,
      kind: "ended",
      process: process(),
      how: chance.weighted({ killed: 1, killed_before: 2, killed_after: 3, stopped: 1 }),
      others: chance.below(40),
      down: chance.between(200, 10_000)
    })),
    ...some(counts.suspended, (timed): Suspended => ({
      ...timed,
      kind: "suspended",
      process: process(),
      millis: chance.between(500, 90_000)
    }))
  ]
  const quota = chance.oneIn(3) ? chance.between(3, 8) : null
  return { seed, processes, length, faults, quota, operations: [...operations].sort((a, b) => a.at - b.at) }
}
