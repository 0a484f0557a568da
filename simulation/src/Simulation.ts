/**
 * A run: a plan carried out against several processes of the service over one storage, until nothing is left to happen,
 * and the judgement of what was seen.
 */
import { check, type History, type Verdict } from "@wac/checker"
import { ApiKeys, CustomerNames, Deliveries, Idempotency, InboundMessage, Setup, Webhooks, WorkspaceStore } from "@wac/core"
import type { Composition } from "@wac/effect"
import { MemoryStorage } from "@wac/memory"
import { Cause, Duration, Effect, Exit, Fiber, Layer, Option, Redacted } from "effect"
import type { Chance } from "./Chance.ts"
import * as Outside from "./Outside.ts"
import type * as Plan from "./Plan.ts"
import * as Process from "./Process.ts"
import * as Receiver from "./Receiver.ts"
import type { Fails } from "./Shrink.ts"
import * as SeededCryptography from "./SeededCryptography.ts"
import type { Lane } from "./Timeline.ts"
import * as Upstream from "./Upstream.ts"

/** What was seen, and its judgement. */
export interface Run {
  readonly plan: Plan.Plan
  readonly history: History.History
  /** What befell the processes, which the judgement does not know. */
  readonly notes: ReadonlyArray<Outside.Note>
  readonly verdict: Verdict
}

/** How long callers wait for an answer. */
const patience = Duration.seconds(15)

/** How long after the faults everything has its end: the last retry of a delivery is a day after its first attempt. */
const aftermath = Duration.hours(26)

/** How often a caller sends the same request before it gives up. */
const tries = 12

/** What becomes of a caller's request. */
const ways = { answered: 16, lost: 1, answerLost: 2 }

/** A bug that a test plants. */
export interface Planted {
  /** Ports in front of the storage's and of the transport to receivers. */
  readonly inFront?: Composition.InFront<never>
  /** The provider's adapter, made of the right one. */
  readonly provider?: (right: Composition.Adapters["provider"]) => Composition.Adapters["provider"]
}

