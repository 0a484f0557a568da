/**
 * What happens in a simulated world: the operations of callers, customers and operators, and the kinds of faults. A plan
 * follows from its seed, and can be shrunk.
 */
import type { PhoneNumber } from "@wac/core"
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
  readonly to: PhoneNumber.E164
  /** A text needs the customer's open window. */
  readonly type: "template" | "text"
  /** How many milliseconds after `at` to send; at once if `null`. */
  readonly later: number | null
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
  readonly from: PhoneNumber.E164
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
export type Operation = Send | Asked | Written | Ended | Suspended

/** The kinds of faults. */
const faults = ["storage", "hints", "callers", "provider", "receiver"] as const
export type Fault = (typeof faults)[number]

/** A whole plan. */
export interface Plan {
  readonly seed: number
  readonly processes: number
  /** How long faults happen, in milliseconds. All operations begin within. */
  readonly length: number
  readonly faults: ReadonlyArray<Fault>
  /** In the order of their beginning. */
  readonly operations: ReadonlyArray<Operation>
}

const length = 60_000

const customers: ReadonlyArray<PhoneNumber.E164> = ["+15557770001", "+15557770002", "+15557770003"]

/** How many operations of each kind. */
const counts = { send: 12, asked: 5, written: 3, ended: 3, suspended: 1 }

/** The plan of a seed. */
export const make = (seed: number): Plan => {
  const chance = Chance.make(seed, "plan")
  const processes = chance.between(2, 3)
  const process = () => chance.below(processes)
  const at = () => chance.below(length)
  let ids = 0
  const some = <A extends Operation>(count: number, one: (timed: Timed) => A): ReadonlyArray<A> =>
    Array.from({ length: count }, () => one({ id: ids++, at: at() }))
  const sends = some(counts.send, (timed): Send => ({
    ...timed,
    kind: "send",
    to: chance.pick(customers),
    type: chance.weighted({ template: 3, text: 1 }),
    later: chance.oneIn(3) ? chance.between(2000, length) : null,
    repetitions: chance.below(3),
    isMisused: chance.oneIn(6)
  }))
  const operations: ReadonlyArray<Operation> = [
    ...sends,
    ...some(counts.asked, ({ id }): Asked => {
      const of = chance.pick(sends)
      return { id, kind: chance.pick(["cancel", "read"]), of: of.id, at: of.at + chance.between(100, 20_000) }
    }),
    ...some(counts.written, (timed): Written => ({ ...timed, kind: "written", from: chance.pick(customers) })),
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
  return { seed, processes, length, faults, operations: [...operations].sort((a, b) => a.at - b.at) }
}
