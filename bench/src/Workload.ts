/**
 * The workload of every contestant: sending a template, each time to a random one of ten million customers, with a new
 * idempotency key.
 */
import { randomInt, randomUUID } from "node:crypto"

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

/** How messages come to a service: each sent by a call, each queued by a call, or queued together. */
export type Handover = "Send" | "Queue" | "Batch"

/** A call that hands over messages. */
export interface Call {
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: () => string
  /** The status of its answer. */
  readonly status: number
  /** What the answer's body contains for each message. */
  readonly expected: string
  readonly messages: number
}

/** The messages of a batch: as many as it may have (contract §15). */
export const perBatch = 500

const queued = "\"status\":\"queued\""

export const calls: { readonly [handover in Handover]: Call } = {
  Send: {
    path,
    headers: {},
    body: () => bodyTo(someCustomer()),
    status: 200,
    expected: "\"status\":\"sent\"",
    messages: 1
  },
  Queue: {
    path,
    headers: { prefer: "respond-async" },
    body: () => bodyTo(someCustomer()),
    status: 202,
    expected: queued,
    messages: 1
  },
  Batch: {
    path: `${path}/batch`,
    headers: {},
    body: () =>
      batchOf(Array.from({ length: perBatch }, () => ({
        idempotency_key: randomUUID(),
        ...JSON.parse(bodyTo(someCustomer()))
      }))),
    status: 200,
    expected: queued,
    messages: perBatch
  }
}

/** The body of a batch. */
export const batchOf = (messages: ReadonlyArray<object>): string => JSON.stringify({ messages })

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
