/** The customers of the simulated Cloud API: their names, service windows, preferences and behaviours. */
import * as Behaviours from "../control/CloudApiBehaviour.ts"
import * as Recipient from "../messages/CloudApiRecipient.ts"

/** The length of the service window after a customer's message, in milliseconds. */
const window = 24 * 3600 * 1000

export interface Customers {
  /** Records that both are names of one customer. Windows and preferences of the user id move to the number. */
  readonly identify: (userId: string, number: string) => void
  /** The customer with this name: the number of a user id, if it is known. */
  readonly of: (name: string) => string
  /** Records that the customer wrote to this number. */
  readonly wrote: (number: string, customer: string, at: number) => void
  readonly windowOpen: (number: string, customer: string, now: number) => boolean
  readonly prefer: (number: string, customer: string, marketing: boolean) => void
  readonly wantsMarketing: (number: string, customer: string) => boolean
  /** Renames a customer. Windows and preferences move to the new name. */
  readonly rename: (from: string, to: string) => void
  readonly behave: (to: string, behaviour: Behaviours.Behaviour) => void
  readonly behaviourOf: (customer: string) => Behaviours.Behaviour
}

/** Customers are named by {@link Recipient.keyOf}, and by number where both names are known. */
export const make = (): Customers => {
  /** When a customer last wrote to a number, by customer and number. */
  const lastWords = new Map<string, Map<string, number>>()
  const stopped = new Map<string, Set<string>>()
  const behaviours = new Map<string, Behaviours.Behaviour>()
  const numbersOf = new Map<string, string>()
  const wordsOf = (customer: string) => lastWords.get(customer) ?? new Map<string, number>()
  const stoppedBy = (customer: string) => stopped.get(customer) ?? new Set<string>()
  return {
    identify: (userId, customer) => {
      if (numbersOf.get(userId) === customer) return
      numbersOf.set(userId, customer)
      const words = wordsOf(customer)
      for (const [number, at] of wordsOf(userId)) words.set(number, Math.max(at, words.get(number) ?? 0))
      lastWords.set(customer, words)
      stopped.set(customer, new Set([...stoppedBy(customer), ...stoppedBy(userId)]))
    },
    of: (name) => numbersOf.get(name) ?? name,
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
