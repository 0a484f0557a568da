import { assert, describe, it } from "@effect/vitest"
import { Id, Inbound } from "@wac/core"
import { SandboxProvider } from "@wac/sandbox"
import { RecordingReceiver } from "@wac/testkit"
import { verify } from "@wac/verifier"
import { Clock, Duration, Effect } from "effect"
import { assertBelow, idShape, type Ready, stored, tenant, timeShape, until } from "../checks.ts"
import { call, type Delivered, hello, hostAuthenticator, ready, receiver, send, setWebhook, start } from "../harness.ts"
import { moving } from "../movable.ts"

const eventId = idShape("evt")
const messageId = idShape("msg")

const typesOf = (received: ReadonlyArray<Delivered>) => received.map(({ event }) => event.type)
const sequencesOf = (received: ReadonlyArray<Delivered>) => received.map(({ event }) => event.data.sequence)

/** A server whose webhook leads to a receiver of the test's own. */
const road = Effect.fnUntraced(function*(
  options: {
    readonly envelope?: string
    readonly eventTypes?: ReadonlyArray<string>
    /** What the receiver answers first; then it takes everything. */
    readonly script?: ReadonlyArray<RecordingReceiver.Answer>
  } = {}
) {
  const { script = [], ...body } = options
  const server = yield* ready()
  const customer = yield* receiver
  yield* customer.script(script)
  const { signingSecret } = yield* setWebhook(server, { ...body, url: customer.url })
  return { server, customer, signingSecret }
})

/** Sends what the sandbox takes; gives the answer's body. */
const sent = Effect.fnUntraced(function*(
  server: Parameters<typeof send>[0],
  to?: string,
  body: { readonly [field: string]: unknown } = {}
) {
  const answer = yield* send(server, { ...hello(to), ...body })
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.body as {
    readonly message_id: string
    readonly provider_message_id: string
    readonly tenant_id: string
  }
})

const health = Effect.fnUntraced(function*(server: Ready) {
  return (yield* call(`${server.url}/internal/webhook`, { headers: server.session })).body
})

/** Who upstream cannot reach, as an event tells it. */
const unreachable = {
  code: "invalid_body",
  reason: "undeliverable",
  message: "the recipient cannot be reached",
  provider: { code: "131026", message: "Message undeliverable" }
}

