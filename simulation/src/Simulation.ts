/**
 * A run: a plan carried out against several processes of the service over one storage, until nothing is left to happen,
 * and the judgement of what was seen.
 */
import { check, type History, type Verdict } from "@wac/checker"
import { ApiKeys, Deliveries, type Id, Idempotency, Setup, StorageTime, Webhooks, WorkspaceStore } from "@wac/core"
import type { Composition } from "@wac/effect"
import { MemoryStorage } from "@wac/memory"
import { Cause, Duration, Effect, Exit, Fiber, Layer, Redacted } from "effect"
import * as Callers from "./Callers.ts"
import * as Customers from "./Customers.ts"
import * as Fleet from "./Fleet.ts"
import * as Handler from "./Handler.ts"
import type * as Plan from "./Plan.ts"
import * as Receiver from "./Receiver.ts"
import * as SeededCryptography from "./SeededCryptography.ts"
import type { Fails } from "./Shrink.ts"
import * as Upstream from "./Upstream.ts"
import * as World from "./World.ts"

/** What was seen, and its judgement. */
export interface Run {
  readonly plan: Plan.Plan
  readonly history: History.History
  /** The virtual time that it took, in milliseconds. */
  readonly millis: number
  /** What befell the processes, which the judgement does not know. */
  readonly notes: ReadonlyArray<World.Note>
  readonly verdict: Verdict
}

/** How long after the faults everything has its end: the last retry of a delivery is a day after its first attempt. */
const aftermath = Duration.hours(26)

/** A bug that a test plants. */
export interface Planted {
  /** Ports in front of the storage's and of the transport to receivers. */
  readonly inFront?: Composition.InFront<never>
  /** The provider's adapter, made of the right one. */
  readonly provider?: (right: Composition.Adapters["provider"]) => Composition.Adapters["provider"]
  /** Whose clock judges what is due. */
  readonly judgedBy?: StorageTime.Judge
}

/** The first workspace, with a key and a webhook. */
const setUp = Effect.fnUntraced(function*({ plan, record, timeline: { now } }: World.World) {
  yield* Setup.Setup.use((setup) =>
    setup.create({ email: "owner@wac.example", password: Redacted.make("a long passphrase"), workspaceName: "World" })
  )
  const [workspace] = yield* WorkspaceStore.WorkspaceStore.use((store) => store.list)
  const workspaceId = workspace!.id
  const { secrets } = yield* ApiKeys.ApiKeys.use((keys) =>
    keys.issue({
      workspaceId,
      name: "world",
      expiresAt: null,
      requireSignature: false,
      scopes: ["messages:send", "messages:read", "contacts:write", "campaigns:write"],
      caller: "world",
      idempotencyKey: Idempotency.IdempotencyKey.make("world")
    })
  )
  const begun = now()
  const { signingSecret, webhook } = yield* Webhooks.Webhooks.use((webhooks) =>
    webhooks.put({ workspaceId, url: "https://receiver.example/", envelope: undefined, eventTypes: undefined })
  )
  record({ kind: "webhook", process: "world", webhook: webhook.id, begun, ended: now() })
  if (plan.quota !== null) {
    const begun = now()
    const monthlyQuota = plan.quota
    yield* WorkspaceStore.WorkspaceStore.use((store) => store.configure(workspaceId, { monthlyQuota }))
    record({ kind: "quota", process: "world", workspace: workspaceId, messages: monthlyQuota, begun, ended: now() })
  }
  return {
    workspaceId,
    token: Redacted.value(secrets!.token),
    webhook: { id: webhook.id, secret: Redacted.value(signingSecret!) }
  }
})

/** The deliveries that ended without the receiver's 200, or are held. */
const undelivered = (workspaceId: Id.WorkspaceId) =>
  Deliveries.Deliveries.use((deliveries) =>
    Effect.forEach(["exhausted", "skipped", "held"] as const, (status) =>
      Effect.map(
        deliveries.list(workspaceId, { status }, { limit: 100, after: null }),
        ({ items }) => items.map(({ delivery }) => ({ delivery, status }))
      ))
  )

