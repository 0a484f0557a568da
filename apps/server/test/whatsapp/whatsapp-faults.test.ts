/**
 * Sends while the wire to upstream breaks at every point of a call, callers hang up, and the same request comes twice
 * at once: nobody is written to twice, every answer is so, and in the end everything is settled.
 */
import { assert, layer } from "@effect/vitest"
import { Message } from "@wac/core"
import { CloudApi } from "@wac/simulator"
import * as Extent from "@wac/testbed/Extent"
import { SeededRandom } from "@wac/testkit"
import { Duration, Effect } from "effect"
import * as checks from "../checks.ts"
import { type Answer, call, pages, send } from "../harness.ts"
import { withKey } from "../processes.ts"
import { generous, template, World } from "./whatsapp.ts"

const seed = Number(process.env["TEST_SEED"] ?? Date.now() % 1_000_000)

const sends = Extent.of(600, 1_000)
const callers = 40

/** So often one who is told that nothing was sent tries again. */
const attempts = 5

/** A tenth of the usual, since so many of the calls are never answered. */
const sendTimeout = Duration.millis(750)

/** By when upstream has carried out every call that it is to carry out late. */
const late = Math.max(...CloudApi.faults.map(({ after = 0 }) => after))

/** The one code among the faults that says for certain, and for good, that this recipient gets nothing. */
const undeliverable = 131026

/** What upstream's reports do meanwhile. */
const reports = {
  sentAfter: 0,
  deliveredAfter: 50,
  readAfter: 100,
  omitDelivered: 0.2,
  duplicates: 0.2,
  jitter: 200,
  batchMost: 50,
  batchLinger: 20,
  lanes: 4
} as const

const world = World.layer({
  durable: true,
  sendTimeout,
  environment: { ...checks.unlimited, LOG_LEVEL: "error" },
  api: { seed, settings: { ...generous, ...reports } }
})

/** What an answer says became of the message. */
const claimOf = ({ body, status }: Answer): "sent" | "not_sent" | "refused" | "unknown" => {
  switch (status) {
    case 200:
      return "sent"
    case 400:
    case 403:
      return "refused"
    case 429:
    case 502:
      return "not_sent"
    default:
      assert.deepInclude(body.error, { code: "server_error", reason: "outcome_unknown" })
      assert.strictEqual(status, 504)
      return "unknown"
  }
}

/** Every event of each recipient's message, oldest first. */
const eventsByRecipient = Effect.gen(function*() {
  const { key, url } = yield* World
  const events = new Map<string, Array<Answer["body"]>>()
  for (const { body } of yield* pages(`${url}/v1/events`, { authorization: `Bearer ${key.apiKey}` })) {
    for (const event of body.data) events.set(event.data.to, [...events.get(event.data.to) ?? [], event])
  }
  return events
})

/** One message, and how its caller behaves. */
interface Plan {
  readonly to: string
  readonly key: { readonly [header: string]: string }
  /** Asked for by two at once. */
  readonly isTwice: boolean
  /** The first request is given up after so many milliseconds. */
  readonly hangsUpAfter: number | undefined
}

const plans = (random: SeededRandom.SeededRandom): ReadonlyArray<Plan> =>
  Array.from({ length: sends }, (_, i) => ({
    to: `+1202555${String(i).padStart(4, "0")}`,
    key: withKey(`${seed}-${i}`),
    isTwice: random.below(5) === 0,
    hangsUpAfter: random.below(5) === 0 ? 1 + random.below(50) : undefined
  }))

const request = ({ key, to }: Plan) => Effect.flatMap(World, (world) => send(world, template(to), key))

/** How many times the recipient of a plan has its message, and the message's id once it has come to upstream. */
const sentTo = Effect.fnUntraced(function*({ to }: Plan) {
  const calls = yield* Effect.flatMap(World, ({ callsTo }) => callsTo(to))
  return { id: calls[0]?.reference, times: calls.filter(({ processed }) => processed).length }
})

/** As a caller does it who goes by the answers: once more only after "not sent". */
const sendWithRetries = Effect.fnUntraced(function*(plan: Plan) {
  const { hangsUpAfter, isTwice, to } = plan
  if (hangsUpAfter !== undefined) yield* Effect.timeoutOption(request(plan), hangsUpAfter)
  for (let attempt = 1;; attempt++) {
    const answer = yield* request(plan)
    const claim = claimOf(answer)
    const { times } = yield* sentTo(plan)
    if (claim === "sent") assert.strictEqual(times, 1, to)
    // who is not alone may hear of a try after which there was another
    else if (claim !== "unknown" && !isTwice) assert.strictEqual(times, 0, `${to} ${answer.text}`)
    if (claim !== "not_sent" || attempt === attempts) return claim
  }
})

