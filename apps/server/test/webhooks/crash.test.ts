/**
 * Deliveries while server processes are killed and PostgreSQL is restarted or crashes: no event is lost, each message's
 * events come in order, and what comes again was in flight. The receiver, programs and people see the same events.
 */
import { assert, layer } from "@effect/vitest"
import { AttemptSlots } from "@wac/core"
import * as Extent from "@wac/testbed/Extent"
import { SeededRandom } from "@wac/testkit"
import { Context, Effect, Fiber, Layer } from "effect"
import * as checks from "../checks.ts"
import * as Fleet from "../fleet.ts"
import { call, pages } from "../harness.ts"

/** Processes that are started one after the other take their time. */
const manyStarts = 540_000

const seed = Number(process.env["TEST_SEED"] ?? Date.now() % 1_000_000)

/** How often a process is killed, how often one is asked to stop, and how often PostgreSQL is restarted and crashes. */
const kills = Extent.of(10, 50)
/** After so many kills each. */
const killsBetween = Extent.of(5, 10)
const stops = Extent.of(2, 5)
const restarts = Extent.of(2, 4)
const crashes = Extent.of(2, 6)

/** Messages of a round. */
const messages = 12
/** How many of them the process sends that is going to be killed. */
const messagesOfDoomed = 4

/** A fleet, and what its rounds have come to. */
const made = Effect.map(Fleet.make, (fleet) => ({
  fleet,
  random: SeededRandom.make(seed),
  /** Every message that was taken. */
  sent: new Set<string>(),
  /** How often an event was in flight where that ended: its process died or was stopped, or PostgreSQL was. */
  inFlight: new Map<string, number>()
}))

class Crashing
  extends Context.Service<Crashing, Effect.Success<typeof made>>()("@wac/server/test/webhooks/crash.test/Crashing")
{
  static readonly layer = Layer.effect(Crashing, made)
}

const range = (count: number) => Array.from({ length: count }, (_, i) => i)

const total = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((sum, n) => sum + n, 0)

const count = Effect.fnUntraced(function*(events: ReadonlyArray<string>) {
  const { inFlight } = yield* Crashing
  for (const id of events) inFlight.set(id, (inFlight.get(id) ?? 0) + 1)
})

/** One of three processes is killed at some moment of a round, while answers come or while all wait for theirs. */
const killed = Effect.gen(function*() {
  const { fleet, random, sent } = yield* Crashing
  const [doomed, ...others] = random.shuffle(fleet.alive()) as [Fleet.Named, ...ReadonlyArray<Fleet.Named>]
  const plan = range(messages).map((i) => ({
    via: i < messagesOfDoomed ? doomed : random.pick(others),
    reporter: random.pick(others)
  }))
  const isHeldBack = random.below(2) === 0
  const moment = 1 + random.below(isHeldBack ? messages / 2 : messages * 2)
  const live = ({ reporter, via }: typeof plan[number]) =>
    Effect.gen(function*() {
      const id = yield* fleet.sendBy(via)
      sent.add(id)
      yield* fleet.readBy(reporter, id)
    })

  const before = (yield* fleet.customer.requests).length
  yield* Effect.forEach(plan.slice(0, messagesOfDoomed), live, { concurrency: "unbounded" })
  const rest = yield* Effect.forkChild(
    Effect.forEach(plan.slice(messagesOfDoomed), live, { concurrency: "unbounded" }),
    { startImmediately: true }
  )
  yield* fleet.customer.waitFor(before + moment)
  if (isHeldBack) {
    yield* fleet.gate.close
    // each message that is not through has one on its way
    yield* fleet.customer.waitFor(before + messages)
  }
  yield* fleet.killOne(doomed)
  yield* fleet.gate.open
  yield* Fiber.join(rest)
  yield* fleet.quiet
  yield* count(yield* fleet.abandoned)
  yield* fleet.passLease
  yield* fleet.replaceOne
})

/**
 * Sends by way of any; done when every message has an event on its way whose answer waits. Gives the arrivals so far.
 */
