/**
 * The service as a process whose surroundings a test holds in its hands: every send is asked of the HTTP server at
 * `TEST_UPSTREAM`, which answers with a `ProviderOutcome` and posts like the stub of a provider's webhook, unless the
 * provider is WhatsApp; the clock is `TEST_AHEAD` milliseconds ahead, of the machine's or of the time `TEST_STILL_AT`,
 * at which it then stands, and shared instants are judged by it, unless `TEST_TIME` is `storage`; and orders come from
 * the parent process, which is told the number of each that is carried out.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { DeliveryAttempt, type Id, Inbound, type Message, Provider, StorageTime } from "@wac/core"
import { Composition } from "@wac/effect"
import { SandboxProvider } from "@wac/sandbox"
import { StubProviderWebhook } from "@wac/testkit"
import { Clock, Context, Duration, Effect, Layer } from "effect"
import { flushCompileCache } from "node:module"
import { run } from "../src/Run.ts"
import { teardown } from "../src/Teardown.ts"

export type Order =
  /** Time passes. */
  | { readonly _tag: "Advance"; readonly millis: number }
  /** The provider reports on a message. */
  | {
    readonly _tag: "Report"
    readonly messageId: string
    readonly providerMessageId: string
    readonly status: Exclude<Message.Report["status"], "failed">
  }

/** The order of this number is carried out, or says why it is not. */
export interface Done {
  readonly number: number
  readonly failure?: string
}

/** What the provider is told of a send. */
export interface Asked {
  readonly messageId: string
  readonly to: string
}

/** Sleeps take their time also where the clock stands still; only the deadlines of attempts never pass then. */
class SteeredClock implements Clock.Clock {
  readonly #real: Clock.Clock
  readonly #stillAt: number | undefined
  #ahead: number
  #advanced = 0n
  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly monotonicTimeNanos = Effect.sync(() => this.monotonicTimeNanosUnsafe())
  constructor(real: Clock.Clock, ahead: number, stillAt: number | undefined) {
    this.#real = real
    this.#ahead = ahead
    this.#stillAt = stillAt
  }
  advance(millis: number): void {
    this.#ahead += millis
    this.#advanced += BigInt(millis) * 1_000_000n
  }
  currentTimeMillisUnsafe() {
    return (this.#stillAt ?? this.#real.currentTimeMillisUnsafe()) + this.#ahead
  }
  currentTimeNanosUnsafe() {
    return BigInt(this.currentTimeMillisUnsafe()) * 1_000_000n
  }
  monotonicTimeNanosUnsafe() {
    return (this.#stillAt === undefined ? this.#real.monotonicTimeNanosUnsafe() : 0n) + this.#advanced
  }
  sleep(duration: Duration.Duration) {
    return this.#stillAt !== undefined && Duration.equals(duration, DeliveryAttempt.timeout)
      ? Effect.never
      : this.#real.sleep(duration)
  }
}

const unknown: Provider.ProviderOutcome = { _tag: "Unknown" }

const ask = (asked: Asked): Effect.Effect<Provider.ProviderOutcome> =>
  Effect.tryPromise(async (signal): Promise<Provider.ProviderOutcome> => {
    const response = await fetch(process.env["TEST_UPSTREAM"]!, {
      method: "POST",
      body: JSON.stringify(asked),
      signal
    })
    return JSON.parse(await response.text())
  }).pipe(Effect.orElseSucceed(() => unknown))

const provider = Layer.effect(
  Provider.Provider,
  Effect.map(Provider.Provider, (sandbox) =>
    Provider.Provider.of({
      ...sandbox,
      send: ({ message, messageId }) => ask({ messageId, to: message.to })
    }))
).pipe(Layer.provide(SandboxProvider.layer), Layer.merge(StubProviderWebhook.layer()))

const main = Effect.gen(function*() {
  const stillAt = process.env["TEST_STILL_AT"]
  const clock = new SteeredClock(
    yield* Clock.Clock,
    Number(process.env["TEST_AHEAD"]),
    stillAt === undefined ? undefined : Number(stillAt)
  )
  const { services } = yield* run(
    process.env,
    process.env["PROVIDER"] === "whatsapp" ? undefined : { ...Composition.standard, provider }
  ).pipe(
    Effect.provideService(Clock.Clock, clock),
    Effect.provideService(StorageTime.JudgedBy, process.env["TEST_TIME"] === "storage" ? "storage" : "asker")
  )
  const inbound = Context.get(services, Inbound.Inbound)
  const carryOut = (order: Order) =>
    order._tag === "Advance"
      ? Effect.sync(() => clock.advance(order.millis))
      : inbound.receive([{
        _tag: "Status",
        providerNumberId: SandboxProvider.firstNumber.providerNumberId,
        reference: order.messageId as Id.MessageId,
        report: {
          status: order.status,
          at: clock.currentTimeMillisUnsafe(),
          providerMessageId: order.providerMessageId,
          error: null
        }
      }])
  const runPromise = Effect.runPromiseWith(yield* Effect.context())
  process.on("message", ({ number, order }: { readonly number: number; readonly order: Order }) => {
    const tell = (done: Done) => process.send!(done)
    void runPromise(Effect.provideService(carryOut(order), Clock.Clock, clock)).then(
      () => tell({ number }),
      (failure) => tell({ number, failure: String(failure) })
    )
  })
  // a process that is killed keeps nothing by itself
  flushCompileCache()
  return yield* Effect.never
})

NodeRuntime.runMain(Effect.scoped(main), { disableErrorReporting: true, teardown: teardown("text") })