/** Sends them all while things go wrong; gives what each caller heard last. */
const carryOut = Effect.fnUntraced(function*(all: ReadonlyArray<Plan>) {
  const { api } = yield* World
  yield* api.fault({ random: { rate: 0.5, faults: CloudApi.faults } })
  // the first half hears of a message before the send is answered
  yield* api.configure({ statusBeforeResponse: true })
  const heard = yield* Effect.forEach(
    all,
    Effect.fnUntraced(function*(plan, i) {
      if (i === sends / 4) yield* api.refuseConnections
      if (i === sends / 4 + callers) yield* api.acceptConnections
      if (i === sends / 2) yield* api.configure({ statusBeforeResponse: false })
      return yield* Effect.all(Array.from({ length: plan.isTwice ? 2 : 1 }, () => sendWithRetries(plan)), {
        concurrency: "unbounded"
      })
    }),
    { concurrency: callers }
  )
  yield* api.clearFaults
  // who has only ever heard that nothing was sent tries once more, now that all is well
  const unsent = all.filter((_, i) => heard[i]!.every((claim) => claim === "not_sent"))
  yield* Effect.forEach(unsent, request, { concurrency: callers, discard: true })
  return heard
})

const nobodyTwice = Effect.gen(function*() {
  const { api } = yield* World
  assert.deepStrictEqual([...yield* api.allProcessed].filter(([, times]) => times !== 1), [])
})

layer(world, { excludeTestServices: true })(`with seed ${seed}`, (it) => {
  it.effect(`of ${sends} sends over a faulty connection, none reaches a customer twice`, () =>
    Effect.gen(function*() {
      const world = yield* World
      const all = plans(SeededRandom.make(seed))
      const heard = yield* carryOut(all)
      yield* nobodyTwice
      // on a busy machine calls that were given up lie unread for a while: they are before these, one after the other
      for (const _ of [1, 2]) yield* call(`${world.api.url}/_sim`)
      // those that were only late are carried out now; whatever was, is told of
      yield* world.pass(late)
      yield* Effect.forEach(
        (yield* world.api.allProcessed).keys(),
        (id) => checks.untilStatus(world, id, "read"),
        { concurrency: callers, discard: true }
      )

      // a repetition tells the end, once upstream has told it
      const end = (plan: Plan) =>
        Effect.gen(function*() {
          const claim = claimOf(yield* send(world, template(plan.to), plan.key))
          const { times } = yield* Effect.provideService(sentTo(plan), World, world)
          if (claim !== "unknown") assert.strictEqual(times, claim === "sent" ? 1 : 0, `${plan.to} ${claim}`)
          return { claim, times }
        })
      const ends = yield* Effect.forEach(
        all,
        (plan) =>
          Effect.map(
            checks.until(Effect.suspend(() => end(plan)), ({ claim, times }) => (claim === "sent") === (times === 1)),
            ({ claim }) => claim
          ),
        { concurrency: callers }
      )
      yield* nobodyTwice
      for (const [i, end] of ends.entries()) {
        if (heard[i]!.includes("sent")) assert.strictEqual(end, "sent")
        if (heard[i]!.includes("refused")) assert.strictEqual(end, "refused")
      }

      // what upstream never tells of never comes to anything
      yield* world.pass(Message.unknownTimeout)
      yield* Effect.forEach(
        all,
        Effect.fnUntraced(function*(plan, i) {
          if (ends[i] === "sent") return yield* checks.untilStatus(world, (yield* sentTo(plan)).id!, "read")
          if (ends[i] !== "unknown") return
          const answer = yield* checks.until(
            Effect.suspend(() => send(world, template(plan.to), plan.key)),
            ({ body }) => body.error?.reason !== "outcome_unknown"
          )
          checks.assertError(answer, 504, { code: "server_error", reason: "delivery_unknown" })
        }),
        { concurrency: callers, discard: true }
      )
      const events = yield* eventsByRecipient
      for (const [i, { to }] of all.entries()) {
        const told = events.get(to)!.map(({ data, type }) => [type, data.sequence, data.error?.reason])
        assert.deepStrictEqual(
          told,
          ends[i] === "sent"
            ? ["sent", "delivered", "read"].map((step, i) => [`message.${step}`, i + 1, undefined])
            : [["message.failed", 1, ends[i] === "unknown" ? "delivery_unknown" : told[0]![2]]],
          to
        )
      }
      yield* nobodyTwice

      // the run is worth something
      const calls = yield* world.api.calls
      for (const { kind } of CloudApi.faults) assert.isTrue(calls.some(({ fault }) => fault === kind), kind)
      // how many refusals arrive before `sendTimeout` is a matter of the machine's speed: how many were given is not
      assert.isAtLeast(calls.filter(({ code }) => code === undeliverable).length, 5, "refused")
      const count = (end: string) => ends.filter((each) => each === end).length
      for (const end of ["sent", "unknown"]) assert.isAtLeast(count(end), 5, end)
      const settledLater = ends.filter((end, i) => end === "sent" && heard[i]!.includes("unknown"))
      assert.isAtLeast(settledLater.length, 5)
    }))
})