const allHeldBack = Effect.gen(function*() {
  const { fleet, random, sent } = yield* Crashing
  const processes = fleet.alive()
  const plan = range(messages).map(() => ({ via: random.pick(processes), reporter: random.pick(processes) }))
  const ids = yield* Effect.forEach(plan, ({ via }) => fleet.sendBy(via), { concurrency: "unbounded" })
  for (const id of ids) sent.add(id)
  yield* fleet.drained
  const { length } = yield* fleet.customer.requests
  yield* fleet.gate.close
  yield* Effect.forEach(plan, ({ reporter }, i) => fleet.readBy(reporter, ids[i]!), { concurrency: "unbounded" })
  return (yield* fleet.customer.waitFor(length + messages)).length
})

/** The process with most on its way is asked to stop. Others go on with that at once: no lease has to end. */
const stopped = Effect.gen(function*() {
  const { fleet } = yield* Crashing
  yield* allHeldBack
  const { events, process } = (yield* fleet.claims)[0]!
  yield* count(events)
  yield* fleet.stopOne(fleet.alive().find(({ name }) => name === process)!)
  assert.isUndefined((yield* fleet.claims).find((claims) => claims.process === process))
  yield* fleet.gate.open
  yield* fleet.drained
  yield* fleet.replaceOne
})

/**
 * PostgreSQL stops while attempts wait for their answers or have them recorded, and starts again. The processes go on
 * by themselves, and record then what they could not.
 */
const restarted = Effect.gen(function*() {
  const { fleet, random } = yield* Crashing
  const arrivals = yield* allHeldBack
  const openAt = random.below(3)
  if (openAt === 0) {
    yield* fleet.gate.open
    yield* fleet.customer.waitFor(arrivals + 1 + random.below(messages))
  }
  yield* fleet.postgres.stop
  if (openAt === 1) yield* fleet.gate.open
  yield* fleet.postgres.start
  yield* fleet.gate.open
  yield* fleet.drained
})

/**
 * PostgreSQL crashes while attempts wait for their answers, or while some are recorded and others begin. Claims that
 * were not on the disk yet are lost: what they were of is attempted by somebody else at once, besides who is at it.
 * Gives how many there were.
 */
const crashed = Effect.fnUntraced(function*(openAt: number) {
  const { fleet, random } = yield* Crashing
  const arrivals = yield* allHeldBack
  const claims = yield* fleet.ask<{ readonly token: string; readonly event_id: string }>(
    "select k.token, d.event_id from wac.delivery_claims k join wac.deliveries d on d.id = k.delivery_id"
  )
  if (openAt === 0) {
    // of each message the next event may be in flight then, instead of this one
    const open = yield* fleet.ask<{ readonly event_id: string }>(
      "select event_id from wac.deliveries where status = 'pending'"
    )
    yield* count(open.map(({ event_id }) => event_id))
    yield* fleet.gate.open
    yield* fleet.customer.waitFor(arrivals + 1 + random.below(messages))
  } else {
    yield* count(claims.map(({ event_id }) => event_id))
  }
  yield* fleet.postgres.crash
  if (openAt === 1) yield* fleet.gate.open
  yield* fleet.postgres.start
  const lost = yield* fleet.lost(claims.map(({ token }) => token))
  yield* fleet.gate.open
  yield* fleet.recovered
  return lost
})

/** All that has come, by event in the order of first arrival: the bodies are the same each time. */
const arrived = Effect.gen(function*() {
  const { fleet } = yield* Crashing
  const events = new Map<
    string,
    { readonly text: string; readonly event: ReturnType<typeof JSON.parse>; count: number }
  >()
  for (const { body, headers } of yield* fleet.customer.requests) {
    const text = new TextDecoder().decode(body)
    const event = JSON.parse(text)
    assert.strictEqual(headers["webhook-id"], event.id)
    const known = events.get(event.id)
    if (known === undefined) events.set(event.id, { text, event, count: 1 })
    else {
      assert.strictEqual(text, known.text)
      known.count++
    }
  }
  return events
})