describe.concurrent("a message's events", () => {
  it.live("a message's sent, delivered and read events arrive once and in order, in the combined envelope", () =>
    Effect.gen(function*() {
      const { customer, server } = yield* road()
      const before = yield* Clock.currentTimeMillis
      const message = yield* sent(server, "+15551234567", { client_reference: "order 1042 👋" })
      const received = yield* customer.take(3)
      const after = yield* Clock.currentTimeMillis

      const times = ["sent_at", "delivered_at", "read_at"]
      for (const [i, { body, event, headers, method, target }] of received.entries()) {
        const status = ["sent", "delivered", "read"][i]!
        const time = event.data[times[i]!]
        assert.deepStrictEqual(event, {
          id: event.id,
          object: "event",
          type: `message.${status}`,
          created_at: event.created_at,
          tenant_id: message.tenant_id,
          data: {
            message_id: message.message_id,
            provider_message_id: message.provider_message_id,
            to: "+15551234567",
            status,
            [times[i]!]: time,
            client_reference: "order 1042 👋",
            sequence: i + 1
          }
        })
        assert.match(event.id, eventId)
        for (const at of [event.created_at, time]) {
          assert.match(at, timeShape)
          assert.isAtLeast(Date.parse(at), before)
          assert.isAtMost(Date.parse(at), after)
        }
        assert.deepStrictEqual([method, target], ["POST", "/hook?from=wac"])
        assert.strictEqual(headers["content-type"], "application/json")
        assert.strictEqual(headers["content-length"], `${body.byteLength}`)
        assert.strictEqual(headers["webhook-id"], event.id)
        assert.isUndefined(headers["cookie"])
        assert.isUndefined(headers["authorization"])
      }
      assert.strictEqual(new Set(received.map(({ event }) => event.id)).size, 3)

      const { body } = yield* stored(server, message.message_id)
      assert.deepStrictEqual(
        [body.sent_at, body.delivered_at, body.read_at],
        received.map(({ event }, i) => event.data[times[i]!])
      )
    }).pipe(Effect.scoped))

  it.live("events of variant A have exactly its fields", () =>
    Effect.gen(function*() {
      const { customer, server } = yield* road({ envelope: "a" })
      const { message_id } = yield* sent(server, "+15551234567", { client_reference: "r" })
      for (const [i, { event, headers }] of (yield* customer.take(3)).entries()) {
        const status = ["sent", "delivered", "read"][i]!
        assert.deepStrictEqual(event, {
          id: event.id,
          type: `message.${status}`,
          created_at: event.created_at,
          data: { message_id, to: "+15551234567", status }
        })
        assert.match(event.id, eventId)
        assert.match(event.created_at, timeShape)
        assert.strictEqual(headers["webhook-id"], event.id)
      }
    }).pipe(Effect.scoped))

  it.live("events of variant B have exactly its fields", () =>
    Effect.gen(function*() {
      const { customer, server } = yield* road({ envelope: "b" })
      const { message_id, provider_message_id, tenant_id } = yield* sent(server, "+15551234567", {
        client_reference: "r"
      })
      const received = yield* customer.take(3)
      for (const [i, { event, headers }] of received.entries()) {
        const status = ["sent", "delivered", "read"][i]!
        const time = event.data[`${status}_at`]
        assert.deepStrictEqual(event, {
          type: `message.${status}`,
          tenant_id,
          data: { message_id, provider_message_id, to: "+15551234567", [`${status}_at`]: time }
        })
        assert.match(time, timeShape)
        assert.match(headers["webhook-id"]!, eventId)
      }
      assert.strictEqual(new Set(received.map(({ headers }) => headers["webhook-id"])).size, 3)
    }).pipe(Effect.scoped))

  it.live("a message that fails later causes sent and failed events, with the error", () =>
    Effect.gen(function*() {
      const { customer, server } = yield* road()
      const { message_id, provider_message_id, tenant_id } = yield* sent(server, "+15005550002")
      const [first, second] = yield* customer.take(2)
      assert.strictEqual(first!.event.type, "message.sent")
      const { event } = second!
      assert.match(event.data.failed_at, timeShape)
      assert.deepStrictEqual(event, {
        id: event.id,
        object: "event",
        type: "message.failed",
        created_at: event.created_at,
        tenant_id,
        data: {
          message_id,
          provider_message_id,
          to: "+15005550002",
          status: "failed",
          failed_at: event.data.failed_at,
          error: unreachable,
          sequence: 2
        }
      })
    }).pipe(Effect.scoped))

  it.live("a message that is refused immediately causes one failed event, which no repetition repeats", () =>
    Effect.gen(function*() {
      const { customer, server } = yield* road()
      const idempotency = { "idempotency-key": "refused" }
      for (const replayed of [null, "true"]) {
        const answer = yield* send(server, hello("+15005550001"), idempotency)
        assert.deepStrictEqual([answer.status, answer.body.error.reason], [400, "undeliverable"])
        assert.strictEqual(answer.headers.get("idempotent-replayed"), replayed)
      }
      const [{ event }] = (yield* customer.take(1)) as [Delivered]
      assert.match(event.data.message_id, messageId)
      assert.deepStrictEqual([event.type, event.data], [
        "message.failed",
        {
          message_id: event.data.message_id,
          provider_message_id: null,
          to: "+15005550001",
          status: "failed",
          failed_at: event.data.failed_at,
          error: unreachable,
          sequence: 1
        }
      ])
      // what comes next is of the next message
      const { message_id } = yield* sent(server, "+15005550003")
      const [next] = yield* customer.take(1)
      assert.deepStrictEqual([next!.event.type, next!.event.data.message_id], ["message.sent", message_id])
    }).pipe(Effect.scoped))

  for (const envelope of ["a", "b"]) {
    it.live(`the events of a failed message follow the pattern of variant ${envelope.toUpperCase()}`, () =>
      Effect.gen(function*() {
        const { customer, server } = yield* road({ envelope, eventTypes: ["message.failed"] })
        const { message_id, provider_message_id, tenant_id } = yield* sent(server, "+15005550002")
        const [{ event }] = (yield* customer.take(1)) as [Delivered]
        const own = { type: "message.failed" }
        const shared = { message_id, to: "+15005550002", error: unreachable }
        assert.deepStrictEqual(
          event,
          envelope === "a"
            ? { ...own, id: event.id, created_at: event.created_at, data: { ...shared, status: "failed" } }
            : { ...own, tenant_id, data: { ...shared, provider_message_id, failed_at: event.data.failed_at } }
        )
      }).pipe(Effect.scoped))
  }

  it.live("each event arrives once and in order, even if the provider repeats or disorders reports", () =>
    Effect.gen(function*() {
      const { customer, server } = yield* road()
      const { message_id } = yield* sent(server, "+15005550007")
      const received = yield* customer.take(3)
      assert.deepStrictEqual(typesOf(received), ["message.sent", "message.delivered", "message.read"])
      assert.deepStrictEqual(sequencesOf(received), [1, 2, 3])
      // read came first, so the step that it skipped has its time
      const [, delivered, read] = received
      assert.strictEqual(delivered!.event.data.delivered_at, read!.event.data.read_at)
      // upstream's last word is 600 ms after the send, before the last ones on two others
      for (const _ of [1, 2]) {
        yield* sent(server)
        yield* customer.take(3)
      }
      const ofIt = (yield* customer.requests).filter(({ body }) => Buffer.from(body).includes(message_id))
      assert.strictEqual(ofIt.length, 3)
      assert.strictEqual((yield* stored(server, message_id)).body.status, "read")
    }).pipe(Effect.scoped))

  it.live("a message with an unknown outcome causes its event once the provider reports it", () =>
    Effect.gen(function*() {
      const { customer, server } = yield* road()
      const answer = yield* send(server, hello("+15005550006"))
      assert.deepStrictEqual([answer.status, answer.body.error.reason], [504, "outcome_unknown"])
      const received = yield* customer.take(2)
      assert.deepStrictEqual(typesOf(received), ["message.sent", "message.delivered"])
      assert.deepStrictEqual(sequencesOf(received), [1, 2])
    }).pipe(Effect.scoped))
})

