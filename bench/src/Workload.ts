/**
 * What every contestant is asked for: to send a template, each time to a customer drawn from ten million, under an
 * idempotency key of its own.
 */
import { randomInt } from "node:crypto"

export const path = "/v1/messages"

/** The template that is sent; its two values are those of {@link bodyTo}. */
export const template = {
  name: "order_update",
  language: "en_US",
  body: "Good news: order {{1}} is on its way and should arrive on {{2}}."
}

/** How many customers there are; the n-th one's number is {@link customer}. */
export const customers = 10_000_000

export const customer = (n: number): string => `+1555${String(n).padStart(7, "0")}`

export const someCustomer = (): string => customer(randomInt(customers))

export const bodyTo = (to: string): string =>
  `{"to":"${to}","type":"template","template":{"name":"${template.name}","language":"${template.language}",` +
  `"bodyParams":["A-1001","Tuesday"]}}`

/** Where requests go, and whose they are. */
export interface Target {
  readonly url: string
  readonly apiKey: string
}

export const headersOf = (target: Target, idempotencyKey: string): Record<string, string> => ({
  "authorization": `Bearer ${target.apiKey}`,
  "content-type": "application/json",
  "idempotency-key": idempotencyKey
})
