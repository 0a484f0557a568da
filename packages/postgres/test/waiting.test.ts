/**
 * Lock order: concurrent steps that lock the same rows do so in the same order, so that both finish one after another.
 * In a different order, each of these pairs would deadlock, and PostgreSQL would fail one of the two.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import {
  CustomerNames,
  DeliveryStore,
  type Id,
  KeptAnswerStore,
  Limits,
  MessageStore,
  OutboxStore,
  PhoneNumberStore,
  QueueStore,
  RateLimitStore
} from "@wac/core"
import { CampaignFixture, Fixture, MessageFixture, QueueFixture } from "@wac/testkit"
import { Deferred, Effect, Fiber } from "effect"
import { clear } from "../src/campaigns/ChangeCampaign.ts"
import * as Tokens from "../src/limits/Tokens.ts"
import * as Accept from "../src/messages/Accept.ts"
import * as ApplyReport from "../src/messages/ApplyReport.ts"
import * as Cancel from "../src/messages/Cancel.ts"
import * as Sweep from "../src/messages/Sweep.ts"
import * as PhoneNumberStep from "../src/numbers/PhoneNumberStep.ts"
import { end } from "../src/queue/EndQueued.ts"
import { releaseAllText } from "../src/queue/QueueStore.ts"
import { work } from "../src/queue/WorkOnLane.ts"
import { carryOut, carryOutAll } from "./carryOut.ts"
import * as DeliveryProcesses from "./webhooks/DeliveryProcesses.ts"

const { day, hour, minute, putWebhook, second, world } = Fixture
const { open, waiting } = DeliveryProcesses

/** Starts a step without waiting for it. */
const begin = <A, E, R>(step: Effect.Effect<A, E, R>) => Effect.forkChild(step, { startImmediately: true })

/** Starts a step, and waits until `count` steps wait for locks. */
const beginAndWait = <A, E, R>(step: Effect.Effect<A, E, R>, count = 1) =>
  Effect.gen(function*() {
    const fiber = yield* begin(step)
    const ended = Effect.andThen(Fiber.join(fiber), Effect.die(new Error("it did not wait")))
    yield* Effect.raceFirst(waiting(count), ended)
    return fiber
  })

/** Accepts sends in one batch. None is refused. */
const accept = (sends: ReadonlyArray<MessageStore.AcceptSend>) =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    const answers = yield* client.withTransaction(carryOut(Accept.accept, sends))
    assert.deepStrictEqual(answers.map(({ _tag }) => _tag), sends.map(() => "Claimed"))
  })

/** A transaction that takes one step, and another when the test says so. */
const inTwoSteps = <E, R>(first: Effect.Effect<unknown, E, R>, last: Effect.Effect<unknown, E, R>) =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    const begun = yield* Deferred.make<void>()
    const goesOn = yield* Deferred.make<void>()
    const fiber = yield* begin(client.withTransaction(
      first.pipe(
        Effect.andThen(Deferred.succeed(begun, undefined)),
        Effect.andThen(Deferred.await(goesOn)),
        Effect.andThen(last)
      )
    ))
    yield* Effect.raceFirst(Deferred.await(begun), Fiber.join(fiber))
    return { end: Effect.andThen(Deferred.succeed(goesOn, undefined), Fiber.join(fiber)) }
  })

/** Locks webhooks as a completion of attempts does. */
const healths = (...webhooks: ReadonlyArray<string>) =>
  PgClient.PgClient.use((client) =>
    client`select from wac.webhook_health where webhook_id in ${
      client.in(webhooks)
    } order by webhook_id for no key update`
  )

