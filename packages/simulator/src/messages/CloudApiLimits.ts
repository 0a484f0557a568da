/** The limits of the simulated Cloud API on sends. Only accepted messages count towards them. */

/**
 * The interval of messages from a number to a customer in milliseconds, and how many may be sent in a burst. Source:
 * github.com/yvfl/api-whatsapp-docs, docs/about_the_platform.md.
 */
const pairEvery = 6000
const pairBurst = 45
const second = 1000
const day = 24 * 3600 * 1000

export interface Limits {
  /**
   * Whether this number may send one more message now, with at most `perSecond` messages in a second. Source:
   * developers.facebook.com/documentation/business-messaging/whatsapp/throughput.
   */
  readonly throughput: (number: string, now: number, perSecond: number) => boolean
  /** Whether this number may write to this customer now. */
  readonly pair: (number: string, customer: string, now: number) => boolean
  /**
   * Whether a message to this customer may be sent outside a window now, with at most `most` customers in 24 hours.
   * Source: github.com/yvfl/api-whatsapp-docs, docs/mensagens/limites_de_mensagens/messaging_limits.md.
   */
  readonly customers: (customer: string, now: number, most: number) => boolean
  /** Counts an accepted message. */
  readonly spend: (number: string, customer: string, now: number, outsideWindow: boolean) => void
}

export const make = (): Limits => {
  const sent = new Map<string, Array<number>>()
  /** By number and customer: when the intervals of all messages so far will have passed. */
  const paired = new Map<string, number>()
  const written = new Map<string, number>()

  const lately = (number: string, now: number): Array<number> => {
    const times = (sent.get(number) ?? []).filter((time) => time > now - second)
    sent.set(number, times)
    return times
  }
  const waitedFor = (pair: string, now: number) => Math.max(paired.get(pair) ?? 0, now) + pairEvery

  return {
    throughput: (number, now, perSecond) => lately(number, now).length < perSecond,
    pair: (number, customer, now) => waitedFor(`${number} ${customer}`, now) <= now + pairBurst * pairEvery,
    customers: (customer, now, most) => {
      for (const [name, at] of written) if (at <= now - day) written.delete(name)
      return written.has(customer) || written.size < most
    },
    spend: (number, customer, now, outsideWindow) => {
      const pair = `${number} ${customer}`
      lately(number, now).push(now)
      paired.set(pair, waitedFor(pair, now))
      if (outsideWindow) written.set(customer, now)
    }
  }
}