/** Every page of a listing of events. */
const listed = Effect.fnUntraced(function*(path: string, headers: { readonly [name: string]: string }) {
  const { fleet } = yield* Crashing
  const url = `${fleet.alive()[0]!.url}${path}`
  // for a second after a restart, a pooler still says that PostgreSQL is away
  yield* checks.until(call(url, { headers }), ({ status }) => status === 200)
  const all = yield* pages(url, headers)
  return {
    text: all.map(({ text }) => text).join("\n"),
    events: all.flatMap(({ body }): ReadonlyArray<{ readonly id: string }> => body.data)
  }
})

/** Nothing was lost, nothing came out of order, and nothing came again but what was in flight. Gives how much did. */
const assertAllRight = Effect.gen(function*() {
  const { fleet, inFlight, sent } = yield* Crashing
  yield* fleet.drained
  const events = yield* arrived
  const sequences = new Map<string, Array<number>>()
  for (const { event } of events.values()) {
    const { message_id, sequence } = event.data
    sequences.set(message_id, [...sequences.get(message_id) ?? [], sequence])
  }
  assert.sameMembers([...sequences.keys()], [...sent])
  for (const each of sequences.values()) assert.deepStrictEqual(each, [1, 2, 3])

  for (const [id, { count }] of events) assert.isAtMost(count, 1 + (inFlight.get(id) ?? 0), id)
  // what was in flight cost the receiver no attempt
  assert.deepStrictEqual(
    yield* fleet.ask("select id from wac.deliveries where status <> 'delivered' or attempt_count <> 1"),
    []
  )
  return [...events.values()].reduce((sum, { count }) => sum + count - 1, 0)
})

layer(Crashing.layer, { excludeTestServices: true })(`with seed ${seed}`, (it) => {
  it.effect(
    `${kills} kills of one of three processes, with restarts of PostgreSQL between them, lose no event`,
    () =>
      Effect.gen(function*() {
        const { fleet, inFlight } = yield* Crashing
        for (let i = 1; i <= kills; i++) {
          yield* killed
          if (i % killsBetween > 0) continue
          // what it finds in flight is what the next tests are about
          yield* fleet.drained
          yield* fleet.postgres.stop
          yield* fleet.postgres.start
          yield* fleet.ready
        }
        const repeated = yield* assertAllRight
        assert.isAtMost(repeated, total(inFlight))
        assert.isAbove(repeated, 0)
      }),
    manyStarts
  )

  it.effect(
    `${stops} graceful stops release deliveries in flight without counting an attempt`,
    () =>
      Effect.gen(function*() {
        for (let i = 0; i < stops; i++) yield* stopped
        yield* assertAllRight
      })
  )

  it.effect(`${restarts} restarts of PostgreSQL cause no repeated delivery`, () =>
    Effect.gen(function*() {
      const before = yield* assertAllRight
      for (let i = 0; i < restarts; i++) yield* restarted
      assert.strictEqual(yield* assertAllRight, before)
    }))

  it.effect(`${crashes} crashes of PostgreSQL that lose claims lose no event`, () =>
    Effect.gen(function*() {
      let before = yield* assertAllRight
      let lost = 0
      // whether a crash loses claims is up to the disk: there are more until one did
      for (let i = 0; i < crashes || (lost === 0 && i < 4 * crashes); i++) {
        lost += yield* crashed(i % 3)
        const repeated = yield* assertAllRight
        // no more than may be in flight at one webhook
        assert.isAtMost(repeated - before, AttemptSlots.maxInFlight)
        before = repeated
      }
      assert.isAbove(lost, 0)
    }))

  it.effect("the receiver, the API and the dashboard have the same events", () =>
    Effect.gen(function*() {
      const { fleet } = yield* Crashing
      const events = yield* arrived
      const forPrograms = yield* listed("/v1/events", { authorization: `Bearer ${fleet.key.apiKey}` })
      const forPeople = yield* listed("/internal/events", fleet.session)
      assert.strictEqual(forPrograms.events.length, events.size)
      assert.deepStrictEqual(forPeople.events.toReversed(), forPrograms.events)
      for (const event of forPrograms.events) assert.deepStrictEqual(event, events.get(event.id)?.event)
      for (const { text } of events.values()) assert.include(forPrograms.text, text)
    }))
})
