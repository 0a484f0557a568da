/**
 * The service with `PROVIDER=whatsapp` on the simulated Cloud API, over real HTTP both ways. Both go by one clock,
 * which the test moves.
 */
import { assert } from "@effect/vitest"
import { InboundPostStore } from "@wac/core"
import { CloudApi } from "@wac/simulator"
import { verify } from "@wac/verifier"
import { WhatsAppProvider, WhatsAppWebhook } from "@wac/whatsapp"
import { Clock, Context, type Duration, Effect, Layer, Redacted } from "effect"
import * as checks from "../checks.ts"
import { type Answer, call, type Delivered, ready, receiver, send, setWebhook } from "../harness.ts"
import { type Movable, moving } from "../movable.ts"
import { freshDatabase, masterKey, postgres } from "../processes.ts"

export const path = "/providers/whatsapp/webhook"

/** Words of a message come at once, in their order. */
const atOnce = { sentAfter: 0, deliveredAfter: 0, readAfter: 0 } as const

/** Nothing is told of a message but what the test tells. */
export const silent = { sentAfter: null, deliveredAfter: null, readAfter: null } as const

/** Upstream's limits out of the way; ours are by `checks.unlimited` and by what the number is told to have. */
export const generous = { throughput: 1_000_000, pairLimit: false } as const

export interface Options {
  readonly api?: CloudApi.Options
  readonly environment?: { readonly [name: string]: string }
  /** In a PostgreSQL database, not in memory. */
  readonly durable?: boolean
  /** How long a send waits for upstream, in place of what is usual. */
  readonly sendTimeout?: Duration.Duration
  /** Done to the simulator before the service starts. */
  readonly before?: (api: CloudApi.CloudApi) => Effect.Effect<unknown, string>
}

/**
 * As the service itself makes it, but for the time that it has for a send; nobody looks at the numbers now and then.
 */
const impatient = ({ identity, url }: CloudApi.CloudApi, sendTimeout: Duration.Duration) => {
  const config = {
    baseUrl: url,
    apiVersion: "v25.0",
    accessToken: Redacted.make(identity.accessToken),
    phoneNumberId: identity.numbers[0].id,
    businessAccountId: identity.account,
    appSecret: Redacted.make(identity.appSecret),
    verifyToken: Redacted.make(identity.verifyToken)
  }
  return { provider: Layer.merge(WhatsAppProvider.layer(config, { sendTimeout }), WhatsAppWebhook.layer(config)) }
}

const make = Effect.fnUntraced(function*(options: Options) {
  const { before, durable = false, environment, sendTimeout } = options
  const api = yield* CloudApi.make({ ...options.api, settings: { ...atOnce, ...options.api?.settings } })
  if (before !== undefined) yield* before(api)
  const database = durable ? yield* Effect.flatMap(postgres, freshDatabase) : undefined
  const server = yield* ready({
    environment: {
      ...api.environment,
      ...(database === undefined ? {} : { DATABASE_URL: database, WAC_MASTER_KEY: masterKey() }),
      ...environment
    },
    ...(sendTimeout === undefined ? {} : { adapters: impatient(api, sendTimeout) })
  })
  const handshake = yield* api.courier.subscribe(server.url + path, api.identity.verifyToken)
  assert.deepStrictEqual(handshake, { subscribed: true, status: 200, problem: undefined })
  const hook = yield* receiver
  const { signingSecret } = yield* setWebhook(server, { url: hook.url })

  /** Everything that the receiver was told, each verified as it was delivered; one that came again counts once. */
  const told = Effect.gen(function*() {
    const events = new Map<string, Delivered["event"]>()
    for (const { arrivedAt, body, headers } of yield* hook.requests) {
      const verified = yield* Effect.promise(() =>
        verify(body, headers["x-service-signature"], signingSecret, { now: arrivedAt / 1000 })
      )
      assert.isTrue(verified.ok, JSON.stringify(verified))
      const event = JSON.parse(new TextDecoder().decode(body))
      events.set(event.id, event)
    }
    return [...events.values()]
  })

  const number: Effect.Effect<Answer["body"]> = Effect.map(
    call(`${server.url}/internal/phone-numbers`, { headers: server.session }),
    ({ body }) => body.data[0]
  )

  return {
    ...server,
    api,
    told,
    /** What the receiver is told of a customer, once there is so much of it. */
    toldOf: (customer: string, count: number) =>
      checks.until(
        Effect.map(told, (events) =>
          events.filter(({ data }) => [data.to, data.from, data.from_user_id].includes(customer))),
        ({ length }) =>
          length >= count
      ),
    /** Suspends until all that upstream has posted so far is processed. */
    quiet: Effect.andThen(
      api.courier.settled,
      checks.until(
        Effect.orDie(Context.get(server.services, InboundPostStore.InboundPostStore).backlog),
        ({ waiting }) => waiting === 0
      )
    ),
    /** The sends to this number that have come to upstream. */
    callsTo: (to: string) => Effect.map(api.calls, (calls) => calls.filter((call) => call.to === to)),
    /** The default number, as the dashboard shows it. */
    number,
    untilNumber: (awaited: (shown: Answer["body"]) => boolean) => checks.until(number, awaited),
    post: (body: string | Uint8Array, signature: string | undefined): Effect.Effect<Answer> =>
      call(server.url + path, {
        method: "POST",
        body: typeof body === "string" ? body : new TextDecoder().decode(body),
        headers: signature === undefined ? {} : { "x-hub-signature-256": signature }
      })
  }
})

/** One service and its upstream for the tests of a block, which run under their clock. */
export class World extends Context.Service<World, Effect.Success<ReturnType<typeof make>> & Movable>()(
  "@wac/server/test/whatsapp/whatsapp/World"
) {
  static readonly layer = (options: Options = {}) =>
    Layer.effectContext(Effect.gen(function*() {
      const world = yield* moving(make(options))
      return Context.make(World, world).pipe(Context.add(Clock.Clock, world.clock))
    }))
}

let recipients = 0
/** A number that nobody has written to. */
export const anyone = () => `+1650555${String(++recipients).padStart(4, "0")}`

export const template = (to: string, name = "hello_world", bodyParams?: ReadonlyArray<string>, language = "en_US") => ({
  to,
  type: "template",
  template: { name, language, ...(bodyParams === undefined ? {} : { bodyParams }) }
})

export const text = (to: string, body = "Olá 👋") => ({ to, type: "text", text: { body } })

/** A send that is accepted; gives its message's id. */
export const accepted = Effect.fnUntraced(function*(
  server: Parameters<typeof send>[0],
  body: unknown,
  headers?: Parameters<typeof send>[2]
) {
  const answer = yield* send(server, body, headers)
  assert.strictEqual(answer.status, 200, answer.text)
  return String(answer.body.message_id)
})
