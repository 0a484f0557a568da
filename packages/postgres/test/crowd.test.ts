/**
 * Two processes that do everything concurrently in a few workspaces while time passes: there are no deadlocks, and
 * everything that is counted, ordered or scheduled is right at the end.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import {
  DeliveryStore,
  type Id,
  Message,
  MessageStore,
  PhoneNumberStore,
  type QueueEndStep,
  RateLimitStore,
  ReplayStore,
  WebhookStore
} from "@wac/core"
import { DeliveryFixture, Fixture, MessageFixture, QueueFixture, SeededRandom } from "@wac/testkit"
import { Duration, Effect } from "effect"
import { deadline, timeouts } from "../src/messages/Sweep.ts"
import * as DeliveryProcesses from "./webhooks/DeliveryProcesses.ts"

const { hour, minute, second } = Fixture
const { elsewhere } = DeliveryProcesses

/** Queries that must return nothing, by what they would find. */
const wrong: { readonly [what: string]: string } = {
  "quotas that are not what was counted": `
    select * from wac.quota_usage q full join (
      select workspace_id, quota_month as month, count(*) as counted from wac.messages
      where quota_month is not null group by 1, 2
    ) m using (workspace_id, month)
    where coalesce(q.used, 0) <> coalesce(m.counted, 0)`,
  "numbers whose customers are miscounted": `
    select p.id, p.customers_counted from wac.phone_numbers p where p.customers_counted <> (
      select count(*) from wac.buckets b where b.phone_number_id = p.id and b.counted_at is not null
    )`,
  "messages with too few events, or too many": `
    select m.id, m.sequence, e.sequences from wac.messages m left join (
      select order_key, array_agg(sequence order by sequence)::integer[] as sequences from wac.events group by 1
    ) e on e.order_key = m.id
    where coalesce(e.sequences, '{}') <> array(select generate_series(1, m.sequence))`,
  // tolerates the clock difference of concurrent processes
  "messages that no sweep will look at in time": `
    select m.id from (select m.*, ${deadline(timeouts.map(String))} as deadline from wac.messages m) m
    where m.deadline is not null and not exists (
      select from wac.message_deadlines d
      where d.workspace_id = m.workspace_id and d.due_at <= m.deadline + ${minute} and m.id = any (d.message_ids)
    )`,
  "workspaces whose queued messages are miscounted": `
    select * from (select workspace_id, sum(queued) as queued from wac.queue_sizes group by 1) s full join (
      select workspace_id, count(*) as counted from wac.send_queue where workspace_id is not null group by 1
    ) q using (workspace_id)
    where coalesce(s.queued, 0) <> coalesce(q.counted, 0)`,
  "messages that wait without being in the queue, or are in it without waiting": `
    select m.id, m.status, q.message_id from (
      select * from wac.messages where send_at is not null and status in ('queued', 'sending')
    ) m full join (select * from wac.send_queue where phone_number_id is not null) q on q.message_id = m.id
    where m.id is null or q.message_id is null`,
  // where the pace delays messages, by less
  "queued messages whose numbers do not look at them in time": `
    select q.message_id, q.due_at, l.work_at from wac.send_queue q
    left join wac.send_lanes l on l.phone_number_id = q.phone_number_id
    where q.phone_number_id is not null and (l.work_at is null or l.work_at > q.due_at + ${minute})`,
  "orders of which not the first alone is due": `
    select d.order_key, json_agg(d.next_attempt_at order by d.sequence)
    from wac.deliveries d join wac.webhooks w on w.id = d.webhook_id
    where d.status = 'pending' and d.order_key is not null and d.position > w.skipped_until
    group by d.order_key, d.webhook_id
    having (array_agg(d.next_attempt_at order by d.sequence))[1] is null or count(d.next_attempt_at) > 1`,
  "deliveries that were made before one that they follow had ended": `
    select * from (
      select d.*, lag(d.status) over o as status_before, lag(d.position) over o as position_before
      from wac.deliveries d where d.order_key is not null
      window o as (partition by d.order_key, d.webhook_id order by d.sequence)
    ) d join wac.webhooks w on w.id = d.webhook_id
    where d.status = 'delivered' and d.status_before = 'pending' and d.position_before > w.skipped_until`,
  "deliveries with other attempts than were counted": `
    select d.id from wac.deliveries d
    where d.attempt_count <> (select count(*) from wac.attempts a where a.delivery_id = d.id)`
}

