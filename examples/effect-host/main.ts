// wac as Layers in a program that uses Effect: `node main.ts`
import { NodeRuntime } from "@effect/platform-node"
import { Events, Limits } from "@wac/core"
import { Composition, Host } from "@wac/effect"
import { Console, Effect, Layer, Schedule } from "effect"

/** Every service of the domain, and what runs in the background. The sandbox stands behind it, unless one says more. */
const Wac = Host.Host.layer("Shop").pipe(
  Layer.provideMerge(Composition.layer({
    storage: { _tag: "Memory" }, // in production: { _tag: "Server", url: Redacted.make(…) }, and a masterKey
    masterKey: undefined,
    previousMasterKey: undefined,
    limits: Limits.standard,
    receiverRules: { allowInsecure: false, allowedCidrs: [] }
  }))
)

/** Tells a customer that an order is on its way, once, however often it runs for the order within 24 hours. */
const shipped = Effect.fn("shipped")(function*(order: string, name: string, to: string) {
  const host = yield* Host.Host
  return yield* host.send(
    { to, type: "template", template: { name: "order_update", language: "en_US", bodyParams: [name, order] } },
    { idempotencyKey: `order-${order}-shipped` }
  )
})

/** All events so far, oldest first. */
const recorded = Effect.gen(function*() {
  const { workspaceId } = yield* Host.Host
  const events = yield* Events.Events
  return (yield* events.list(workspaceId, {}, { limit: 100, after: null })).items
})

const program = Effect.gen(function*() {
  const { messageId } = yield* shipped("1042", "Ana", "+15551234567")
  yield* Console.log(`sent ${messageId}`)
  const again = yield* shipped("1042", "Ana", "+15551234567")
  yield* Console.log(`again ${again.messageId}`)

  // every error is typed, by its code; `reason` says more
  yield* shipped("1043", "Ben", "+15005550001").pipe(
    Effect.catchTag("InvalidBody", ({ message, reason }) => Console.log(`refused ${reason}: ${message}`))
  )

  const events = yield* Effect.repeat(recorded, {
    schedule: Schedule.spaced("50 millis"),
    until: (events) => events.some(({ type }) => type === "message.read")
  })
  for (const { data, type } of events) yield* Console.log(`${type} ${data["message_id"]}`)
})

program.pipe(Effect.provide(Wac), NodeRuntime.runMain)
