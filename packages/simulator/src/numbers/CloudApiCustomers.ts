/** What the simulated Cloud API knows of customers: their windows, their preferences, how they behave. */
import * as Behaviours from "../control/CloudApiBehaviour.ts"
import * as Recipient from "../messages/CloudApiRecipient.ts"

/** How long a customer's message lets a business answer freely. */
const window = 24 * 3600 * 1000

export interface Customers {
  /** The customer wrote to this number. */
  readonly wrote: (number: string, customer: string, at: number) => void
  readonly windowOpen: (number: string, customer: string, now: number) => boolean
  readonly prefer: (number: string, customer: string, marketing: boolean) => void
  readonly wantsMarketing: (number: string, customer: string) => boolean
  /** The customer is known by another name from now on: windows and preferences go with them. */
  readonly rename: (from: string, to: string) => void
  readonly behave: (to: string, behaviour: Behaviours.Behaviour) => void
  readonly behaviourOf: (customer: string) => Behaviours.Behaviour
}

/** Customers are named by {@link Recipient.keyOf}. */
export const make = (): Customers => {
  /** By customer, by number. */
  const lastWords = new Map<string, Map<string, number>>()
  const stopped = new Map<string, Set<string>>()
  const behaviours = new Map<string, Behaviours.Behaviour>()
  const wordsOf = (customer: string) => lastWords.get(customer) ?? new Map<string, number>()
  const stoppedBy = (customer: string) => stopped.get(customer) ?? new Set<string>()
  return {
    wrote: (number, customer, at) => {
      const words = wordsOf(customer)
      lastWords.set(customer, words.set(number, Math.max(at, words.get(number) ?? 0)))
    },
    windowOpen: (number, customer, now) => now < (wordsOf(customer).get(number) ?? -Infinity) + window,
    prefer: (number, customer, marketing) => {
      const numbers = stoppedBy(customer)
      if (marketing) numbers.delete(number)
      else stopped.set(customer, numbers.add(number))
    },
    wantsMarketing: (number, customer) => !stoppedBy(customer).has(number),
    rename: (from, to) => {
      lastWords.set(to, wordsOf(from))
      stopped.set(to, stoppedBy(from))
      lastWords.delete(from)
      stopped.delete(from)
    },
    behave: (to, behaviour) => void behaviours.set(Recipient.keyOf(to), behaviour),
    behaviourOf: (customer) => behaviours.get(customer) ?? Behaviours.numbers[customer]?.[1] ?? Behaviours.ordinary
  }
}