describe.concurrent("a customer's reply", () => {
  const reply = (envelope: string, to: string) =>
    Effect.gen(function*() {
      const { customer, server } = yield* road({ envelope, eventTypes: ["message.received"] })
      const message = yield* sent(server, to)
      const [{ event, headers }] = (yield* customer.take(1)) as [Delivered]
      return { event, headers, message, server }
    })

  it.live("a customer's reply arrives with its text, in the combined envelope", () =>
    Effect.gen(function*() {
      const { event, message } = yield* reply("combined", "+15005550008")
      const { message_id, provider_message_id, received_at } = event.data
      assert.deepStrictEqual(event, {
        id: event.id,
        object: "event",
        type: "message.received",
        created_at: event.created_at,
        tenant_id: message.tenant_id,
        data: {
          message_id,
          provider_message_id,
          from: "+15005550008",
          to: "+15005550100",
          type: "text",
          text: { body: "Thank you, got it!" },
          received_at,
          late: false
        }
      })
      assert.match(event.id, eventId)
      assert.match(message_id, messageId)
      assert.notStrictEqual(message_id, message.message_id)
      assert.notStrictEqual(provider_message_id, message.provider_message_id)
      assert.match(received_at, timeShape)
    }).pipe(Effect.scoped))

  it.live("a customer's reply follows the patterns of variants A and B", () =>
    Effect.gen(function*() {
      const a = yield* reply("a", "+15005550008")
      const content = { from: "+15005550008", to: "+15005550100", type: "text", text: { body: "Thank you, got it!" } }
      assert.deepStrictEqual(a.event, {
        id: a.headers["webhook-id"],
        type: "message.received",
        created_at: a.event.created_at,
        data: { message_id: a.event.data.message_id, ...content }
      })
      const b = yield* reply("b", "+15005550008")
      const { message_id, provider_message_id, received_at } = b.event.data
      assert.match(received_at, timeShape)
      assert.deepStrictEqual(b.event, {
        type: "message.received",
        tenant_id: b.message.tenant_id,
        data: { message_id, provider_message_id, ...content, received_at }
      })
    }).pipe(Effect.scoped))

  it.live("a reply with STOP arrives and opts the customer out", () =>
    Effect.gen(function*() {
      const { event, server } = yield* reply("combined", "+15005550009")
      assert.deepStrictEqual([event.data.from, event.data.text], ["+15005550009", { body: "STOP" }])
      const promo = { ...hello("+15005550009"), template: { name: "promo", language: "en_US", bodyParams: ["20%"] } }
      const answer = yield* send(server, promo)
      assert.deepStrictEqual([answer.status, answer.body.error.reason], [403, "opted_out"])
    }).pipe(Effect.scoped))
})