/** Carries out the plan. Returns when nothing was in progress any more. */
const program = Effect.fnUntraced(function*(world: World.World, planted: Planted) {
  const { plan, timeline: { now } } = world
  const receiver = Receiver.make(world)
  const handler = Handler.make(world)
  const upstream = Upstream.make(world, (item, chance) => fleet.up(chance)?.receive(item) ?? Effect.succeed(false))
  const fleet = Fleet.make({
    world,
    storage: yield* Layer.build(
      Layer.provide(MemoryStorage.layerNoRandom, [
        SeededCryptography.random(world.chance("identifiers")),
        Layer.succeed(StorageTime.JudgedBy, planted.judgedBy ?? "storage")
      ])
    ),
    provider: (lane) => planted.provider?.(upstream.layer(lane)) ?? upstream.layer(lane),
    subscription: handler.of,
    inFront: (lane) => Layer.provideMerge(planted.inFront ?? Layer.empty, receiver.layer(lane))
  })

  // the world begins in good weather
  const first = yield* fleet.alone("first")
  const account = yield* first.use(setUp(world))
  if (account === null) return yield* Effect.die("the world could not be set up")
  if ((yield* first.use(Effect.as(handler.open(account.workspaceId), true))) === null) {
    return yield* Effect.die("the subscription could not be opened")
  }
  receiver.setWebhook(account.webhook.id, account.webhook.secret)
  yield* first.stop

  const began = now()
  const callers = Callers.make(world, fleet, account, began)

  const write = Customers.make(world, fleet)

  const end = Effect.fnUntraced(function*({ down, how, others, process: place }: Plan.Ended) {
    fleet.setDowntime(place, down)
    const process = fleet.at(place)
    if (process === undefined) return
    if (how === "stopped") return yield* process.stop
    if (how === "killed") return process.lane.kill()
    process.dieAt(how === "killed_before" ? "before" : "after", others)
  })

  const carryOut = Effect.fnUntraced(function*(operation: Plan.Operation) {
    yield* Effect.sleep(operation.at)
    switch (operation.kind) {
      case "send":
        return yield* callers.send(operation)
      case "read":
      case "cancel":
        return yield* callers.askFor(operation)
      case "written":
        return yield* write(operation)
      case "chosen":
        return yield* callers.choose(operation)
      case "campaign":
        return yield* callers.runCampaign(operation)
      case "pause":
      case "resume":
      case "cancel_campaign":
        return yield* callers.steerCampaign(operation)
      case "clock_set": {
        const process = fleet.at(operation.process)
        if (process === undefined || !world.isFaultActive("clocks")) return
        world.note(process.lane.name, `has its clock set, ahead by ${operation.ahead} ms`)
        return process.lane.setAhead(operation.ahead)
      }
      case "suspended": {
        const process = fleet.at(operation.process)
        if (process === undefined) return
        world.note(process.lane.name, `is suspended for ${operation.millis} ms`)
        return process.lane.suspend(operation.millis)
      }
      case "ended":
        return yield* end(operation)
    }
  })

  world.setFaultsEnabled(true)
  const killAll = yield* fleet.keep(plan.processes)
  const operations = plan.operations.map((operation) => world.fork(carryOut(operation)))
  yield* Effect.sleep(plan.length)
  world.setFaultsEnabled(false)
  for (const operation of operations) yield* Fiber.join(operation)
  yield* killAll

  const last = yield* fleet.alone("last")
  yield* Effect.sleep(aftermath)
  const settledAt = now()
  yield* callers.readAll()
  const ends = yield* last.use(undelivered(account.workspaceId))
  if (ends === null) return yield* Effect.die("the deliveries could not be listed")
  for (const { delivery, status } of ends.flat()) {
    world.record({
      kind: "delivery_end",
      process: "caller",
      webhook: delivery.webhookId,
      event_id: delivery.eventId,
      status,
      begun: delivery.createdAt,
      ended: delivery.completedAt ?? now()
    })
  }
  return settledAt
}, Effect.scoped)

/** Carries out a plan. The same plan gives the same history, byte for byte. */
export const run = async (plan: Plan.Plan, planted: Planted = {}): Promise<Run> => {
  const world = World.make(plan)
  const begun = world.timeline.now()
  const exit = await world.timeline.run(world.lane, program(world, planted))
  if (Exit.isFailure(exit)) throw Cause.squash(exit.cause)
  const history: History.History = {
    header: { format: "wac-history", version: 1, settled_at: exit.value },
    entries: world.history
  }
  return { plan, history, millis: world.timeline.now() - begun, notes: world.notes, verdict: check(history) }
}

/** A test of a plan: whether it breaks the first promise that a run broke. */
export const breaks = ({ verdict }: Run, planted: Planted = {}): Fails => {
  const [first] = verdict.broken
  return async (plan) => (await run(plan, planted)).verdict.broken.some(({ promise }) => promise === first?.promise)
}
