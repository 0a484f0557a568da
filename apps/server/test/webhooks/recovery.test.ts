/**
 * A receiver that is away for hours: refusing connections, then overloaded, then well again (contract §6 *Retries*,
 * *Failing*). The process's clock is the test's, connections are real.
 */
import { assert, it } from "@effect/vitest"
import * as FreePort from "@wac/testbed/FreePort"
import { RecordingReceiver } from "@wac/testkit"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import { call, hello, send, setWebhook } from "../harness.ts"
import { freshDatabase, masterKey, postgres, signedIn, sql, startSteered } from "../processes.ts"
import { nameOf, upstream } from "../upstream.ts"

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** An attempt as it was recorded, and when its delivery was next due at that time. */
interface Recorded {
  readonly number: number
  readonly started_at: number
  readonly ended_at: number
  readonly outcome: string
  readonly message: string
  readonly next_attempt_at: number | null
}

const unavailable = (retryAfter?: number) =>
  RecordingReceiver.reply(503, retryAfter === undefined ? {} : { headers: { "retry-after": `${retryAfter}` } })

/**
 * The failures of one event: how the receiver answers (`null`: not at all), and how long after its end the next attempt
 * is due, in milliseconds, at least and at most.
 */
const failures: ReadonlyArray<
  { readonly answer: RecordingReceiver.Answer | null; readonly atLeast: number; readonly atMost: number }
> = [
  { answer: null, atLeast: second, atMost: 1.1 * second },
  { answer: null, atLeast: 5 * second, atMost: 5.5 * second },
  { answer: null, atLeast: 25 * second, atMost: 27.5 * second },
  // lengthened
  { answer: unavailable(1800), atLeast: 30 * minute, atMost: 30 * minute },
  // not shortened
  { answer: unavailable(60), atLeast: 10 * minute, atMost: 11 * minute },
  // lengthened to an hour at most
  { answer: unavailable(7200), atLeast: hour, atMost: hour },
  { answer: unavailable(), atLeast: 250 * minute, atMost: 275 * minute },
  {
    answer: RecordingReceiver.reply(500, { headers: { "retry-after": "36000" } }),
    atLeast: 250 * minute,
    atMost: 275 * minute
  }
]

it.live(
  "a receiver that refuses, is overloaded and recovers gets all events in order, and waiting ones immediately",
  () =>
    Effect.gen(function*() {
      const database = yield* Effect.flatMap(postgres, freshDatabase)
      const provider = yield* upstream
      // time stands still but for what passes here, so that no attempt is due before the one before it was looked at
      const begun = checks.now()
      const settings = { DATABASE_URL: database, WAC_MASTER_KEY: masterKey(), TEST_STILL_AT: String(begun) }
      const service = yield* startSteered(settings, provider.url)
      const { key, session } = yield* signedIn(service)
      let ahead = 0
      /** Time passes until then. */
      const passTo = (time: number) => {
        const millis = Math.max(0, time - begun - ahead)
        ahead += millis
        return service.order({ _tag: "Advance", millis })
      }
      const health = Effect.map(
        call(`${service.url}/internal/webhook`, { headers: session }),
        ({ body }) => body
      )

      // nobody listens there yet
      const port = yield* Effect.promise(FreePort.find)
      yield* setWebhook({ url: service.url, session }, { url: `http://127.0.0.1:${port}/` })

      const sendOne = Effect.fnUntraced(function*(to: string) {
        const { body, status, text } = yield* send({ url: service.url, key }, hello(to))
        assert.strictEqual(status, 200, text)
        const messageId: string = body.message_id
        yield* service.order({ _tag: "Report", messageId, providerMessageId: nameOf(messageId), status: "read" })
        return messageId
      })

      /** The attempts at a message's first event, once there are so many. */
      const attempts = (messageId: string, count: number) =>
        checks.until(
          sql<Recorded>(
            database,
            `select a.number, a.started_at::float8, (a.started_at + a.duration_ms)::float8 as ended_at, a.outcome,
              a.message, d.next_attempt_at::float8
            from wac.attempts a join wac.deliveries d on d.id = a.delivery_id
            where d.order_key = '${messageId}' and d.sequence = 1 order by a.number`
          ),
          ({ length }) => length >= count
        )

      const first = yield* sendOne("+15559000000")
      let customer: RecordingReceiver.RecordingReceiver | undefined
      let due = 0
      for (const [i, { answer, atLeast, atMost }] of failures.entries()) {
        if (answer !== null) {
          customer ??= yield* RecordingReceiver.makeOn(port)
          yield* customer.answerWith(answer)
        }
        yield* passTo(due)
        const recorded = (yield* attempts(first, i + 1)).at(-1)!
        assert.strictEqual(recorded.number, i + 1)
        assert.strictEqual(recorded.outcome, answer === null ? "connect" : "status")
        assert.isAtLeast(recorded.started_at, due)
        assert.isAtLeast(recorded.next_attempt_at! - recorded.ended_at, atLeast, `after attempt ${i + 1}`)
        assert.isAtMost(recorded.next_attempt_at! - recorded.ended_at, Math.ceil(atMost), `after attempt ${i + 1}`)
        due = recorded.next_attempt_at!
      }
      // each of them came once, and no other event went before
      assert.strictEqual((yield* customer!.requests).length, failures.filter(({ answer }) => answer !== null).length)

      const failing = yield* health
      assert.strictEqual(failing.status, "active")
      assert.isNotNull(failing.failingSince)
      assert.isAbove(Date.parse(failing.pausesAt), begun + ahead)

      // new ones are tried while it fails, one at a time
      const others = [yield* sendOne("+15559000001"), yield* sendOne("+15559000002")]
      for (const other of others) {
        yield* passTo(begun + ahead + 2 * second)
        const [recorded] = yield* attempts(other, 1)
        assert.strictEqual(recorded!.outcome, "status")
      }

      // a good answer brings all that waits forward, hours before they are due
      const before = (yield* customer!.requests).length
      yield* customer!.answerWith(RecordingReceiver.ok)
      const last = yield* sendOne("+15559000003")
      yield* passTo(begun + ahead + 2 * second)
      const messages = [first, ...others, last]
      const received = (yield* customer!.waitFor(before + 3 * messages.length)).slice(before)
      const sequences = new Map<string, Array<number>>()
      for (const { body } of received) {
        const { data } = JSON.parse(new TextDecoder().decode(body))
        sequences.set(data.message_id, [...sequences.get(data.message_id) ?? [], data.sequence])
      }
      assert.sameMembers([...sequences.keys()], messages)
      for (const each of sequences.values()) assert.deepStrictEqual(each, [1, 2, 3])
      const all = yield* attempts(first, failures.length + 1)
      const recovered = all.at(-1)!
      assert.deepStrictEqual([recovered.number, recovered.outcome], [failures.length + 1, "delivered"])
      assert.isBelow(recovered.started_at, due - hour)

      yield* checks.until(
        sql<{ readonly status: string }>(database, "select distinct status from wac.deliveries"),
        (rows) => rows.length === 1 && rows[0]!.status === "delivered"
      )
      const well = yield* health
      assert.deepStrictEqual([well.failingSince, well.pausesAt, well.pausedAt], [null, null, null])
    }).pipe(Effect.scoped)
)
