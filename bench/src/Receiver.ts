/**
 * The receiver of webhooks as the run sees it: starts the receiver's process and checks that the right requests
 * arrived.
 */
import { SIGNATURE_HEADER, signStandardWebhook, STANDARD_WEBHOOK_HEADERS, verify } from "@wac/verifier"
import { Effect, type Scope } from "effect"
import { because, BenchFailed } from "./BenchFailed.ts"
import * as Child from "./Child.ts"
import type { Webhook } from "./WebhookEvent.ts"

/** A received request. */
export interface Sample {
  readonly path: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string
}

/** The identifiers of arrived events with their times, in order, the duplicates, and a sample of whole requests. */
export interface Arrivals {
  readonly ids: ReadonlyArray<string>
  readonly times: ReadonlyArray<number>
  readonly samples: ReadonlyArray<Sample>
}

/** Asks for the arrivals since the previous question, answered after `count` arrivals or `seconds`. */
export interface Awaited {
  readonly count: number
  readonly seconds: number
}

export interface Receiver {
  /** The URL of the n-th webhook. */
  readonly urlOf: (n: number) => string
  readonly arrivals: (awaited: Awaited) => Effect.Effect<Arrivals, BenchFailed>
}

export const make: Effect.Effect<Receiver, BenchFailed, Scope.Scope> = Effect.map(
  Child.start<string>("ReceiverProcess", null),
  ({ ask, ready }) => ({ urlOf: (n) => `${ready}/${n}`, arrivals: (awaited) => ask<Arrivals>(awaited) })
)

const signed = async ({ body, headers, path }: Sample, webhooks: ReadonlyArray<Webhook>): Promise<boolean> => {
  const secret = webhooks[Number(path.slice(1))]?.secret
  if (secret === undefined) return false
  const id = headers[STANDARD_WEBHOOK_HEADERS.id]!
  const timestamp = Number(headers[STANDARD_WEBHOOK_HEADERS.timestamp])
  const { ok } = await verify(body, headers[SIGNATURE_HEADER.toLowerCase()], secret)
  return ok && (JSON.parse(body) as { readonly id: string }).id === id &&
    headers[STANDARD_WEBHOOK_HEADERS.signature] === await signStandardWebhook({ id, timestamp, body, secret })
}

/** Fails unless each of these events arrived exactly once and the sampled requests are signed correctly. */
export const check = (
  name: string,
  arrivals: Arrivals,
  expected: { readonly ids: ReadonlyArray<string>; readonly webhooks: ReadonlyArray<Webhook> }
): Effect.Effect<void, BenchFailed> =>
  Effect.gen(function*() {
    const arrived = new Set(arrivals.ids)
    const missing = expected.ids.filter((id) => !arrived.has(id)).length
    if (missing > 0 || arrived.size > expected.ids.length || arrivals.ids.length > arrived.size) {
      return yield* new BenchFailed({
        message: `${name}: of ${expected.ids.length} events ${missing} did not arrive, ` +
          `${arrived.size - (expected.ids.length - missing)} others did, ` +
          `and ${arrivals.ids.length - arrived.size} arrived again`
      })
    }
    const right = yield* Effect.tryPromise({
      try: () => Promise.all(arrivals.samples.map((sample) => signed(sample, expected.webhooks))),
      catch: because(name)
    })
    if (right.length === 0 || right.includes(false)) {
      return yield* new BenchFailed({
        message: `${name}: of ${right.length} requests that were kept, ` +
          `${right.filter((one) => !one).length} are not signed as they should be`
      })
    }
  })
