/**
 * Conformance of `DeliveryStore` over random sequences: events of two workspaces are recorded, claimed, attempted,
 * released and abandoned while time passes, and webhooks are paused and resumed. After each step the storage must agree
 * with a model that holds the rows in memory and applies the core's pure decisions to them. A test's title contains its
 * seed, and a failure lists the steps that led to it.
 */
import { assert } from "@effect/vitest"
import {
  AttemptSlots,
  Delivery,
  DeliveryStore,
  Event,
  type Id,
  type Time,
  Webhook,
  WebhookHealth,
  WebhookStore
} from "@wac/core"
import { Cause, Duration, Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import * as SeededRandom from "../SeededRandom.ts"
import * as DeliveryFixture from "./DeliveryFixture.ts"

const { day, hour, minute, second, world } = Fixture

const seeds = { all: 20, few: 5 }

/** Steps per seed, and the range of their times. */
const length = 120
const horizon = 20 * day

/** A delivery as the storage should hold it. */
interface Row {
  delivery: Delivery.Delivery
  /** The order of recording or of the last new round. */
  position: number
  lease: { readonly token: string; readonly until: Time.Instant; readonly drains: boolean } | null
  readonly attempts: Array<Delivery.Attempt>
}

/** A workspace, its webhook and its deliveries, oldest first. */
interface Side {
  readonly own: Fixture.World
  webhook: Webhook.Webhook
  /** When the backlog's next attempt may begin. */
  nextDrainAt: Time.Instant
  readonly rows: Array<Row>
  /** Messages that the next report may be about. */
  readonly messages: Array<Id.MessageId>
}

const isLeased = ({ lease }: Row, now: Time.Instant): boolean => lease !== null && lease.until > now

/** The rows that may be claimed at `now` while there is a slot. */
const candidates = ({ rows, webhook }: Side, now: Time.Instant): ReadonlyArray<Row> =>
  rows.filter((row) => {
    const at = Delivery.dueAt(row.delivery, webhook)
    return at !== null && at <= now && !isLeased(row, now)
  })

const isBacklog = ({ webhook }: Side, { delivery }: Row): boolean => Delivery.line(delivery, webhook) === "backlog"

/** The free slots at `now`, in total and for the backlog. Leases that end later hold theirs. */
const slots = ({ nextDrainAt, rows, webhook }: Side, now: Time.Instant, leasedAt: Time.Instant) => {
  const leased = rows.filter((row) => row.delivery.webhookId === webhook.id && isLeased(row, leasedAt))
  const free = AttemptSlots.freeSlots(webhook, leased.length, now)
  const inFlight = leased.filter(({ lease }) => lease!.drains).length
  return { free, drain: AttemptSlots.drainSlots({ inFlight, nextAt: nextDrainAt }, free, now) }
}

/** How many are claimed at `now` without a limit. */
const claimable = (side: Side, now: Time.Instant, leasedAt = now): number => {
  const { drain, free } = slots(side, now, leasedAt)
  const due = candidates(side, now)
  const backlog = due.filter((row) => isBacklog(side, row)).length
  return Math.min(free, due.length - backlog + Math.min(backlog, drain))
}

const standing = ({ webhook }: Side): WebhookHealth.Standing => WebhookHealth.standing(webhook.health)

/** The order in a queue: the smaller place goes first. */
const place = ({ webhook }: Side, { delivery }: Row, now: Time.Instant): readonly [number, Time.Instant] =>
  Delivery.endsRound(delivery, webhook, now)
    ? [-1, delivery.firstAttemptAt!]
    : [
      WebhookHealth.isFailing(webhook.health) ? Delivery.lines.indexOf(Delivery.line(delivery, webhook)) : 0,
      Delivery.place(delivery, webhook)!
    ]

/** The first time after `now` at which time alone makes something claimable, even if no lease ends. */
const nextDueAt = (sides: ReadonlyArray<Side>, now: Time.Instant): Time.Instant | undefined =>
  sides
    .flatMap((side) => {
      const held = side.rows.map((row) =>
        isLeased(row, now) ? { ...row, lease: { ...row.lease!, until: Infinity } } : row
      )
      const times = held.flatMap(({ delivery, lease }) =>
        lease?.until === Infinity ? [] : [Delivery.dueAt(delivery, side.webhook)]
      )
      return [...times, AttemptSlots.nextSlotAt(side.webhook.health), side.nextDrainAt]
        .filter((at): at is Time.Instant => at !== null && at > now)
        .filter((at) => claimable({ ...side, rows: held }, at) > 0)
    })
    .sort((a, b) => a - b)[0]

/** Registers the tests. */
export const tests = (it: Fixture.It, runs: SeededRandom.Runs): void => {
  it.effect.each(SeededRandom.seeds(seeds, runs))(
    "the storage agrees with the model, seed $seed",
    ({ seed }) =>
      Effect.suspend(() => {
        const history: Array<string> = []
        return Effect.catchCause(run(seed, history), (cause) => {
          const told = `seed ${seed}, after: ${history.join("; ")}`
          return Effect.die(new Error(`${told}\n${Cause.pretty(cause)}`))
        })
      })
  )
}

const run = (seed: number, history: Array<string>): Fixture.Play<void> =>
  Effect.gen(function*() {
    const random = SeededRandom.make(seed)
    const deliveries = yield* DeliveryStore.DeliveryStore
    const webhooks = yield* WebhookStore.WebhookStore
    const first = yield* world()
    const { start } = first
    let now = start
    const sides: Array<Side> = []
    for (const own of [first, yield* world({ start })]) {
      const envelope = random.pick(Event.Envelope.literals)
      const health = random.pick([{}, { health: WebhookHealth.initial }])
      const webhook = yield* Fixture.putWebhook(own, { envelope, ...health })
      sides.push({ own, webhook, nextDrainAt: 0, rows: [], messages: [] })
    }
    const worlds = sides.map(({ own }) => own)
    let position = 0
    /** How many of 12 attempts succeed: receivers are healthy, unreliable or dead. */
    const health = random.pick([8, 3, 1, 0])

    /** Adds what a step has recorded to the model. All fields are known except the id. */
    const recorded = Effect.fnUntraced(function*(side: Side) {
      const shown = yield* DeliveryFixture.views(side.own)
      const known = new Set(side.rows.map(({ delivery }) => delivery.id))
      for (const { delivery } of shown.filter(({ delivery }) => !known.has(delivery.id))) {
        const waits = delivery.orderKey !== null &&
          side.rows.some((row) => row.delivery.orderKey === delivery.orderKey && Delivery.isOpen(row.delivery))
        const expected: Delivery.Delivery = {
          ...delivery,
          webhookId: side.webhook.id,
          envelope: side.webhook.envelope,
          status: "pending",
          trigger: "automatic",
          attemptCount: 0,
          roundAttempts: 0,
          firstAttemptAt: null,
          lastAttemptAt: null,
          nextAttemptAt: waits ? null : now,
          createdAt: now,
          completedAt: null
        }
        assert.deepStrictEqual(delivery, expected)
        side.rows.push({ delivery, position: position++, lease: null, attempts: [] })
      }
    })

    const receive = Effect.fnUntraced(function*(side: Side) {
      const customers = 1 + random.below(6)
      for (let i = 0; i < customers; i++) yield* MessageFixture.inbound(side.own, { now, at: now })
      yield* recorded(side)
    })

    const send = Effect.fnUntraced(function*(side: Side) {
      const { messageId } = yield* MessageFixture.sent(side.own, { now })
      side.messages.push(messageId)
      yield* recorded(side)
    })

    const report = Effect.fnUntraced(function*(side: Side) {
      if (side.messages.length === 0) return
      const status = random.pick(["delivered", "read"] as const)
      yield* MessageFixture.report({ status, at: now, reference: random.pick(side.messages) })
      yield* recorded(side)
    })

    const claim = Effect.fnUntraced(function*() {
      const limit = { healthy: random.pick([0, 2, 100, 100, 100]), doubtful: random.pick([0, 2, 100, 100, 100]) }
      const before = sides.map((side) => ({
        side,
        most: claimable(side, now),
        drain: slots(side, now, now).drain,
        due: candidates(side, now)
      }))
      const claimed = yield* DeliveryFixture.claim(worlds, { now, limit })
      const all = { healthy: 0, doubtful: 0 }
      for (const { most, side } of before) all[standing(side)] += most
      for (const one of ["healthy", "doubtful"] as const) {
        const { length } = claimed.deliveries.filter((delivery) => delivery.standing === one)
        assert.strictEqual(length, Math.min(limit[one], all[one]), `how many of ${one} ones are claimed`)
      }
      for (const { drain, due, most, side } of before) {
        const mine = claimed.deliveries.filter(({ delivery }) => delivery.workspaceId === side.own.workspace.id)
        if (limit[standing(side)] >= all[standing(side)]) {
          assert.strictEqual(mine.length, most, "how many of one webhook")
        } else assert.isAtMost(mine.length, most)
        const taken = mine.map((one) => {
          const row = due.find((row) => row.delivery.id === one.delivery.id)
          assert.deepStrictEqual(one.delivery, row?.delivery)
          assert.deepStrictEqual(
            [one.url, one.standing, one.isBacklog],
            [side.webhook.url, standing(side), isBacklog(side, row!)]
          )
          return row!
        })
        const places = (rows: ReadonlyArray<Row>) => rows.map((row) => place(side, row, now)).sort(byPlace)
        const inOrder = (first: ReadonlyArray<Row>, then: ReadonlyArray<Row>) => {
          const [last, next] = [places(first).at(-1), places(then)[0]]
          if (last !== undefined && next !== undefined) assert.isAtMost(byPlace(last, next), 0, "who goes first")
        }
        const drained = taken.filter((row) => isBacklog(side, row))
        assert.isAtMost(drained.length, drain, "how many of the backlog")
        const left = due.filter((row) => !taken.includes(row))
        inOrder(taken, left.filter((row) => drained.length < drain || !isBacklog(side, row)))
        inOrder(drained, left.filter((row) => isBacklog(side, row)))
        const until = now + DeliveryFixture.lease
        for (const row of taken) row.lease = { token: claimed.token, until, drains: drained.includes(row) }
        if (drained.length > 0) {
          side.nextDrainAt = AttemptSlots.nextDrainAt({ nextAt: side.nextDrainAt }, drained.length, now)
        }
      }
      const asked = sides.filter((side) => limit[standing(side)] > 0)
      if (asked.some((side) => limit[standing(side)] < all[standing(side)])) return
      const exact = nextDueAt(asked, now)
      const told = claimed.nextDueAt
      if (told !== null && asked.length === sides.length) assert.isAbove(told, now, "nothing is due now")
      if (exact !== undefined) assert.isAtMost(told ?? Infinity, exact, "nothing may be slept through")
    })

    const inFlight = (side: Side) => side.rows.filter((row) => isLeased(row, now))

    const complete = Effect.fnUntraced(function*(side: Side) {
      for (const row of random.shuffle(inFlight(side)).slice(0, 1 + random.below(10))) {
        const { token, until } = row.lease!
        const durationMs = random.below(12) === 0 ? 1000 : random.below(200)
        if (now + durationMs >= until) continue
        const outcome = random.below(12) < health ? "delivered" : "status"
        const retryAfter = random.pick([null, null, Duration.seconds(40)])
        const end = {
          startedAt: now,
          durationMs,
          outcome,
          jitter: random.below(100) / 100,
          attempt: { retryAfter }
        } as const
        const lost = yield* DeliveryFixture.complete({ ...row, token: "nobody's token" }, end)
        assert.isFalse(lost.recorded)
        const { attempt, recorded } = yield* DeliveryFixture.complete({ ...row, token }, end)
        assert.isTrue(recorded)
        const isRemoved = row.delivery.webhookId !== side.webhook.id
        const webhook = isRemoved ? { ...side.webhook, health: WebhookHealth.initial } : side.webhook
        const after = Delivery.afterAttempt(row.delivery, webhook, attempt, end.jitter)
        Object.assign(row, { delivery: after.delivery, lease: null })
        row.attempts.push(attempt)
        now += durationMs
        if (isRemoved) continue
        side.webhook = after.webhook
        if (Delivery.isOpen(after.delivery)) continue
        const next = side.rows.find(({ delivery }) =>
          delivery.orderKey !== null && delivery.orderKey === after.delivery.orderKey && Delivery.isOpen(delivery)
        )
        if (next !== undefined) next.delivery = { ...next.delivery, nextAttemptAt: now }
      }
    })

    const attempt = (side: Side) => Effect.andThen(claim(), complete(side))

    const release = Effect.fnUntraced(function*(side: Side) {
      const row = inFlight(side)[0]
      if (row === undefined) return
      yield* deliveries.release(row.lease!.token, [row.delivery])
      row.lease = null
    })

    const retry = Effect.fnUntraced(function*(side: Side) {
      if (side.rows.length === 0) return
      const row = random.pick(side.rows)
      const retried = yield* deliveries.retry(side.own.workspace.id, row.delivery.id, now)
      assert.strictEqual(Option.isSome(retried), row.delivery.webhookId === side.webhook.id)
      if (Option.isNone(retried)) return
      row.delivery = Delivery.newRound(row.delivery, "manual", now)
      row.position = position++
      assert.deepStrictEqual(retried.value.delivery, row.delivery)
    })

    const skip = (rows: ReadonlyArray<Row>) => {
      for (const row of rows.filter(({ delivery }) => Delivery.isOpen(delivery))) {
        row.delivery = { ...row.delivery, status: "skipped", nextAttemptAt: null, completedAt: now }
      }
    }

    const pause = Effect.fnUntraced(function*(side: Side) {
      const paused = yield* webhooks.pause(side.own.workspace.id, now)
      side.webhook = Webhook.pause(side.webhook, now)
      assert.deepStrictEqual(paused, Option.some(side.webhook))
    })

    const tidy = Effect.fnUntraced(function*() {
      const limit = random.pick([1, 3, 100])
      for (let written = 1; written > 0;) {
        written = yield* deliveries.tidySkipped(now, limit)
        assert.isAtMost(written, limit)
      }
    })

    const resume = Effect.fnUntraced(function*(side: Side) {
      const since = random.pick(side.rows.map(({ delivery }) => delivery.createdAt).concat(now))
      const replay = random.pick(["all", "none", { since }] as const)
      const resumed = yield* webhooks.resume({ workspaceId: side.own.workspace.id, now, replay })
      const wasPaused = side.webhook.pausedAt !== null
      side.webhook = Webhook.resume(side.webhook, now)
      assert.deepStrictEqual(resumed, Option.some(side.webhook))
      if (!wasPaused || replay === "all") return
      const open = side.rows.filter(({ delivery }) => Delivery.isOpen(delivery))
      const replayed = open.filter(({ delivery }) => replay !== "none" && delivery.createdAt >= since)
      const first = Math.min(...replayed.map(({ position }) => position))
      skip(open.filter(({ position }) => position < first))
      const seen = new Set<Id.MessageId>()
      const freed = side.rows.filter(({ delivery: { orderKey, status } }) =>
        status === "pending" && orderKey !== null && !seen.has(orderKey) && seen.add(orderKey)
      ).filter(({ delivery }) => delivery.nextAttemptAt === null)
      // tidied immediately, so that the model knows when they are freed
      if (freed.length > 0) yield* tidy()
      for (const row of freed) row.delivery = { ...row.delivery, nextAttemptAt: now }
    })

    const change = Effect.fnUntraced(function*(side: Side) {
      const { id } = side.webhook
      if (random.below(3) === 0) {
        assert.isTrue(yield* webhooks.remove(side.own.workspace.id, now))
        skip(side.rows)
        side.nextDrainAt = 0
        side.webhook = yield* Fixture.putWebhook(side.own, { createdAt: now, updatedAt: now })
        assert.notStrictEqual(side.webhook.id, id)
        return
      }
      const url = `https://receiver.example/${yield* Fixture.word}`
      const put = yield* Fixture.putWebhook(side.own, { url, updatedAt: now, envelope: side.webhook.envelope })
      side.webhook = { ...side.webhook, url, updatedAt: now }
      assert.deepStrictEqual(put, side.webhook)
    })

    const wait = Effect.fnUntraced(function*() {
      const step = random.pick([1, 300, second, 2 * second, 6 * second, 16 * second, minute, 11 * minute, hour])
      const leap = random.below(12) === 0 ? day : step
      if (now + leap < start + horizon) now += leap
      history.push(`until ${now - start} ms`)
      yield* Effect.void
    })

    const steps: ReadonlyArray<readonly [string, (side: Side) => Fixture.Step<void>]> = [
      ["receive", receive],
      ["send", send],
      ["report", report],
      ["claim", claim],
      ["complete", complete],
      ["attempt", attempt],
      ["attempt", attempt],
      ["attempt", attempt],
      ["attempt", attempt],
      ["attempt", attempt],
      ["release", release],
      ["retry", retry],
      ["tidy", tidy],
      ["wait", wait],
      ["wait", wait],
      ["wait", wait],
      ["wait", wait]
    ]
    for (let i = 0; i < length; i++) {
      const at = random.below(sides.length)
      const side = sides[at]!
      const isPaused = side.webhook.pausedAt !== null
      const [name, step] = random.below(50) === 0
        ? ["change", change] as const
        : random.below(isPaused ? 6 : 200) === 0
        ? ["resume", resume] as const
        : random.below(20) === 0
        ? ["pause", pause] as const
        : random.pick(steps)
      history.push(`${name} ${at}`)
      yield* step(side)
      assert.deepStrictEqual(Option.getOrThrow(yield* webhooks.get(side.own.workspace.id)), stateOf(side))
      for (const { attempts, delivery } of random.shuffle(side.rows).slice(0, 3)) {
        const shown = yield* DeliveryFixture.view(side.own, delivery.id)
        assert.deepStrictEqual(shown.delivery, delivery)
        assert.deepStrictEqual(shown.attempts, attempts)
        if (delivery.webhookId === side.webhook.id) {
          assert.strictEqual(shown.status, Delivery.statusShown(delivery, side.webhook))
        }
      }
    }
    for (const side of sides) {
      const shown = yield* DeliveryFixture.views(side.own)
      assert.deepStrictEqual(
        shown.map(({ delivery }) => delivery),
        side.rows.map(({ delivery }) => delivery).slice(-100)
      )
    }
  })

const byPlace = (a: readonly [number, number], b: readonly [number, number]): number => a[0] - b[0] || a[1] - b[1]

/** The expected state of the webhook. */
const stateOf = ({ rows, webhook }: Side): WebhookStore.WebhookState => {
  const open = rows.map(({ delivery }) => delivery).filter(Delivery.isOpen)
  const least = (times: ReadonlyArray<Time.Instant>) => times.length === 0 ? null : Math.min(...times)
  const { health: { lastSuccessAt }, resumedAt } = webhook
  const isPaused = webhook.pausedAt !== null
  return {
    webhook,
    heldCount: isPaused ? open.length : 0,
    oldestHeldAt: isPaused ? least(open.map(({ createdAt }) => createdAt)) : null,
    oldestTriedAt: least(
      open
        .flatMap(({ firstAttemptAt }) => firstAttemptAt === null ? [] : [firstAttemptAt])
        .filter((at) => (lastSuccessAt === null || lastSuccessAt < at) && (resumedAt === null || resumedAt <= at))
    )
  }
}