/** Upstream tells of a message, beside what the sandbox tells by itself. */
const tell = Effect.fnUntraced(function*(
  { services }: Ready,
  message: Effect.Success<ReturnType<typeof sent>>,
  status: "delivered" | "read"
) {
  const at = yield* Clock.currentTimeMillis
  yield* Inbound.Inbound.use((inbound) =>
    inbound.receive([{
      _tag: "Status",
      providerNumberId: SandboxProvider.firstNumber.providerNumberId,
      reference: Id.MessageId.make(message.message_id),
      report: { status, at, providerMessageId: message.provider_message_id, error: null }
    }])
  ).pipe(Effect.provideContext(services))
})

describe.concurrent("delivered events", () => {
  it.live("only events of the webhook's types are delivered", () =>
    Effect.gen(function*() {
      const { customer, server } = yield* road({ eventTypes: ["message.read", "message.failed"] })
      yield* sent(server)
      const [read] = yield* customer.take(1)
      assert.deepStrictEqual([read!.event.type, read!.event.data.sequence], ["message.read", 3])
      // what was not wanted when it happened is not made up for
      yield* setWebhook(server, { url: customer.url })
      const { message_id } = yield* sent(server)
      const all = yield* customer.take(3)
      assert.deepStrictEqual(all.map(({ event }) => event.data.message_id), [message_id, message_id, message_id])
      assert.deepStrictEqual(sequencesOf(all), [1, 2, 3])
    }).pipe(Effect.scoped))

  it.live("only events after the webhook was set are delivered", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const customer = yield* receiver
      const early = yield* sent(server, "+15005550003")
      yield* setWebhook(server, { url: customer.url })
      yield* tell(server, early, "delivered")
      const late = yield* sent(server, "+15005550003")
      const received = yield* customer.take(2)
      assert.deepStrictEqual(
        received.map(({ event }) => [event.data.message_id, event.data.sequence]),
        [[early.message_id, 2], [late.message_id, 1]]
      )
    }).pipe(Effect.scoped))

  it.live("every attempt uses the envelope that the webhook had when the event happened", () =>
    Effect.gen(function*() {
      const { customer, server } = yield* road({ envelope: "a", script: [RecordingReceiver.reply(500)] })
      yield* sent(server, "+15005550003")
      const [first] = yield* customer.take(1)
      yield* setWebhook(server, { url: customer.url, envelope: "b" })
      const [second] = yield* customer.take(1)
      assert.deepStrictEqual(Object.keys(second!.event), ["id", "type", "created_at", "data"])
      assert.deepStrictEqual(second!.body, first!.body)
      yield* sent(server, "+15005550003")
      const [third] = yield* customer.take(1)
      assert.deepStrictEqual(Object.keys(third!.event), ["type", "tenant_id", "data"])
    }).pipe(Effect.scoped))
})

/**
 * The signature of ours on a delivery, right and of the time of its arrival by the server's clock, which may be ahead.
 * A busy machine may note the arrival seconds late.
 */
const signatureOf = Effect.fnUntraced(function*(request: Delivered, secret: string, ahead: Duration.Input = 0) {
  const header = request.headers["x-service-signature"]
  const result = yield* Effect.promise(() =>
    verify(request.body, header, secret, { tolerance: 30, now: (request.arrivedAt + Duration.toMillis(ahead)) / 1000 })
  )
  if (!result.ok) return assert.fail(`${result.reason}: ${header}`)
  assert.strictEqual(request.headers["webhook-timestamp"], `${result.timestamp}`)
  return { ...result, header, standard: request.headers["webhook-signature"] }
})