layer(DeliveryProcesses.layer, { excludeTestServices: true })("a crowd", (it) => {
  it.effect("concurrent operations of two processes do not deadlock, and lose nothing", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const first = yield* Fixture.world()
      const { start, number: { providerAccountId } } = first
      const worlds = [first]
      while (worlds.length < 6) {
        worlds.push(yield* Fixture.world({ start, number: { providerAccountId, messagingLimit: 20 } }))
      }
      for (const own of worlds) yield* Fixture.putWebhook(own)
      const random = SeededRandom.make(1)
      const sent: Array<Id.MessageId> = []
      const queued: Array<MessageStore.AcceptSend> = []
      // the month ends during the test
      let now = Fixture.nextMonth(start) - 2 * minute

      const deliveries = DeliveryStore.DeliveryStore
      const messages = MessageStore.MessageStore
      const numbers = PhoneNumberStore.PhoneNumberStore
      const limits = RateLimitStore.RateLimitStore

      const send = Effect.gen(function*() {
        const message = MessageFixture.template({ to: MessageFixture.customer(random.below(40)) })
        const { accepted, command } = yield* MessageFixture.accept(random.pick(worlds), { now, message })
        if (accepted._tag !== "Claimed") return
        const { id } = accepted.message
        const ends: ReadonlyArray<MessageStore.SendEnd | "lost" | "abandoned"> = [
          yield* MessageFixture.refusedOutcome(now),
          yield* MessageFixture.notSentOutcome,
          { _tag: "Unknown" },
          "lost",
          "abandoned"
        ]
        const end = random.pick([...ends, ...yield* Effect.replicateEffect(MessageFixture.acceptedOutcome, 5)])
        if (end === "abandoned") return yield* messages.use(({ abandon }) => abandon(command))
        if (end !== "lost") yield* MessageFixture.settle({ ...command, messageId: id }, end, now)
        sent.push(id)
      })

      const enqueue = Effect.gen(function*() {
        const message = MessageFixture.template({ to: MessageFixture.customer(random.below(40)) })
        const later = { sendAt: now + random.below(minute) }
        const { accepted, command } = yield* MessageFixture.accept(random.pick(worlds), { now, message, later })
        if (accepted._tag === "Queued") queued.push(command)
      })

      const cancel = Effect.suspend(() => {
        const one = random.pick(queued.slice(-40))
        if (one === undefined) return Effect.void
        const { messageId, request: { workspaceId } } = one
        return messages.use(({ cancel }) =>
          cancel({ now, workspaceId, messageId, boundTo: null, enqueued: MessageFixture.enqueued })
        )
      })

      /** Sends what is due, as the queue's runner does. */
      const workOnQueue = Effect.gen(function*() {
        const worked = yield* QueueFixture.work(now)
        if (worked === undefined) return
        const expired = worked.expired.map((one) =>
          QueueFixture.ended(one, now, { _tag: "Failed", error: Message.notSentInTime })
        )
        const claimed = worked.claimed.map((one) =>
          Effect.gen(function*() {
            const own = worlds.find(({ workspace: { id } }) => id === one.message.workspaceId)!
            const { accepted, command } = yield* QueueFixture.accept(own, one, now)
            if (accepted._tag !== "Claimed") {
              const end = random.pick<QueueEndStep.QueueEnd>([{ _tag: "Missed" }, {
                _tag: "Again",
                after: Duration.seconds(1)
              }])
              return yield* QueueFixture.ended(one, now, accepted._tag === "Answered" ? { _tag: "Done" } : end)
            }
            const end = random.pick<MessageStore.SendEnd | "lost" | "abandoned">([
              yield* MessageFixture.acceptedOutcome,
              yield* MessageFixture.acceptedOutcome,
              yield* MessageFixture.refusedOutcome(now),
              yield* MessageFixture.notSentOutcome,
              { _tag: "Unknown" },
              "lost",
              "abandoned"
            ])
            if (end === "abandoned") yield* messages.use(({ abandon }) => abandon(command))
            else if (end !== "lost") yield* MessageFixture.settle({ ...command, claimed: accepted.message }, end, now)
            sent.push(one.message.id)
          })
        )
        yield* Effect.all([...expired, ...claimed], { concurrency: "unbounded" })
      })

      const report = Effect.suspend(() => {
        const reference = random.pick(sent.slice(-40)) ?? null
        const reports = (["sent", "delivered", "read"] as const).map((status) =>
          MessageFixture.report({ status, at: now, reference })
        )
        return Effect.all(reports, { concurrency: "unbounded" })
      })

      const deliver = Effect.gen(function*() {
        const token = yield* Fixture.word
        const { claimDue, release } = yield* deliveries
        const limit = { healthy: 64, doubtful: 64 }
        const claimed = yield* claimDue({ now, limit, token, leaseUntil: now + DeliveryFixture.lease })
        const left = random.below(8)
        if (left === 0) return
        if (left === 1) return yield* release(token, claimed.deliveries.map(({ delivery }) => delivery))
        yield* Effect.forEach(claimed.deliveries, ({ delivery }) => {
          const outcome = random.often("delivered", "status")
          return DeliveryFixture.complete({ delivery, token }, { startedAt: now, outcome, now })
        }, { concurrency: "unbounded" })
      })

      const change = Effect.gen(function*() {
        const own = random.pick(worlds)
        const { id: workspaceId } = own.workspace
        const { pause, remove, resume } = yield* WebhookStore.WebhookStore
        const kind = random.below(9)
        if (kind < 4) yield* pause(workspaceId, now)
        else if (kind < 8) {
          const replay = random.pick(["all", "none", { since: now - minute }] as const)
          yield* resume({ workspaceId, now, replay })
        } else {
          yield* remove(workspaceId, now)
          yield* Fixture.putWebhook(own)
        }
      })

      const retry = Effect.gen(function*() {
        const { id: workspaceId } = random.pick(worlds).workspace
        const { list, retry } = yield* deliveries
        const { items } = yield* list(workspaceId, {}, { limit: 10, after: null })
        const one = random.pick(items)
        if (one !== undefined) yield* retry(workspaceId, one.delivery.id, now)
      })

      const replay = Effect.gen(function*() {
        const { id: workspaceId } = random.pick(worlds).workspace
        const { create, step } = yield* ReplayStore.ReplayStore
        yield* create({ id: yield* Fixture.id("job"), workspaceId, since: start, until: now, status: null, now })
        yield* Effect.replicateEffect(Effect.suspend(() => step(now, 10)), 5)
      })

      const test = Effect.gen(function*() {
        const command = yield* DeliveryFixture.test(random.pick(worlds), { now })
        yield* deliveries.use(({ beginTest }) => beginTest(command))
      })

      const signIns = ["login:1", "login:2", "login:3"].map((key) => ({
        key,
        policy: { name: "login", interval: second, capacity: 10_000 } as const
      }))
      const signIn = Effect.gen(function*() {
        const { giveBack, spend } = yield* limits
        yield* spend(random.shuffle(signIns), now)
        yield* giveBack(random.shuffle(signIns), now)
      })

      const observe = Effect.suspend(() => {
        const change = { quality: random.pick(["red", "green"]) }
        return numbers.use(({ observe }) => observe({ name: { providerAccountId }, now, at: now, change }))
      })

      const setCredentials = Effect.suspend(() => {
        const { id } = random.pick(worlds).number
        return numbers.use(({ setCredentials }) => setCredentials({ now, id, credentials: null }))
      })

      const inbound = Effect.suspend(() =>
        MessageFixture.inbound(random.pick(worlds), { at: now, customer: MessageFixture.customer(random.below(40)) })
      )

      const sweep = Effect.suspend(() => messages.use(({ sweep }) => sweep(now)))
      const tidy = Effect.suspend(() => deliveries.use(({ tidySkipped }) => tidySkipped(now, 50)))

      /** Runs a step repeatedly, in `callers` concurrent fibers. */
      const crowd = <A, E, R>(step: Effect.Effect<A, E, R>, callers: number, rounds: number) =>
        Array.from({ length: callers }, () =>
          Effect.replicateEffect(Effect.andThen(Effect.sync(() => now += random.below(20)), step), rounds))
      const all = Effect.all([
        ...crowd(send, 12, 10),
        ...crowd(enqueue, 4, 10),
        ...crowd(cancel, 1, 10),
        ...crowd(workOnQueue, 2, 15),
        ...crowd(report, 3, 30),
        ...crowd(deliver, 2, 20),
        ...crowd(change, 1, 20),
        ...crowd(tidy, 1, 30),
        ...crowd(sweep, 1, 10),
        ...crowd(observe, 1, 20),
        ...crowd(setCredentials, 1, 20),
        ...crowd(signIn, 2, 15),
        ...crowd(inbound, 1, 20),
        ...crowd(retry, 1, 10),
        ...crowd(replay, 1, 3),
        ...crowd(test, 1, 10)
      ], { concurrency: "unbounded" })
      for (const passed of [0, 31 * second, 11 * minute, 25 * hour, 11 * minute, 25 * hour]) {
        now += passed
        yield* Effect.all([all, elsewhere(all)], { concurrency: "unbounded" })
      }

      // tidying frees deliveries that wait for a skipped one
      yield* Effect.repeat(tidy, {
        while: (written) =>
          written > 0
      })

      const [done] = yield* client<{ readonly [what in "messages" | "attempts" | "sent" | "cancelled"]: number }>`
        select (select count(*) from wac.messages)::integer as messages, (select count(*) from wac.attempts)::integer as attempts,
          (select count(*) from wac.messages where send_at is not null and sent_at is not null)::integer as sent,
          (select count(*) from wac.messages where status = 'cancelled')::integer as cancelled`
      assert.isAbove(done!.messages, 200)
      assert.isAbove(done!.attempts, 200)
      assert.isAbove(done!.sent, 50)
      assert.isAbove(done!.cancelled, 10)
      const found = yield* Effect.forEach(
        Object.entries(wrong),
        ([what, text]) => Effect.map(client.unsafe(text), (rows) => rows.length === 0 ? [] : [{ what, rows }])
      )
      assert.deepStrictEqual(found.flat(), [])
      // a connection reports its counts when it ends
      const ended = yield* client<{ hasEnded: boolean }>`
        select pg_terminate_backend(pid, 30000) as "hasEnded" from pg_stat_activity
        where datname = current_database() and application_name = 'wac'`
      assert.isAbove(ended.length, 2)
      assert.isTrue(ended.every(({ hasEnded }) => hasEnded))
      const [row] = yield* client<{ deadlocks: number }>`
        select deadlocks::integer from pg_stat_database where datname = current_database()`
      assert.strictEqual(row!.deadlocks, 0)
    }))
})