layer(DeliveryProcesses.layer, { excludeTestServices: true })("concurrent steps do not deadlock", (it) => {
  it.effect("reports of several webhooks' messages do not deadlock with completions", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const one = yield* world()
      const two = yield* world({ start: one.start })
      const first = yield* putWebhook(one)
      const last = yield* putWebhook(two)
      const [ofFirst, ofLast] = [yield* MessageFixture.sent(one), yield* MessageFixture.sent(two)]
      const report = Effect.fnUntraced(
        function*(reference: Id.MessageId, status: "sent" | "delivered", providerMessageId: string | null) {
          const now = one.start + second
          return {
            now,
            providerNumberId: null,
            reference,
            report: { status, at: now, providerMessageId, error: null },
            ids: yield* Fixture.eventIds
          }
        }
      )
      // the first report is about the last webhook's event
      const commands = [
        yield* report(ofLast.messageId, "delivered", null),
        yield* report(ofFirst.messageId, "sent", null),
        yield* report(ofFirst.messageId, "delivered", "wamid.taken")
      ]
      const name = yield* open(client`insert into wac.message_names values ('wamid.taken', ${ofLast.messageId})`)
      const reporting = yield* beginAndWait(client.withTransaction(carryOut(ApplyReport.applyReport, commands)))
      const completing = yield* begin(healths(first.id, last.id))
      yield* Effect.raceFirst(waiting(2), Fiber.await(completing))
      yield* name.commit
      yield* Fiber.join(reporting)
      yield* Fiber.join(completing)
    }))

  it.effect("tidying skipped deliveries does not deadlock with completions", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const one = yield* world()
      const first = yield* putWebhook(one)
      const last = yield* putWebhook(yield* world({ start: one.start }))
      const { tidySkipped } = yield* DeliveryStore.DeliveryStore
      // what other tests have left
      yield* Effect.repeat(tidySkipped(one.start, 100), { while: (written) => written > 0 })
      for (const [webhook, skippedAt] of [[first.id, one.start + 1], [last.id, one.start]] as const) {
        yield* client`insert into wac.webhook_skips (webhook_id, until, skipped_at, created_before)
          values (${webhook}, 1, ${skippedAt}, ${one.start})`
      }
      const complete = yield* inTwoSteps(healths(first.id), healths(last.id))
      const tidying = yield* beginAndWait(tidySkipped(one.start + minute, 100))
      yield* complete.end
      yield* Fiber.join(tidying)
      const left = yield* client`select from wac.webhook_skips where webhook_id in ${client.in([first.id, last.id])}`
      assert.deepStrictEqual(left, [])
    }))

  it.effect("sends from numbers of one account in several workspaces do not deadlock with reports about the account", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const one = yield* world()
      const two = yield* world({ start: one.start })
      // a number of the first workspace that sorts last
      const number = yield* Fixture.phoneNumber(one.workspace.id, {
        providerAccountId: one.number.providerAccountId,
        isDefault: false
      })
      assert.isTrue(yield* PhoneNumberStore.PhoneNumberStore.use((store) => store.add(number)))
      const sends = [
        yield* MessageFixture.sendCommand(one, { message: MessageFixture.template({ from: number.id }) }),
        yield* MessageFixture.sendCommand(two)
      ]
      const settings = yield* open(client`update wac.phone_numbers set tier = 'roomy' where id = ${number.id}`)
      const accepting = yield* beginAndWait(accept(sends))
      const observing = yield* beginAndWait(
        client.withTransaction(carryOut(
          PhoneNumberStep.observe,
          [two.number, number].map(({ providerNumberId }) => ({
            name: { providerNumberId },
            now: one.start,
            at: one.start,
            change: { quality: "red" }
          }))
        )),
        2
      )
      yield* settings.commit
      yield* Fiber.join(accepting)
      yield* Fiber.join(observing)
    }))

  it.effect("sends at the end of a month do not deadlock with a sweep", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const own = yield* world()
      const turn = Fixture.nextMonth(own.start)
      const { command } = yield* MessageFixture.claimed(own)
      assert.isTrue(yield* MessageFixture.settle(command, yield* MessageFixture.notSentOutcome))
      const message = MessageFixture.template({ to: MessageFixture.customer(2) })
      const pair = Limits.pairBucket(own.number.id, CustomerNames.keyOf(message.to))
      yield* client`insert into wac.buckets (key, full_at, phone_number_id) values (${pair}, 0, ${own.number.id})`
      const sends = [
        yield* MessageFixture.sendCommand(own, { now: turn - 1, message }),
        yield* MessageFixture.sendCommand(own, { now: turn })
      ]
      const settings = yield* open(client`update wac.phone_numbers set tier = 'roomy' where id = ${own.number.id}`)
      const accepting = yield* beginAndWait(accept(sends))
      const sweeping = yield* beginAndWait(
        client.withTransaction(
          carryOut(Sweep.sweep, [{ now: turn + hour, at: turn + hour, ids: yield* Fixture.eventIds }])
        ),
        2
      )
      yield* settings.commit
      yield* Fiber.join(accepting)
      yield* Fiber.join(sweeping)
      const dropped = yield* MessageStore.MessageStore.use((store) => store.get(own.workspace.id, command.messageId))
      assert.strictEqual(dropped._tag === "Some" ? dropped.value.status : null, "failed")
    }))

  it.effect("queueing messages of several numbers does not deadlock with the delay of others", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const one = yield* world()
      const { start } = one
      const worlds = [one, yield* world({ start })]
      const [first, last] = worlds.toSorted((a, b) => a.number.id < b.number.id ? -1 : 1) as [
        Fixture.World,
        Fixture.World
      ]
      const queued = [yield* QueueFixture.queued(last), yield* QueueFixture.queued(first)]
      const ids = yield* Fixture.eventIds
      const ends = queued.map(({ message: { id, phoneNumberId } }) => ({
        now: start,
        messageId: id,
        phoneNumberId,
        end: { _tag: "Missed" } as const,
        ids
      }))
      const later = { sendAt: start }
      const sends = [
        yield* MessageFixture.sendCommand(last, { later }),
        yield* MessageFixture.sendCommand(first, { later })
      ]
      const lock = (own: Fixture.World) =>
        client`select from wac.send_lanes where phone_number_id = ${own.number.id} for no key update`
      for (
        const step of [
          Effect.asVoid(client.withTransaction(carryOut(end, ends))),
          Effect.asVoid(client.withTransaction(carryOut(Accept.accept, sends)))
        ]
      ) {
        const other = yield* inTwoSteps(lock(first), lock(last))
        const stepping = yield* beginAndWait(step)
        yield* other.end
        yield* Fiber.join(stepping)
      }
      const lanes = yield* client<{ readonly at: number }>`
        select work_at::double precision as at from wac.send_lanes
        where phone_number_id in ${client.in([first.number.id, last.number.id])}`
      assert.deepStrictEqual(lanes.map(({ at }) => at), [start, start])
    }))

  it.effect("a message that is queued while its number is worked on is not forgotten", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const own = yield* world()
      const at = own.start + minute
      yield* QueueFixture.queued(own, { later: { sendAt: at } })
      const limits = Fixture.roomy
      const command = { now: at, limit: 10, limits, asked: at }
      const goesOn = yield* Deferred.make<void>()
      const begun = yield* Deferred.make<void>()
      const working = yield* begin(client.withTransaction(
        carryOut(work, [command]).pipe(
          Effect.tap(() => Deferred.succeed(begun, undefined)),
          Effect.tap(() => Deferred.await(goesOn))
        )
      ))
      yield* Effect.raceFirst(Deferred.await(begun), Fiber.join(working))
      const queueing = yield* beginAndWait(QueueFixture.queued(own, { later: { sendAt: at } }))
      yield* Deferred.succeed(goesOn, undefined)
      assert.deepStrictEqual((yield* Fiber.join(working)).map((worked) => worked?.claimed.length), [1])
      const { message } = yield* Fiber.join(queueing)
      assert.deepStrictEqual((yield* QueueFixture.due(own, at + 1)).map(({ message: { id } }) => id), [message.id])
    }))

  it.effect("a message that is given back while its number is worked on is not forgotten", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const own = yield* world()
      const at = own.start + minute
      yield* QueueFixture.queued(own, { later: { sendAt: at } })
      const [taken] = yield* QueueFixture.due(own, at)
      yield* QueueFixture.queued(own, { later: { sendAt: at } })
      const now = at + second
      const goesOn = yield* Deferred.make<void>()
      const begun = yield* Deferred.make<void>()
      const working = yield* begin(client.withTransaction(
        carryOut(work, [{ now, limit: 10, limits: Fixture.roomy, asked: now }]).pipe(
          Effect.tap(() => Deferred.succeed(begun, undefined)),
          Effect.tap(() => Deferred.await(goesOn))
        )
      ))
      yield* Effect.raceFirst(Deferred.await(begun), Fiber.join(working))
      const ending = yield* beginAndWait(QueueFixture.ended(taken!, now, { _tag: "Missed", dueAt: at }))
      yield* Deferred.succeed(goesOn, undefined)
      assert.deepStrictEqual((yield* Fiber.join(working)).map((worked) => worked?.claimed.length), [1])
      yield* Fiber.join(ending)
      const due = yield* QueueFixture.due(own, now)
      assert.deepStrictEqual(due.map(({ message: { id } }) => id), [taken!.message.id])
    }))

  it.effect("messages that another transaction holds, and leaves as they are, are looked at again", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const own = yield* world()
      const at = own.start + minute
      const { message: { id } } = yield* QueueFixture.queued(own, { later: { sendAt: at } })
      for (
        const lock of [
          client`select from wac.send_queue where message_id = ${id} for update`,
          client`select from wac.messages where id = ${id} for update`
        ]
      ) {
        const held = yield* open(lock)
        assert.deepStrictEqual(yield* QueueFixture.due(own, at), [])
        yield* held.commit
      }
      assert.deepStrictEqual((yield* QueueFixture.due(own, at + 2 * second)).map(({ message }) => message.id), [id])
    }))

  it.effect("a cancel waits for whoever holds the message, and a claim does not", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const own = yield* world()
      const { command, message } = yield* QueueFixture.queued(own, { later: { sendAt: own.start } })
      const held = yield* open(client`select from wac.messages where id = ${message.id} for update`)
      const cancelling = yield* beginAndWait(QueueFixture.cancel({ message }, own.start))
      const given = { message, request: command.request }
      assert.strictEqual((yield* QueueFixture.accept(own, given, own.start)).accepted._tag, "Running")
      yield* held.commit
      assert.strictEqual((yield* Fiber.join(cancelling))._tag, "Some")
      const { accepted } = yield* QueueFixture.accept(own, given, own.start + second)
      assert.notStrictEqual(accepted._tag, "Claimed")
    }))

  it.effect("spending tokens does not deadlock with returning tokens", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const start = 1_767_614_400_000
      const policy = { name: "login", interval: second, capacity: 3 } as const
      // in whichever order they are stored
      for (const keys of [["test:1", "test:2"], ["test:4", "test:3"]]) {
        const [first, last] = keys.toSorted() as [string, string]
        const buckets = keys.map((key) => ({ key, policy }))
        for (const bucket of buckets) yield* RateLimitStore.RateLimitStore.use(({ spend }) => spend([bucket], start))
        const lock = (key: string) => client`select from wac.buckets where key = ${key} for no key update`
        const spend = yield* inTwoSteps(lock(first), lock(last))
        const giving = yield* beginAndWait(
          client.withTransaction(carryOut(Tokens.giveBack, [{ now: start, buckets }]))
        )
        yield* spend.end
        yield* Fiber.join(giving)
        const left = yield* client<{ full_at: number }>`select full_at from wac.buckets where key in ${client.in(keys)}`
        assert.deepStrictEqual(left.map(({ full_at }) => full_at), [start, start])
      }
    }))

  it.effect("a token is spent from a full bucket even if a sweep deletes it meanwhile", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const own = yield* world()
      const policy = { name: "login", interval: second, capacity: 3 } as const
      yield* client`insert into wac.buckets (key, full_at) values ('test:full', 0)`
      const other = yield* open(client`insert into wac.buckets (key, full_at) values ('test:held', 0)`)
      const buckets = ["test:full", "test:held"].map((key) => ({ key, policy }))
      const spending = yield* beginAndWait(RateLimitStore.RateLimitStore.use(({ spend }) => spend(buckets, own.start)))
      yield* MessageStore.MessageStore.use(({ sweep }) => sweep(own.start))
      yield* other.commit
      assert.deepStrictEqual((yield* Fiber.join(spending)).map(({ remaining }) => remaining), [2, 2])
      const spent = yield* client<{ full_at: number }>`select full_at from wac.buckets where key = 'test:full'`
      assert.deepStrictEqual(spent.map(({ full_at }) => full_at), [own.start + second])
    }))

  it.effect("a heartbeat does not undo a release of the queues that it has waited for", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const { start } = yield* world()
      const { beat } = yield* QueueStore.QueueStore
      yield* beat({ now: start, last: null, isRestored: false })
      yield* client`update wac.heartbeats set held_since = ${start}`
      const release = yield* open(client.unsafe(releaseAllText))
      const beating = yield* beginAndWait(beat({ now: start, last: start, isRestored: false }))
      yield* release.commit
      yield* Fiber.join(beating)
      const rows = yield* client`select held_since from wac.heartbeats`
      assert.deepStrictEqual(rows, [{ held_since: null }])
    }))

  it.effect("a claim of the outbox leaves out an entry that is cancelled or delayed while the claim waits for it", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const own = yield* world()
      const { id: workspaceId } = own.workspace
      const enqueue = (key: string) =>
        Effect.map(
          client<{ readonly id: Id.MessageId }>`
            select wac.enqueue(${workspaceId}, ${key}, ${
            JSON.stringify(MessageFixture.template())
          }::text::jsonb) as id`,
          ([row]) => row!.id
        )
      const store = yield* OutboxStore.OutboxStore
      const due = yield* enqueue("due")
      const cancelled = yield* enqueue("cancelled")
      const delayed = yield* enqueue("delayed")
      const now = own.start
      const other = yield* open(Effect.andThen(
        carryOut(Cancel.cancel, [
          { now, workspaceId, messageId: cancelled, boundTo: null, enqueued: MessageFixture.enqueued }
        ]),
        client`update wac.outbox set due_at = ${now + hour}, tries = tries + 1 where message_id = ${delayed}`
      ))
      const claiming = yield* beginAndWait(store.claim({ now, token: "one", limit: 10 }))
      yield* other.commit
      const { entries } = yield* Fiber.join(claiming)
      assert.deepStrictEqual(entries.map(({ messageId }) => messageId), [due])
    }))

  it.effect("a sweep passes by an expired answer whose key is just used again", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const own = yield* world()
      const store = yield* KeptAnswerStore.KeptAnswerStore
      const place = { workspaceId: own.workspace.id, caller: "usr_1", route: "POST /", key: "k" as never }
      yield* store.claim(place, { fingerprint: "f", token: "one", isRepeatable: false }, own.start)
      const now = own.start + 2 * day
      const claim = yield* open(
        client`update wac.kept_answers set token = 'two', expires_at = ${now + day}
          where workspace_id = ${own.workspace.id}`
      )
      const sweeping = yield* begin(store.forget(now))
      const ended = yield* Effect.raceFirst(Effect.as(waiting(1), "waited"), Effect.as(Fiber.await(sweeping), "passed"))
      yield* claim.commit
      yield* Fiber.join(sweeping)
      const left = yield* client`select token from wac.kept_answers where workspace_id = ${own.workspace.id}`
      assert.deepStrictEqual([ended, left], ["passed", [{ token: "two" }]])
    }))

  for (const [what, isNamed] of [["that its rows name", true], ["that no row names", false]] as const) {
    it.effect(`clearing a campaign locks messages ${what} before the queue, as the other steps do`, () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const own = yield* world()
        const { id } = yield* CampaignFixture.draft(own)
        const { message } = yield* QueueFixture.queued(own)
        yield* client`update wac.send_queue set campaign_id = ${id}, phone_number_id = null, workspace_id = null,
          send_until = null where message_id = ${message.id}`
        if (isNamed) {
          yield* client`insert into wac.campaign_rows (campaign_id, place, content, message_id)
            values (${id}, 1, '{}', ${message.id})`
        }
        const other = yield* inTwoSteps(
          client`select from wac.messages where id = ${message.id} for update`,
          client`delete from wac.send_queue where message_id = ${message.id}`
        )
        const clearing = yield* beginAndWait(
          Effect.forEach(clear(id, 0), (statements) => client.withTransaction(carryOutAll(statements)))
        )
        yield* other.end
        yield* Fiber.join(clearing)
        const left = yield* client`select from wac.messages where id = ${message.id}`
        assert.deepStrictEqual(left, [])
      }))
  }
})