/** The two attempts at one event: the same but for what is made afresh. Gives the time between. */
const assertRepeated = Effect.fnUntraced(function*(first: Delivered, second: Delivered, secret: string) {
  assert.deepStrictEqual(second.body, first.body)
  const fresh = ["x-service-signature", "webhook-timestamp", "webhook-signature"]
  const stable = ({ headers }: Delivered) => Object.entries(headers).filter(([name]) => !fresh.includes(name))
  assert.deepStrictEqual(stable(second), stable(first))
  assert.strictEqual(second.headers["webhook-id"], first.event.id)
  const before = yield* signatureOf(first, secret)
  const after = yield* signatureOf(second, secret)
  assert.isAbove(after.timestamp, before.timestamp)
  assert.notStrictEqual(after.header, before.header)
  assert.notStrictEqual(after.standard, before.standard)
  return second.arrivedAt - first.arrivedAt
})

/**
 * How long after the end of an event's first attempt its second one began, by the storage's times: when they arrive is
 * noted late on a busy machine.
 */
const delayOf = Effect.fnUntraced(function*(server: Ready, { event }: Delivered) {
  const get = (path: string) => call(`${server.url}/internal/webhook/deliveries${path}`, { headers: server.session })
  const { body: { data } } = yield* get("?limit=100")
  const { id } = data.find(({ eventId }: { readonly eventId: string }) => eventId === event.id)
  const { body: { attempts } } = yield* until(get(`/${id}`), ({ body }) => body.attempts.length === 2)
  const [first, second] = attempts.toSorted((a: typeof attempts[0], b: typeof attempts[0]) => a.number - b.number)
  return Date.parse(second.startedAt) - Date.parse(first.startedAt) - first.durationMs
})

