import { type Contact, MessagingLimit, type Time } from "@wac/core"

/**
 * The customers whom one number has messaged outside a window, each with the last time (contract §7, messaging limit).
 */
export class CountedCustomers {
  /** In the order of time, so that expired entries are at the front. */
  #lastAt = new Map<Contact.Contact["key"], Time.Instant>()

  /** Counts the customers who still count, and removes the others. */
  count(now: Time.Instant): number {
    for (const [customer, at] of this.#lastAt) {
      if (MessagingLimit.counts(at, now)) break
      this.#lastAt.delete(customer)
    }
    return this.#lastAt.size
  }

  /** When a customer was last messaged, if still remembered. */
  lastAt(customer: Contact.Contact["key"]): Time.Instant | null {
    return this.#lastAt.get(customer) ?? null
  }

  /** Records a message to a customer. */
  note(customer: Contact.Contact["key"], now: Time.Instant): void {
    this.#lastAt.delete(customer)
    this.#lastAt.set(customer, now)
  }

  /** Restores when a customer was last messaged; `null` removes the customer. */
  restore(customer: Contact.Contact["key"], at: Time.Instant | null): void {
    if (this.lastAt(customer) === at) return
    this.#lastAt.delete(customer)
    if (at === null) return
    this.#lastAt.set(customer, at)
    this.#lastAt = new Map([...this.#lastAt].sort(([, a], [, b]) => a - b))
  }
}
