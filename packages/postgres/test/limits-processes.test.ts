/**
 * The limits of a workspace for which two processes send concurrently on one database: what they allow together, and
 * what is spent.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { CustomerNames, Limits, PhoneNumberStore, Quota } from "@wac/core"
import * as Extent from "@wac/testbed/Extent"
import { Fixture, MessageFixture } from "@wac/testkit"
import { Effect, Fiber } from "effect"
import * as DeliveryProcesses from "./webhooks/DeliveryProcesses.ts"

const { roomy, world } = Fixture
const { accept, customer, describe, template } = MessageFixture
const { elsewhere, open, waiting } = DeliveryProcesses

/** How many sends each limit allows: more than one wave of a process, and fewer than both processes send. */
const most = 30
/** The number of concurrent sends of a process in each of two waves. */
const wave = 20

/** A bucket holds the tokens of two seconds. */
const rate = most / 2

interface Kind {
  readonly name: string
  readonly refusal: string
  readonly limits?: Partial<Limits.Limits>
  readonly world?: Fixture.WorldOptions
  /** Whether all sends are to the same customer. */
  readonly isToOne?: boolean
}

const kinds: ReadonlyArray<Kind> = [
  {
    name: "the workspace's rate",
    refusal: "rate_limited/workspace",
    limits: { workspaceTiers: { ...roomy.workspaceTiers, roomy: rate } }
  },
  {
    name: "the phone number's rate",
    refusal: "rate_limited/phone_number",
    limits: { phoneNumberTiers: { ...roomy.phoneNumberTiers, roomy: rate } }
  },
  {
    name: "the pair's rate",
    refusal: "rate_limited/pair",
    limits: { pair: { everySeconds: 6, burst: most } },
    isToOne: true
  },
  {
    name: "the monthly quota",
    refusal: "forbidden/quota_exhausted",
    world: { workspace: { monthlyQuota: most } }
  },
  {
    name: "the messaging limit",
    refusal: "forbidden/messaging_limit_reached",
    world: { number: { messagingLimit: most } }
  }
]

layer(DeliveryProcesses.layer, { excludeTestServices: true })("two processes", (it) => {
  it.effect.each(kinds)(
    "two processes together allow exactly what $name has left, and record all of it",
    (kind) =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const own = yield* world(kind.world)
        const limits: Limits.Limits = { ...roomy, ...kind.limits }
        let customers = 0
        const send = Effect.suspend(() => {
          const to = customer(kind.isToOne === true ? 1 : ++customers)
          return Effect.map(
            accept(own, { limits, message: template({ to }) }),
            ({ accepted, command }) => ({ to, id: command.messageId, told: describe(accepted) })
          )
        })
        const half = Effect.all(Array.from({ length: wave }, () => send), { concurrency: "unbounded" })
        const crowd = Effect.forkChild(Effect.all([half, elsewhere(half)], { concurrency: "unbounded" }), {
          startImmediately: true
        })

        // both processes are under way before either gets further, and more sends queue behind them
        const start = yield* open(client`select from wac.workspaces where id = ${own.workspace.id} for no key update`)
        const first = yield* crowd
        yield* waiting(2)
        const second = yield* crowd
        yield* start.commit
        const all = [...yield* Fiber.join(first), ...yield* Fiber.join(second)].flat()

        const claimed = all.filter(({ told }) => told === "Claimed")
        const refused = all.filter(({ told }) => told !== "Claimed")
        assert.deepStrictEqual([claimed.length, refused.length], [most, 4 * wave - most])
        assert.deepStrictEqual([...new Set(refused.map(({ told }) => told))], [kind.refusal])

        const messages = yield* client<
          { id: string }
        >`select id from wac.messages where workspace_id = ${own.workspace.id}`
        assert.deepStrictEqual(messages.map(({ id }) => id).sort(), claimed.map(({ id }) => id).sort())
        const usage = yield* client`select month, used from wac.quota_usage where workspace_id = ${own.workspace.id}`
        assert.deepStrictEqual(usage, [{ month: Quota.monthOf(own.start), used: most }])
        const recipients = [...new Set(claimed.map(({ to }) => to))]
        const spent =
          yield* client`select w.bucket_full_at as workspace, p.bucket_full_at as number, p.customers_counted
        from wac.workspaces w join wac.phone_numbers p on p.workspace_id = w.id where w.id = ${own.workspace.id}`
        assert.deepStrictEqual(spent, [{
          workspace: own.start + most * Limits.workspace(limits, null).interval,
          number: own.start + most * Limits.phoneNumber(limits, null).interval,
          customers_counted: recipients.length
        }])
        const pairs = yield* client`select key, full_at, counted_at::float8 from wac.buckets
        where phone_number_id = ${own.number.id} order by key collate "C"`
        assert.deepStrictEqual(
          pairs,
          recipients.sort().map((to) => ({
            key: Limits.pairBucket(own.number.id, CustomerNames.keyOf(to)),
            full_at: own.start + claimed.filter((other) => other.to === to).length * Limits.pair(limits).interval,
            counted_at: own.start
          }))
        )
      })
  )

  it.effect("two processes together allow a portfolio of two workspaces exactly its messaging limit", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const most = Extent.of(30, 250)
      const one = yield* world({ number: { messagingLimit: most } })
      const two = yield* world({ start: one.start, number: { messagingLimit: most } })
      const numbers = yield* PhoneNumberStore.PhoneNumberStore
      const portfolioId = `portfolio-${yield* Fixture.word}`
      for (const { number } of [one, two]) yield* numbers.assign(number.id, { portfolioId })
      const wave = Extent.of(60, 1000)
      const sends = Effect.forEach(
        Array.from({ length: wave }, (_, i) => i),
        (n) =>
          Effect.map(
            accept(n % 2 === 0 ? one : two, { limits: roomy, message: template({ to: customer(Math.floor(n / 2)) }) }),
            ({ accepted }) => ({ to: Math.floor(n / 2), told: describe(accepted) })
          ),
        { concurrency: "unbounded" }
      )
      const all = (yield* Effect.all([sends, elsewhere(sends)], { concurrency: "unbounded" })).flat()
      const reached = new Set(all.flatMap(({ to, told }) => told === "Claimed" ? [to] : []))
      assert.strictEqual(reached.size, most)
      const more = yield* Effect.forEach(
        Array.from({ length: wave }, (_, i) => i),
        (n) => accept(n % 2 === 0 ? one : two, { limits: roomy, message: template({ to: customer(1000 + n) }) }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual([...new Set(more.map(({ accepted }) => describe(accepted)))], [
        "forbidden/messaging_limit_reached"
      ])
      const ids = [one.number.id, two.number.id]
      const counted = yield* client`select
          (select sum(customers_counted)::int from wac.phone_numbers where id = any (${ids})) as numbers,
          count(*)::int as pairs, count(distinct split_part(key, ':', 3))::int as customers
        from wac.buckets where phone_number_id = any (${ids}) and counted_at is not null`
      assert.deepStrictEqual(counted, [{ numbers: most, pairs: most, customers: most }])
    }))
})