describe.concurrent("failed attempts", () => {
  const statuses = [201, 202, 204, 302, 307, 400, 500]

  for (const status of statuses) {
    it.live(`an attempt with status ${status} is retried after a second, with the same event and a new signature`, () =>
      assertBelow(
        4000,
        Effect.gen(function*() {
          const elsewhere = yield* receiver
          const answer = RecordingReceiver.reply(status, { headers: { location: elsewhere.url } })
          const { customer, server, signingSecret } = yield* road({ script: [answer] })
          yield* sent(server, "+15005550003")
          const [first, second] = yield* customer.take(2)
          const apart = yield* assertRepeated(first!, second!, signingSecret)
          assert.isAtLeast(yield* delayOf(server, first!), 1000)
          assert.strictEqual((yield* elsewhere.requests).length, 0)
          const { failingSince, lastFailure } = yield* health(server)
          assert.strictEqual(failingSince, null)
          assert.strictEqual(
            lastFailure.message,
            status === 302 || status === 307
              ? `answered ${status} to ${elsewhere.url.replace(/\?.*/, "")}; redirects are not followed`
              : `answered ${status}; only 200 counts`
          )
          return apart
        }).pipe(Effect.scoped)
      ))
  }

  it.live("an attempt whose connection breaks is retried", () =>
    Effect.gen(function*() {
      const { customer, server, signingSecret } = yield* road({ script: [RecordingReceiver.reset] })
      yield* sent(server, "+15005550003")
      const [first, second] = yield* customer.take(2)
      yield* assertRepeated(first!, second!, signingSecret)
      assert.isAtLeast(yield* delayOf(server, first!), 1000)
    }).pipe(Effect.scoped))

  for (
    const [name, answer, message] of [
      ["never answers", RecordingReceiver.hang, /^connected after \d+ ms, then did not answer within 5 seconds$/],
      [
        "never ends its answer",
        RecordingReceiver.slowDrip("x".repeat(100), "200 millis"),
        /^answered 200 after \d+ ms, then did not finish its response within 5 seconds$/
      ]
    ] as const
  ) {
    it.live(`an attempt ends after 5 seconds if the receiver ${name}`, () =>
      assertBelow(
        9000,
        Effect.gen(function*() {
          const { customer, server, signingSecret } = yield* road({ script: [answer] })
          yield* sent(server, "+15005550003")
          const [first, second] = yield* customer.take(2)
          const apart = yield* assertRepeated(first!, second!, signingSecret)
          // by the attempts' own times: when the first arrived was noted late on a busy machine
          const [begun, again] = [first!, second!].map(({ headers }) => Number(headers["webhook-timestamp"]))
          assert.isAtLeast(again! - begun!, 5)
          assert.match((yield* health(server)).lastFailure.message, message)
          return apart
        }).pipe(Effect.scoped)
      ))
  }

  it.live("a failed attempt delays the message's next events, but not those of other messages", () =>
    Effect.gen(function*() {
      const { customer, server, signingSecret } = yield* road({ script: [RecordingReceiver.reply(500)] })
      const late = yield* sent(server)
      const [refused] = yield* customer.take(1)
      const other = yield* sent(server, "+15005550003")
      const received = yield* customer.take(4)
      assert.deepStrictEqual(
        received.map(({ event }) => [event.data.message_id, event.data.sequence]),
        [[other.message_id, 1], [late.message_id, 1], [late.message_id, 2], [late.message_id, 3]]
      )
      const [, again, delivered, read] = received as [Delivered, Delivered, Delivered, Delivered]
      yield* assertRepeated(refused!, again, signingSecret)
      assert.isAtLeast(yield* delayOf(server, refused!), 1000)
      // they had long happened
      for (const { event } of [delivered, read]) assert.isBelow(Date.parse(event.created_at), again.arrivedAt)
    }).pipe(Effect.scoped))

  it.live("five failures in a row make the webhook failing, and the first 200 ends that", () =>
    Effect.gen(function*() {
      const { customer, server } = yield* road({
        script: Array.from({ length: 5 }, () => RecordingReceiver.reply(503))
      })
      const before = yield* Clock.currentTimeMillis
      yield* Effect.all(Array.from({ length: 5 }, () => sent(server, "+15005550003")), { concurrency: "unbounded" })
      const refused = yield* customer.take(5)
      assert.strictEqual(new Set(refused.map(({ event }) => event.id)).size, 5)
      const { failingSince, lastFailure, pausedAt, pausesAt, status } = yield* until(
        health(server),
        ({ failingSince }) => failingSince !== null
      )
      assert.deepStrictEqual([status, pausedAt, lastFailure.message], ["active", null, "answered 503; only 200 counts"])
      assert.isAtLeast(Date.parse(failingSince), before)
      assert.isAtLeast(Date.parse(lastFailure.at), Date.parse(failingSince))
      // a day after the first failure
      const failedAt = Date.parse(pausesAt) - 24 * 3600 * 1000
      assert.isAtLeast(failedAt, before)
      assert.isAtMost(failedAt, Date.parse(failingSince))

      // a second after the last failure; the others wait for how it ends, and are then brought forward
      const again = yield* customer.take(5)
      assert.isAtLeast(again[0]!.arrivedAt - refused[4]!.arrivedAt, 1000)
      assert.sameMembers(again.map(({ event }) => event.id), refused.map(({ event }) => event.id))
      const recovered = yield* health(server)
      assert.deepStrictEqual([recovered.failingSince, recovered.pausesAt], [null, null])
    }).pipe(Effect.scoped))
})

