import { type Contact, MessagingLimit, type Time } from "@wac/core"

/** The customers whom one number wrote to outside a window, each with the last time (contract §7, messaging limit). */
export class WrittenTo {
  /** In the order of time, so that what no longer counts is at the front. */
  #lastAt = new Map<Contact.Contact["key"], Time.Instant>()

  /** How many customers count; the others are forgotten. */
  count(now: Time.Instant): number {
    for (const [customer, at] of this.#lastAt) {
      if (MessagingLimit.counts(at, now)) break
      this.#lastAt.delete(customer)
    }
    return this.#lastAt.size
  }

  /** When a customer of theirs was written to last, as far as that is remembered. */
  lastAt(customer: Contact.Contact["key"]): Time.Instant | null {
    return this.#lastAt.get(customer) ?? null
  }

  /** Notes that a customer was written to. */
  note(customer: Contact.Contact["key"], now: Time.Instant): void {
    this.#lastAt.delete(customer)
    this.#lastAt.set(customer, now)
  }

  /** Puts back when a customer had been written to; `null`: they had not been. */
  restore(customer: Contact.Contact["key"], at: Time.Instant | null): void {
    if (this.lastAt(customer) === at) return
    this.#lastAt.delete(customer)
    if (at === null) return
    this.#lastAt.set(customer, at)
    this.#lastAt = new Map([...this.#lastAt].sort(([, a], [, b]) => a - b))
  }
}
