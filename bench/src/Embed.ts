/**
 * The `embed` measurement: what the façade adds to a send of the core, and what a call of its fetch handler costs
 * compared with the server's own route. Everything runs in this process, in memory, with a provider that accepts at
 * once; only the HTTP client of the server runs in another process.
 */
import {
  ApiKeys,
  Capabilities,
  Id,
  Idempotency,
  Limits,
  Message,
  Messages,
  PhoneNumber,
  Provider,
  Templates,
  WorkspaceStore
} from "@wac/core"
import { Composition } from "@wac/effect"
import { Console, Effect, Layer, Logger, Metric, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { randomUUID } from "node:crypto"
import { createServer, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { duplexPair } from "node:stream"
import { createWac, memory } from "wac"
import { because, type BenchFailed } from "./BenchFailed.ts"
import * as Load from "./Load.ts"
import { decimals, table, verdict } from "./Report.ts"
import { median } from "./Statistics.ts"
import * as Workload from "./Workload.ts"

export interface Plan {
  readonly rounds: number
  /** The number of calls per contestant and round. */
  readonly calls: number
  /** The number of concurrent calls. */
  readonly callers: number
}

/** Limits so high that no call reaches them. */
const limits = {
  workspaceTiers: { standard: 1_000_000 },
  phoneNumberTiers: { standard: 1_000_000 },
  pair: { everySeconds: 1, burst: 1_000_000 }
}

const listed = {
  providerTemplateId: "bench",
  name: Workload.template.name,
  language: Workload.template.language,
  category: "utility",
  status: "approved",
  components: [{ type: "BODY", text: Workload.template.body }]
}

const phoneNumber = "+15005550100"

/** The same provider as a layer, for the core without the façade. */
const accepting = Layer.succeed(
  Provider.Provider,
  Provider.Provider.of({
    name: "bench",
    capabilities: Capabilities.all,
    send: () =>
      Effect.map(Effect.promise(() => Promise.resolve(`wamid.${randomUUID()}`)), (providerMessageId) => ({
        _tag: "Accepted",
        providerMessageId
      })),
    firstNumber: Effect.succeed({
      phoneNumber,
      providerNumberId: "bench",
      providerAccountId: "bench",
      learned: PhoneNumber.unlearned
    }),
    templates: () =>
      Effect.succeed([{ ...listed, parameterFormat: "positional", quality: null, rejectionReason: null }])
  })
)

const embedded = Effect.acquireRelease(
  Effect.tryPromise({
    try: () =>
      createWac({
        storage: memory(),
        provider: {
          phoneNumber,
          send: () => Promise.resolve({ status: "accepted", providerMessageId: `wamid.${randomUUID()}` }),
          templates: () => Promise.resolve([listed])
        },
        limits
      }),
    catch: because("the façade did not start")
  }),
  (wac) => Effect.promise(wac.close)
)

/** One call of a contestant. `n` is unique per call; `caller` is the index of the concurrent caller. */
type Call = (n: number, caller: number) => Promise<unknown>

const message = (n: number) => ({
  to: Workload.customer(n % Workload.customers),
  type: "template" as const,
  template: { name: Workload.template.name, language: Workload.template.language, bodyParams: ["A-1001", "Tuesday"] }
})

/**
 * Sends through the core as an application without the façade would, in a fiber behind a promise. One variant sends a
 * message that is already validated; the other parses it first, as the core requires of untrusted input.
 */
const core = Effect.gen(function*() {
  const ground = yield* Layer.build(Layer.merge(Logger.layer([]), Layer.sync(Metric.MetricRegistry, () => new Map())))
  const services = yield* Layer.build(
    Composition.layer(
      {
        storage: { _tag: "Memory" },
        masterKey: undefined,
        previousMasterKey: undefined,
        limits: { ...Limits.standard, ...limits },
        receiverRules: { allowInsecure: false, allowedCidrs: [] }
      },
      { ...Composition.standard, provider: accepting }
    )
  ).pipe(Effect.provideContext(ground))
  return yield* Effect.gen(function*() {
    const random = yield* SecureRandom.SecureRandom
    const workspaceId = yield* Id.generate(random, "ws")
    const store = yield* WorkspaceStore.WorkspaceStore
    const number = yield* Provider.Provider.use((provider) => provider.firstNumber)
    yield* store.create({
      workspace: { id: workspaceId, name: "bench", createdAt: 0, tier: null, monthlyQuota: null, suspended: false },
      phoneNumber: PhoneNumber.fresh({
        ...number,
        id: yield* Id.generate(random, "pn"),
        workspaceId,
        provider: yield* Provider.Provider.use(({ name }) => Effect.succeed(name)),
        isDefault: true
      })
    })
    yield* Templates.Templates.use((templates) => templates.sync(workspaceId))
    const { key } = yield* ApiKeys.ApiKeys.use((keys) =>
      keys.issue({
        workspaceId,
        name: "bench",
        expiresAt: null,
        requireSignature: false,
        scopes: undefined,
        caller: "bench",
        idempotencyKey: Idempotency.IdempotencyKey.make("bench")
      })
    )
    const messages = yield* Messages.Messages
    const run = Effect.runPromiseWith(ground)
    const send = (message: Message.OutboundMessage, idempotencyKey: Idempotency.IdempotencyKey) =>
      Effect.flatMap(
        Id.generate(random, "req"),
        (requestId) => messages.send({ workspaceId, apiKeyId: key.id, key: idempotencyKey, requestId, message })
      )
    const read = Schema.decodeUnknownEffect(Message.OutboundMessage)
    const sound: Call = (n) => run(send(message(n), Idempotency.IdempotencyKey.make(`bench-${n}`)))
    const reading: Call = (n) =>
      run(Effect.gen(function*() {
        const content = yield* read(message(n), { onExcessProperty: "error" })
        return yield* send(content, yield* Effect.fromResult(Idempotency.parseKey(`bench-${n}`)))
      }))
    return { sound, reading }
  }).pipe(Effect.provideContext(services))
})

/**
 * A connection to a `node:http` server without a socket underneath: it avoids the kernel's cost and counts the client
 * side's. Takes one request at a time and returns the status once the whole response is there.
 */
const connection = (server: Server) => {
  const [ours, theirs] = duplexPair()
  server.emit("connection", theirs)
  let answer = ""
  let done = (_status: number): void => {}
  ours.setEncoding("latin1").on("data", (text: string) => {
    answer += text
    const end = answer.indexOf("\r\n\r\n")
    const length = /^content-length: (\d+)/im.exec(answer)?.[1]
    if (end === -1 || length === undefined || answer.length < end + 4 + Number(length)) return
    const status = Number(answer.slice(9, 12))
    answer = ""
    done(status)
  })
  return (path: string, headers: Readonly<Record<string, string>>, body: string) =>
    new Promise<number>((resolve) => {
      done = resolve
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
      ours.write([`POST ${path} HTTP/1.1`, "host: wac", ...lines, "", body].join("\r\n"))
    })
}

/** Serves the handler over loopback, as the standalone server does. */
const listening = (handler: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const server = createServer(handler)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  )

/** Runs one contestant's calls of a round, numbered from `from`. */
type Round = (from: number, plan: Plan) => Effect.Effect<unknown, BenchFailed>

/** The number of calls between two turns of the event loop. Without these turns, timers and I/O would starve. */
const turnEvery = 32

const calling = (call: Call): Round => (from, { callers, calls }) =>
  Effect.tryPromise({
    try: () => {
      let next = 0
      return Promise.all(Array.from({ length: callers }, async (_, caller) => {
        while (next < calls) {
          await call(from + next++, caller)
          if (next % turnEvery === 0) await new Promise((resolve) => setImmediate(resolve))
        }
      }))
    },
    catch: because("a call failed")
  })

/**
 * Microseconds of this process's processor time per call, by contestant and round. The contestant that goes first
 * rotates.
 */
const interleaved = Effect.fnUntraced(function*(contestants: ReadonlyArray<Round>, plan: Plan) {
  const rounds: Array<Array<number>> = contestants.map(() => [])
  for (let round = -1; round < plan.rounds; round++) {
    const order = contestants.map((_, i) => (i + round + contestants.length) % contestants.length)
    for (const i of order) {
      const before = process.cpuUsage()
      yield* contestants[i]!((round + 1) * plan.calls, plan)
      const { system, user } = process.cpuUsage(before)
      // the first round is a warm-up
      if (round >= 0) rounds[i]!.push((system + user) / plan.calls)
    }
  }
  return rounds
})

/** The median ratio to the first contestant, round by round, as a slowdown of the machine affects both. */
const toFirst = (measured: ReadonlyArray<ReadonlyArray<number>>, i: number): number =>
  median(measured[i]!.map((took, round) => took / measured[0]![round]!))

const rows = (names: ReadonlyArray<string>, measured: ReadonlyArray<ReadonlyArray<number>>) => [
  ["", "µs of processor time a call", "to the first"],
  ...names.map((name, i) => [name, decimals(median(measured[i]!), 1), decimals(toFirst(measured, i), 3)])
]

/** Formats one contestant's ratio to the first, with its goal. */
const goal = (name: string, value: number, most: number): string =>
  `\n${name}  ${decimals(value, 3)}${verdict(value, { most })}`

export const run = Effect.fnUntraced(function*(plan: Plan) {
  const wac = yield* embedded
  const other = yield* embedded
  const { sound } = yield* core
  const { reading } = yield* core
  const { apiKey } = yield* Effect.promise(() => other.keys.create({ name: "bench" }))
  const sends = yield* interleaved([
    calling(reading),
    calling(sound),
    calling((n) => wac.messages.send(message(n), { idempotencyKey: `bench-${n}` }))
  ], plan)
  yield* Console.log(`${plan.callers} calls at once, ${plan.rounds} interleaved rounds of ${plan.calls}\n`)
  yield* Console.log(
    table(
      rows(
        ["a send of the core, which reads its message", "the same without reading it", "a send of the façade"],
        sends
      )
    )
  )
  yield* Console.log(goal("façade / core, which reads its message", toFirst(sends, 2), 1.05))

  const server = yield* listening(other.nodeHandler)
  const { port } = server.address() as AddressInfo
  const target = { url: `http://127.0.0.1:${port}`, apiKey: apiKey! }
  const loader = yield* Load.make
  const ok = (status: number) => {
    if (status !== 200) throw new Error(`answered ${status}`)
  }
  const request = () => {
    const body = Workload.bodyTo(Workload.someCustomer())
    return { body, headers: { ...Workload.headersOf(target, randomUUID()), "content-length": `${body.length}` } }
  }
  const connections = Array.from({ length: plan.callers }, () => connection(server))
  const handlers = yield* interleaved([
    (_, { callers, calls }) =>
      loader.run({ connections: callers, until: { sends: calls }, target, expected: "\"status\":\"sent\"" }),
    calling(async () => {
      const { body, headers } = request()
      const response = await other.handler(
        new Request(target.url + Workload.path, { method: "POST", headers, body })
      )
      await response.arrayBuffer()
      ok(response.status)
    }),
    calling(async (_, caller) => {
      const { body, headers } = request()
      ok(await connections[caller]!(Workload.path, headers, body))
    })
  ], plan)
  yield* Console.log(
    `\n${table(rows(["the server's route", "the fetch handler", "the route with no socket under it"], handlers))}`
  )
  yield* Console.log(goal("fetch handler / route", toFirst(handlers, 1), 1))
})