describe.concurrent("waiting deliveries", () => {
  it.live("waiting deliveries use the webhook's current URL and secret", () =>
    Effect.gen(function*() {
      const { customer, server, signingSecret } = yield* road({ script: [RecordingReceiver.reply(500)] })
      const other = yield* receiver
      yield* sent(server, "+15005550003")
      const [first] = yield* customer.take(1)
      yield* setWebhook(server, { url: other.url })
      const [second] = yield* other.take(1)
      assert.deepStrictEqual(second!.body, first!.body)
      yield* signatureOf(second!, signingSecret)
      assert.strictEqual((yield* customer.requests).length, 1)
    }).pipe(Effect.scoped))

  it.live("waiting deliveries end with the webhook, and a new webhook does not get them", () =>
    Effect.gen(function*() {
      const { customer, pass, server, signingSecret } = yield* moving(
        road({ script: [RecordingReceiver.reply(500)] })
      )
      const early = yield* sent(server, "+15005550003")
      yield* customer.take(1)
      const removed = yield* call(`${server.url}/internal/webhook`, { method: "DELETE", headers: server.session })
      assert.strictEqual(removed.status, 204)

      const other = yield* receiver
      const webhook = yield* setWebhook(server, { url: other.url })
      assert.notStrictEqual(webhook.signingSecret, signingSecret)
      // the retry would be due after 1.1 s at the latest
      yield* pass("1500 millis")
      // the message goes on under the new webhook, and comes after what is due by then
      yield* tell(server, early, "delivered")
      const [next] = yield* other.take(1)
      assert.deepStrictEqual([next!.event.data.message_id, next!.event.data.sequence], [early.message_id, 2])
      yield* signatureOf(next!, webhook.signingSecret, "1500 millis")
      assert.strictEqual((yield* customer.requests).length, 1)
      assert.strictEqual((yield* other.requests).length, 1)
    }).pipe(Effect.scoped))
})

describe.concurrent("two workspaces", () => {
  const two = Effect.gen(function*() {
    const server = yield* start({ adapters: { authenticator: hostAuthenticator } })
    return [yield* tenant(server, "+15005550101"), yield* tenant(server, "+15005550102")] as const
  })

  it.live("each workspace gets only its own events, signed with its own secret", () =>
    Effect.gen(function*() {
      const both = yield* two
      assert.notStrictEqual(both[0].signingSecret, both[1].signingSecret)
      const messages = yield* Effect.all(both.map((one) => sent(one, "+15005550008")), { concurrency: "unbounded" })
      for (const [i, { customer, id, signingSecret }] of both.entries()) {
        const message = messages[i]!
        assert.strictEqual(message.tenant_id, id)
        const received = yield* customer.take(4)
        assert.sameMembers(typesOf(received), ["message.sent", "message.delivered", "message.received", "message.read"])
        for (const each of received) {
          assert.strictEqual(each.event.tenant_id, id)
          yield* signatureOf(each, signingSecret)
          if (each.event.type === "message.received") assert.strictEqual(each.event.data.to, `+1500555010${i + 1}`)
          else assert.strictEqual(each.event.data.message_id, message.message_id)
        }
      }
      // one's webhook goes, the other's stays
      const [first, second] = both
      yield* call(`${first.url}/internal/webhook`, { method: "DELETE", headers: first.session })
      yield* sent(first, "+15005550003")
      const { message_id } = yield* sent(second, "+15005550003")
      const [only] = yield* second.customer.take(1)
      assert.strictEqual(only!.event.data.message_id, message_id)
      assert.strictEqual((yield* first.customer.requests).length, 4)
    }).pipe(Effect.scoped))

  it.live("a dead receiver of one workspace does not delay another workspace", () =>
    // read happens 400 ms after the send; the dead receiver's attempts end after 5 s
    assertBelow(
      4000,
      Effect.gen(function*() {
        const [dead, living] = yield* two
        // one that has never answered well gets one attempt at a time
        yield* sent(dead)
        yield* dead.customer.take(3)
        yield* dead.customer.answerWith(RecordingReceiver.hang)
        yield* Effect.all(Array.from({ length: 40 }, () => sent(dead, "+15005550003")), { concurrency: "unbounded" })
        yield* dead.customer.waitFor(3 + 16)
        const begun = yield* Clock.currentTimeMillis
        yield* sent(living)
        const received = yield* living.customer.take(3)
        assert.deepStrictEqual(sequencesOf(received), [1, 2, 3])
        const asked = (yield* dead.customer.requests).slice(3)
        // no more than 16 at a time, so no further one before the first of them ends
        assert.isAtMost(asked.filter(({ arrivedAt }) => arrivedAt < asked[0]!.arrivedAt + 3000).length, 16)
        return received[2]!.arrivedAt - begun
      }).pipe(Effect.scoped)
    ))
})