const program = Effect.fnUntraced(function*(outside: Outside.Outside, planted: Planted) {
  const { plan, timeline } = outside
  const { now } = timeline
  const began = now()
  const storage = yield* Layer.build(
    Layer.provide(MemoryStorage.layerNoRandom, SeededCryptography.random(outside.chance("identifiers")))
  )

  /** The current start of each process; `null` while it is down. */
  const processes: Array<Process.Started | null> = []
  const up = (chance: Chance): Process.Started | undefined => {
    const all = processes.filter((process) => process !== null && !process.lane.isDead())
    return all.length === 0 ? undefined : chance.pick(all)!
  }

  const receiver = Receiver.make(outside)
  const upstream = Upstream.make(outside, (item, chance) => {
    const process = up(chance)
    return process === undefined ? Effect.succeed(false) : process.receive(item)
  })
  const surroundings: Process.Surroundings = {
    outside,
    storage,
    provider: (lane) => planted.provider?.(upstream.layer(lane)) ?? upstream.layer(lane),
    inFront: (lane) => Layer.provideMerge(planted.inFront ?? Layer.empty, receiver.layer(lane))
  }

  /** Every process that was begun, and is not known to be dead. */
  const lanes = new Set<Lane>()
  let starts = 0
  let isOver = false

  /** Begins a process in a place. `null` if it could not start. */
  const start = Effect.fnUntraced(function*(index: number, name: string, isAlone = false) {
    const { lane, started } = Process.start(surroundings, `${name}.${++starts}`, isAlone)
    lanes.add(lane)
    lane.onDeath(() => void lanes.delete(lane))
    const process = yield* started
    outside.note(lane.name, process === null ? "does not start" : "has started")
    if (process !== null) lane.onDeath(() => outside.note(lane.name, "is dead"))
    processes[index] = process
    return process
  })

  const downtimes: Array<number> = []

  /** Keeps a process in a place, until the faults are over. */
  const keep = Effect.fnUntraced(function*(index: number) {
    while (!isOver) {
      const process = yield* start(index, `p${index + 1}`)
      if (process !== null) {
        yield* Effect.callback<void>((resume) => {
          if (process.lane.isDead()) return resume(Effect.void)
          process.lane.onDeath(() => resume(Effect.yieldNow))
        })
      }
      processes[index] = null
      yield* Effect.sleep(downtimes[index] ?? 1000)
    }
  })

  // the world begins in good weather
  const first = yield* start(0, "setup", true)
  if (first === null) return yield* Effect.die("the first process could not start")
  const made = yield* first.use(Effect.gen(function*() {
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
        scopes: undefined,
        caller: "world",
        idempotencyKey: Idempotency.IdempotencyKey.make("world")
      })
    )
    const begun = now()
    const { signingSecret, webhook } = yield* Webhooks.Webhooks.use((webhooks) =>
      webhooks.put({ workspaceId, url: "https://receiver.example/", envelope: undefined, eventTypes: undefined })
    )
    receiver.set(webhook.id, Redacted.value(signingSecret!))
    outside.record({ kind: "webhook", process: "world", webhook: webhook.id, begun, ended: now() })
    return { workspaceId, token: Redacted.value(secrets!.token) }
  }))
  if (made === null) return yield* Effect.die("the world could not be set up")
  const { token, workspaceId } = made
  yield* first.stop

  outside.storm(true)
  const kept = Array.from({ length: plan.processes }, (_, index) => outside.fork(keep(index)))

  /** A caller's request to some process, over a network that may lose it or its answer. */
  const request = Effect.fnUntraced(function*(asked: Process.Request, chance: Chance) {
    yield* Effect.sleep(chance.between(1, 50))
    const way = outside.isFaulty("callers") ? chance.weighted(ways) : "answered"
    const process = up(chance)
    if (process === undefined || way === "lost") return null
    const answer = yield* Effect.timeoutOption(
      process.request({ ...asked, headers: { authorization: `Bearer ${token}`, ...asked.headers } }),
      patience
    )
    return way === "answerLost" ? null : Option.getOrNull(answer)
  })

  const send = Effect.fnUntraced(function*(key: string, body: unknown, chance: Chance) {
    const begun = now()
    const answer = yield* request({
      method: "POST",
      path: "/v1/messages",
      headers: { "idempotency-key": key, "content-type": "application/json" },
      body: JSON.stringify(body)
    }, chance)
    outside.record({
      kind: "send",
      process: "caller",
      workspace: workspaceId,
      key,
      body,
      status: answer?.status ?? null,
      answer: answer?.text ?? null,
      replayed: answer?.isReplayed ?? false,
      begun,
      ended: answer === null ? null : now()
    })
    if (answer?.status === 200 || answer?.status === 202) messages.add(String(JSON.parse(answer.text).message_id))
    return answer
  })
  const messages = new Set<string>()
  /** The message of each send, once it is known. */
  const messageOf = new Map<number, string>()

  const sending = Effect.fnUntraced(function*({ at, id, isMisused, later, repetitions, to, type }: Plan.Send) {
    const content = type === "text"
      ? { type, text: { body: `number ${id}` } }
      : { type, template: { name: "hello_world", language: "en_US" } }
    const sendAt = later === null ? {} : { send_at: new Date(began + at + later).toISOString() }
    const key = `send-${id}`
    const body = { to, ...content, ...sendAt, client_reference: key }
    const chance = outside.chance(`caller of ${key}`)
    for (let left = tries; left > 0; left--) {
      const answer = yield* send(key, body, chance)
      const isFinal = answer !== null && answer.status < 500 && answer.status !== 429
      if (isFinal && answer.status < 300) messageOf.set(id, String(JSON.parse(answer.text).message_id))
      if (isFinal) break
      yield* Effect.sleep(chance.between(200, 8000))
    }
    for (let left = repetitions; left > 0; left--) {
      yield* Effect.sleep(chance.between(1, 20_000))
      yield* send(key, body, chance)
    }
    if (isMisused) yield* send(key, { ...body, client_reference: "another" }, chance)
  })

  const carryOut = Effect.fnUntraced(function*(operation: Plan.Operation) {
    yield* Effect.sleep(began + operation.at - now())
    const chance = outside.chance(`operation ${operation.id}`)
    switch (operation.kind) {
      case "send":
        return yield* sending(operation)
      case "read":
      case "cancel": {
        const message = messageOf.get(operation.of)
        if (message !== undefined) yield* operation.kind === "read" ? read(message, chance) : cancel(message, chance)
        return
      }
      case "written": {
        const item = {
          _tag: "Message" as const,
          message: InboundMessage.ofText({
            providerNumberId: "sandbox-1",
            providerMessageId: `wamid.in-${operation.id}`,
            customer: CustomerNames.customerOf(operation.from as never),
            at: now(),
            body: "hello"
          })
        }
        while (!(yield* Effect.suspend(() => up(chance)?.receive(item) ?? Effect.succeed(false)))) {
          yield* Effect.sleep(chance.between(500, 3000))
        }
        return
      }
      case "suspended": {
        const lane = processes[operation.process]?.lane
        if (lane === undefined) return
        outside.note(lane.name, `is suspended for ${operation.millis} ms`)
        return lane.suspend(operation.millis)
      }
      case "ended": {
        const process = processes[operation.process]
        downtimes[operation.process] = operation.down
        if (process === null || process === undefined) return
        if (operation.how === "stopped") return yield* process.stop
        if (operation.how === "killed") return process.lane.kill()
        return process.dieAt(operation.how === "killed_before" ? "before" : "after", operation.others)
      }
    }
  })

  const read = Effect.fnUntraced(function*(message: string, chance: Chance) {
    const begun = now()
    const answer = yield* request({ method: "GET", path: `/v1/messages/${message}` }, chance)
    if (answer?.status !== 200) return
    const { status } = JSON.parse(answer.text)
    outside.record({ kind: "read", process: "caller", message_id: message, status, begun, ended: now() })
  })

  const cancel = Effect.fnUntraced(function*(message: string, chance: Chance) {
    const begun = now()
    const answer = yield* request({ method: "DELETE", path: `/v1/messages/${message}` }, chance)
    const ended = answer === null ? null : now()
    const status = answer?.status ?? null
    outside.record({ kind: "cancel", process: "caller", message_id: message, status, begun, ended })
  })

  const done = plan.operations.map((operation) => outside.fork(carryOut(operation)))
  yield* Effect.sleep(plan.length)
  outside.storm(false)
  for (const fiber of done) yield* Fiber.join(fiber)

  // one process sees to the rest
  isOver = true
  for (const lane of [...lanes]) lane.kill()
  for (const fiber of kept) yield* Fiber.join(fiber)
  const last = yield* start(0, "last", true)
  if (last === null) return yield* Effect.die("the last process could not start")
  yield* Effect.sleep(aftermath)

  const settledAt = now()
  const chance = outside.chance("the end")
  for (const message of messages) yield* read(message, chance)
  let path: string | null = "/v1/events?limit=100"
  while (path !== null) {
    const begun = now()
    const page: Process.Response | null = yield* request({ method: "GET", path }, chance)
    if (page?.status !== 200) return yield* Effect.die(`the events could not be listed: ${page?.text}`)
    const { data, has_more: hasMore, next_cursor: next } = JSON.parse(page.text)
    for (const event of data) outside.record({ kind: "event", process: "caller", event, begun, ended: now() })
    path = hasMore === false ? null : `/v1/events?limit=100&cursor=${next}`
  }
  const ended = yield* last.use(Deliveries.Deliveries.use((deliveries) =>
    Effect.forEach(
      ["exhausted", "skipped", "held"] as const,
      (status) => Effect.map(deliveries.list(workspaceId, { status }, { limit: 100, after: null }), ({ items }) => items)
    )
  ))
  for (const { delivery, status } of (ended ?? []).flat()) {
    outside.record({
      kind: "delivery_end",
      process: "caller",
      webhook: delivery.webhookId,
      event_id: delivery.eventId,
      status: status as History.DeliveryEnd["status"],
      begun: delivery.createdAt,
      ended: delivery.completedAt ?? now()
    })
  }
  return settledAt
}, Effect.scoped)

/** Carries out a plan. The same plan gives the same history, byte for byte. */
export const run = async (plan: Plan.Plan, planted: Planted = {}): Promise<Run> => {
  const outside = Outside.make(plan)
  const exit = await outside.timeline.run(outside.lane, program(outside, planted))
  if (Exit.isFailure(exit)) throw Cause.squash(exit.cause)
  const history: History.History = {
    header: { format: "wac-history", version: 1, settled_at: exit.value },
    entries: outside.entries
  }
  return { plan, history, notes: outside.notes, verdict: check(history) }
}

/** A test of a plan: whether it breaks the first promise that a run broke. */
export const breaks = ({ verdict }: Run, planted: Planted = {}): Fails => {
  const [first] = verdict.broken
  return async (plan) => (await run(plan, planted)).verdict.broken.some(({ promise }) => promise === first?.promise)
}
