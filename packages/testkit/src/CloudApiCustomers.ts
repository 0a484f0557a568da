/** What the simulated Cloud API knows of customers: their windows, their preferences, how they behave. */
import * as Behaviours from "./CloudApiBehaviour.ts"
import * as Recipient from "./CloudApiRecipient.ts"

/** How long a customer's message lets a business answer freely. */
const window = 24 * 3600 * 1000

export interface Customers {
  /** The customer wrote to this number. */
  readonly wrote: (number: string, customer: string, at: number) => void
  readonly windowOpen: (number: string, customer: string, now: number) => boolean
  readonly prefer: (number: string, customer: string, marketing: boolean) => void
  readonly wantsMarketing: (number: string, customer: string) => boolean
  readonly behave: (to: string, behaviour: Behaviours.Behaviour) => void
  readonly behaviourOf: (customer: string) => Behaviours.Behaviour
}

/** Customers are named by {@link Recipient.keyOf}. */
export const make = (): Customers => {
  const lastWords = new Map<string, number>()
  const stopped = new Set<string>()
  const behaviours = new Map<string, Behaviours.Behaviour>()
  const pair = (number: string, customer: string) => `${number} ${customer}`
  return {
    wrote: (number, customer, at) => {
      const name = pair(number, customer)
      lastWords.set(name, Math.max(at, lastWords.get(name) ?? 0))
    },
    windowOpen: (number, customer, now) => now < (lastWords.get(pair(number, customer)) ?? -Infinity) + window,
    prefer: (number, customer, marketing) => {
      if (marketing) stopped.delete(pair(number, customer))
      else stopped.add(pair(number, customer))
    },
    wantsMarketing: (number, customer) => !stopped.has(pair(number, customer)),
    behave: (to, behaviour) => void behaviours.set(Recipient.keyOf(to), behaviour),
    behaviourOf: (customer) => behaviours.get(customer) ?? Behaviours.numbers[customer]?.[1] ?? Behaviours.ordinary
  }
}
