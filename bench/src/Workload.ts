/**
 * The workload of every contestant: sending a template, each time to a random one of ten million customers, with a new
 * idempotency key.
 */
import { randomInt } from "node:crypto"

export const path = "/v1/messages"

/** The template to send; {@link bodyTo} sets its two values. */
export const template = {
  name: "order_update",
  language: "en_US",
  body: "Good news: order {{1}} is on its way and should arrive on {{2}}."
}

/** The number of customers; {@link customer} returns the number of the n-th. */
export const customers = 10_000_000

export const customer = (n: number): string => `+1555${String(n).padStart(7, "0")}`

export const someCustomer = (): string => customer(randomInt(customers))

export const bodyTo = (to: string): string =>
  `{"to":"${to}","type":"template","template":{"name":"${template.name}","language":"${template.language}",` +
  `"bodyParams":["A-1001","Tuesday"]}}`

/** The URL of the service and the API key. */
export interface Target {
  readonly url: string
  readonly apiKey: string
}

export const headersOf = (target: Target, idempotencyKey: string): Record<string, string> => ({
  "authorization": `Bearer ${target.apiKey}`,
  "content-type": "application/json",
  "idempotency-key": idempotencyKey
})
