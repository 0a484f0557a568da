/**
 * What people do with a webhook in the dashboard: test it, rotate its secret, pause and resume it, and look at what
 * became of each event.
 */
import { assert, describe, it } from "@effect/vitest"
import { WebhookStore } from "@wac/core"
import * as Curl from "@wac/testbed/Curl"
import { RecordingReceiver } from "@wac/testkit"
import { sign, verify } from "@wac/verifier"
import { Context, Effect, Option } from "effect"
import { spawn } from "node:child_process"
import {
  anotherWorkspace,
  assertError,
  assertInvalid,
  idShape,
  nobody,
  now,
  timeIn,
  timeShape,
  until
} from "../checks.ts"
import {
  actorHeader,
  call,
  type Delivered,
  hello,
  hostAuthenticator,
  ownPage,
  ready,
  receiver,
  send,
  setWebhook,
  start
} from "../harness.ts"

/** Somebody at a server. */
interface Person {
  readonly url: string
  readonly session: { readonly [name: string]: string }
}

const act = ({ session, url }: Person, path: string, body?: unknown, method = "POST") =>
  call(`${url}/internal/webhook${path}`, { method, headers: session, ...(body === undefined ? {} : { body }) })

const look = (person: Person, path = "") => act(person, path, undefined, "GET")

/** A server whose webhook leads to a receiver of the test's own. */
const road = Effect.gen(function*() {
  const server = yield* ready()
  const customer = yield* receiver
  const { signingSecret } = yield* setWebhook(server, { url: customer.url })
  return { server, customer, signingSecret }
})

const signature = ({ headers }: Delivered) => headers["x-service-signature"]!

const accepts = ({ body }: Delivered, header: string, secret: string) =>
  Effect.map(Effect.promise(() => verify(body, header, secret)), ({ ok }) => ok)

/** Runs a command as somebody does who pastes it. */
const shell = (command: string) =>
  new Promise<void>((resolve, reject) => {
    spawn("sh", ["-c", command], { stdio: "ignore" }).on("error", reject).on(
      "close",
      (code) => code === 0 ? resolve() : reject(new Error(`ended with ${code}`))
    )
  })

/** The same on any server: a message that ends at `sent`. */
const sentOnce = "+15005550003"

describe.concurrent("a test", () => {
  it.live("a test posts one webhook.test event and returns the attempt", () =>
    Effect.gen(function*() {
      const { customer, server, signingSecret } = yield* road
      const answer = yield* act(server, "/test")
      assert.strictEqual(answer.status, 200, answer.text)
      const [received] = yield* customer.take(1)
      assert.strictEqual(received!.event.type, "webhook.test")
      assert.isTrue(yield* accepts(received!, signature(received!), signingSecret))
      const { durationMs, id, startedAt, timings } = answer.body
      assert.match(id, idShape("att"))
      assert.match(startedAt, timeShape)
      assert.isAtLeast(durationMs, 0)
      assert.deepStrictEqual(Object.keys(timings), ["lookupMs", "connectMs", "tlsMs", "firstByteMs", "bodyMs"])
      assert.deepStrictEqual(answer.body, {
        id,
        number: 1,
        trigger: "test",
        startedAt,
        durationMs,
        outcome: "delivered",
        statusCode: 200,
        message: "answered 200",
        timings,
        request: { ...answer.body.request, url: customer.url, address: "127.0.0.1" },
        response: answer.body.response
      })
      const { body } = yield* look(server, "/deliveries")
      assert.deepStrictEqual(
        body.data.map(({ eventId, eventType, status }: Record<string, string>) => [eventId, eventType, status]),
        [[received!.event.id, "webhook.test", "delivered"]]
      )
    }))

  it.live("a failed test reports the reason in one sentence, is not retried, and does not affect the webhook's health", () =>
    Effect.gen(function*() {
      const { customer, server } = yield* road
      yield* customer.answerWith(RecordingReceiver.reply(204))
      const { body, status } = yield* act(server, "/test")
      assert.deepStrictEqual(
        [status, body.outcome, body.statusCode, body.message],
        [200, "status", 204, "answered 204; only 200 counts"]
      )
      const [delivery] = (yield* look(server, "/deliveries")).body.data
      assert.deepStrictEqual([delivery.status, delivery.nextAttemptAt], ["exhausted", null])
      assert.isNull((yield* look(server)).body.lastFailure)
    }))

  it.live("a test requires a webhook", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      for (const path of ["/test", "/pause"]) assertError(yield* act(server, path), 404, { code: "not_found" })
      for (const path of ["/rotate-secret", "/resume"]) {
        assertError(yield* act(server, path, {}), 404, { code: "not_found" })
      }
      assertError(yield* act(server, "/verify", { header: "", body: "" }), 404, { code: "not_found" })
    }))
})

describe.concurrent("rotating the secret", () => {
  it.live("during the overlap, deliveries are signed with both secrets, newest first", () =>
    Effect.gen(function*() {
      const { customer, server, signingSecret } = yield* road
      const { body, status } = yield* act(server, "/rotate-secret", {})
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(Object.keys(body), ["signingSecret", "previousExpiresAt"])
      assert.match(body.signingSecret, /^whsec_[0-9A-Za-z]{40}$/)
      assert.notStrictEqual(body.signingSecret, signingSecret)
      const overlap = Date.parse(body.previousExpiresAt) - now()
      assert.isTrue(overlap > 86_300_000 && overlap <= 86_400_000, `${overlap}`)
      yield* act(server, "/test")
      const [received] = yield* customer.take(1)
      const [time, ...each] = signature(received!).split(",")
      assert.strictEqual(each.length, 2)
      assert.isTrue(yield* accepts(received!, `${time},${each[0]}`, body.signingSecret))
      assert.isTrue(yield* accepts(received!, `${time},${each[1]}`, signingSecret))
    }))

  it.live("a rotation without an overlap ends the old secret immediately", () =>
    Effect.gen(function*() {
      const { customer, server, signingSecret } = yield* road
      const { body } = yield* act(server, "/rotate-secret", { overlapSeconds: 0 })
      yield* act(server, "/test")
      const [received] = yield* customer.take(1)
      assert.isTrue(yield* accepts(received!, signature(received!), body.signingSecret))
      assert.isFalse(yield* accepts(received!, signature(received!), signingSecret))
    }))

  it.live("the overlap is in whole seconds up to a limit", () =>
    Effect.gen(function*() {
      const { server } = yield* road
      for (const overlapSeconds of [-1, 1.5, 2_592_001, "1"]) {
        assertInvalid(yield* act(server, "/rotate-secret", { overlapSeconds }), "invalid_field", "overlapSeconds")
      }
    }))
})

describe.concurrent("deliveries", () => {
  it.live("a delivery shows every attempt, the response and the next attempt", () =>
    Effect.gen(function*() {
      const { customer, server } = yield* road
      yield* customer.script([RecordingReceiver.reply(500, { body: "out of order" })])
      yield* send(server, hello(sentOnce))
      const [first] = yield* customer.take(2)
      const { body: page } = yield* until(
        look(server, "/deliveries"),
        ({ body }) => body.data[0].status === "delivered"
      )
      const [delivery] = page.data
      assert.deepStrictEqual([page.hasMore, page.nextCursor], [false, null])
      assert.deepStrictEqual(delivery, {
        id: delivery.id,
        eventId: first!.event.id,
        eventType: "message.sent",
        status: "delivered",
        customer: first!.event.data.to,
        attemptCount: 2,
        lastAttempt: { outcome: "delivered", statusCode: 200 },
        nextAttemptAt: null,
        createdAt: first!.event.created_at,
        completedAt: delivery.completedAt
      })
      const { body: detail } = yield* look(server, `/deliveries/${delivery.id}`)
      const { attempts, curl: _, ...rest } = detail
      assert.deepStrictEqual(rest, delivery)
      for (const { request } of attempts) {
        assert.strictEqual(request.body, new TextDecoder().decode(first!.body))
        assert.strictEqual(request.headers["webhook-id"], first!.event.id)
      }
      assert.deepStrictEqual(
        attempts.map(({ message, number, outcome, trigger }: Record<string, unknown>) => [
          number,
          trigger,
          outcome,
          message
        ]),
        [
          [1, "automatic", "status", "answered 500; only 200 counts"],
          [2, "automatic", "delivered", "answered 200"]
        ]
      )
      assert.strictEqual(attempts[0].response.body, "out of order")
    }))

  it.live("deliveries are listed by status and page", () =>
    Effect.gen(function*() {
      const { customer, server } = yield* road
      yield* send(server, hello())
      yield* customer.take(3)
      yield* until(look(server, "/deliveries?status=delivered"), ({ body }) => body.data.length === 3)
      assert.deepStrictEqual((yield* look(server, "/deliveries?status=pending")).body.data, [])
      const { body: first } = yield* look(server, "/deliveries?limit=2")
      const { body: second } = yield* look(server, `/deliveries?limit=2&cursor=${first.nextCursor}`)
      assert.deepStrictEqual(
        [...first.data, ...second.data].map(({ eventType }) => eventType),
        ["message.read", "message.delivered", "message.sent"]
      )
      assertInvalid(yield* look(server, "/deliveries?status=lost"), "invalid_field", "status")
      assertError(yield* look(server, `/deliveries/dlv_${nobody}`), 404, { code: "not_found" })
      assertError(yield* act(server, `/deliveries/dlv_${nobody}/retry`), 404, { code: "not_found" })
    }))

  it.live("a person can retry a delivery, with the same id and body", () =>
    Effect.gen(function*() {
      const { customer, server } = yield* road
      yield* send(server, hello(sentOnce))
      const [first] = yield* customer.take(1)
      const { body: { data: [delivery] } } = yield* until(
        look(server, "/deliveries"),
        ({ body }) => body.data[0].status === "delivered"
      )
      const retried = yield* act(server, `/deliveries/${delivery.id}/retry`)
      assert.deepStrictEqual([retried.status, retried.body.status], [200, "pending"])
      const [second] = yield* customer.take(1)
      assert.deepStrictEqual(second!.body, first!.body)
      const { body } = yield* until(
        look(server, `/deliveries/${delivery.id}`),
        ({ body }) => body.status === "delivered"
      )
      assert.deepStrictEqual(body.attempts.map(({ trigger }: { readonly trigger: string }) => trigger), [
        "automatic",
        "manual"
      ])
    }))

  it.live("a delivery shows a working curl command to developers but not to members", () =>
    Effect.gen(function*() {
      const { services, url } = yield* start({ adapters: { authenticator: hostAuthenticator } })
      const own = yield* Effect.provideContext(anotherWorkspace("own", "+15005550103"), services)
      const as = (role: string) => ({ url, session: { ...ownPage, [actorHeader]: `${role}@${own.id}` } })
      const customer = yield* receiver
      const { signingSecret } = yield* setWebhook(as("owner"), { url: customer.url })
      yield* send({ url, key: own.key }, hello(sentOnce))
      const [first] = yield* customer.take(1)
      const { body: { data: [{ id }] } } = yield* look(as("member"), "/deliveries")
      assert.isNull((yield* look(as("member"), `/deliveries/${id}`)).body.curl)
      const { body: { curl } } = yield* look(as("developer"), `/deliveries/${id}`)
      yield* Effect.promise(() => shell(curl))
      const [second] = yield* customer.take(1)
      assert.deepStrictEqual(second!.body, first!.body)
      assert.isTrue(yield* accepts(second!, signature(second!), signingSecret))

      // sealed under a master key that is lost
      const webhooks = Context.get(services, WebhookStore.WebhookStore)
      const webhook = Option.getOrThrow(yield* webhooks.find(own.id))
      const secret = { keyId: "00000000", nonce: new Uint8Array(12), ciphertext: new Uint8Array(62) }
      const at = now()
      yield* webhooks.rotateSecret({
        workspaceId: own.id,
        webhookId: webhook.id,
        secret,
        previousExpiresAt: at,
        now: at
      })
      const { body, status } = yield* look(as("developer"), `/deliveries/${id}`)
      assert.deepStrictEqual([status, body.id, body.curl], [200, id, null])
    }), Curl.needed)
})

describe.concurrent("pausing and resuming", () => {
  it.live("a paused webhook holds and counts events, and delivers them once a person resumes it", () =>
    Effect.gen(function*() {
      const { customer, server } = yield* road
      const paused = yield* act(server, "/pause")
      assert.deepStrictEqual([paused.status, paused.body.status], [200, "paused"])
      assert.match(paused.body.pausedAt, timeShape)
      // what waits is not counted here: that would take as long as there is much of it
      assert.deepStrictEqual(
        (yield* look(server)).body,
        { ...paused.body, heldCount: 0, oldestHeldAt: null, pausesAt: null }
      )
      yield* send(server, hello(sentOnce))
      const { body } = yield* until(look(server), (answer) => answer.body.heldCount === 1)
      assert.match(body.oldestHeldAt, timeShape)
      const { body: { data: [delivery] } } = yield* look(server, "/deliveries")
      assert.deepStrictEqual([delivery.status, delivery.nextAttemptAt], ["held", null])
      const again = yield* act(server, "/pause")
      assert.strictEqual(again.body.pausedAt, paused.body.pausedAt)

      const resumed = yield* act(server, "/resume", { replay: "all" })
      const { probe, ...active } = resumed.body
      assert.deepStrictEqual([resumed.status, probe.outcome], [200, "delivered"])
      assert.deepStrictEqual(active, { ...paused.body, status: "active", pausedAt: null })
      const types = (yield* customer.take(2)).map(({ event }) => event.type)
      assert.deepStrictEqual(types, ["webhook.test", "message.sent"])
    }))

  it.live("if the probe fails, the webhook stays paused with the reason; force skips the probe", () =>
    Effect.gen(function*() {
      const { customer, server } = yield* road
      yield* customer.answerWith(RecordingReceiver.reply(503))
      yield* act(server, "/pause")
      const refused = yield* act(server, "/resume", {})
      assert.deepStrictEqual(
        [refused.status, refused.body.status, refused.body.probe.trigger, refused.body.probe.message],
        [200, "paused", "probe", "answered 503; only 200 counts"]
      )
      const forced = yield* act(server, "/resume", { force: true })
      assert.deepStrictEqual([forced.body.status, forced.body.probe], ["active", null])
    }))

  it.live("a resume skips events that are not to be replayed, and delivers later ones", () =>
    Effect.gen(function*() {
      const { customer, server } = yield* road
      const held = (count: number) => until(look(server), (answer) => answer.body.heldCount === count)
      yield* act(server, "/pause")
      yield* send(server, hello(sentOnce))
      yield* held(1)
      yield* act(server, "/resume", { replay: "none", force: true })
      const { body: { data: [skipped] } } = yield* look(server, "/deliveries")
      assert.strictEqual(skipped.status, "skipped")
      yield* act(server, "/pause")
      yield* send(server, hello(sentOnce))
      yield* held(1)
      yield* send(server, hello(sentOnce))
      yield* held(2)
      const { body: { data: [newest, older] } } = yield* look(server, "/deliveries")
      assert.isBelow(Date.parse(older.createdAt), Date.parse(newest.createdAt))
      const since = newest.createdAt
      yield* act(server, "/resume", { replay: { since }, force: true })
      const [only] = yield* customer.take(1)
      assert.strictEqual(only!.event.id, newest.eventId)
      const { body } = yield* until(
        look(server, "/deliveries"),
        (answer) => answer.body.data[0].status === "delivered"
      )
      assert.deepStrictEqual(
        body.data.map(({ status }: { readonly status: string }) => status),
        ["delivered", "skipped", "skipped"]
      )
      assert.strictEqual((yield* customer.requests).length, 1)
    }))

  it.live("a resume accepts only the three forms of replay", () =>
    Effect.gen(function*() {
      const { server } = yield* road
      const wrong = [
        ["some", "invalid_field", "replay"],
        [1, "invalid_field", "replay"],
        [null, "invalid_field", "replay"],
        [{ since: "yesterday" }, "invalid_field", "replay.since"],
        [{}, "missing_field", "replay.since"],
        [{ until: timeShape.source }, "unknown_field", "replay.until"]
      ] as const
      for (const [replay, reason, param] of wrong) {
        assertInvalid(yield* act(server, "/resume", { replay }), reason, param)
      }
    }))
})

describe.concurrent("replays", () => {
  it.live("a replay delivers a range again with the same ids and bodies, and reports its progress", () =>
    Effect.gen(function*() {
      const { customer, server } = yield* road
      yield* send(server, hello())
      const before = yield* customer.take(3)
      yield* until(look(server, "/deliveries?status=delivered"), ({ body }) => body.data.length === 3)
      const created = yield* act(server, "/replays", { since: before[1]!.event.created_at })
      assert.strictEqual(created.status, 201, created.text)
      const { createdAt, id, until: end } = created.body
      assert.match(id, idShape("job"))
      assert.deepStrictEqual(created.body, {
        id,
        state: "running",
        since: before[1]!.event.created_at,
        until: end,
        status: null,
        total: 2,
        replayed: 0,
        createdAt,
        completedAt: null
      })
      const again = yield* customer.take(2)
      assert.sameDeepMembers(again.map(({ event }) => event), before.slice(1).map(({ event }) => event))
      const { body } = yield* until(look(server, `/replays/${id}`), ({ body }) => body.state === "completed")
      assert.deepStrictEqual([body.total, body.replayed], [2, 2])
      assert.deepStrictEqual((yield* look(server, "/replays")).body, { data: [body], hasMore: false, nextCursor: null })
      assert.strictEqual((yield* act(server, `/replays/${id}`, undefined, "DELETE")).status, 204)
      assert.strictEqual((yield* look(server, `/replays/${id}`)).body.state, "completed")
      const { body: { data: [delivery] } } = yield* until(
        look(server, "/deliveries?status=delivered"),
        ({ body }) => body.data.length === 3
      )
      const { body: { attempts } } = yield* look(server, `/deliveries/${delivery.id}`)
      assert.deepStrictEqual(attempts.map(({ trigger }: { readonly trigger: string }) => trigger), [
        "automatic",
        "replay"
      ])
    }))

  it.live("a replay requires a valid range and an existing webhook", () =>
    Effect.gen(function*() {
      const { server } = yield* road
      assertInvalid(yield* act(server, "/replays", {}), "missing_field", "since")
      assertInvalid(yield* act(server, "/replays", { since: timeIn(0), status: "pending" }), "invalid_field", "status")
      assertInvalid(
        yield* act(server, "/replays", { since: timeIn(0), until: timeIn(-1000) }),
        "invalid_field",
        "until"
      )
      for (const method of ["GET", "DELETE"]) {
        assertError(yield* act(server, `/replays/job_${nobody}`, undefined, method), 404, { code: "not_found" })
      }
      yield* act(server, "", undefined, "DELETE")
      assertError(yield* act(server, "/replays", { since: timeIn(-1000) }), 404, { code: "not_found" })
    }))
})

describe.concurrent("the signature's self-test", () => {
  it.live("the self-test reports which part of a signature is wrong, and why", () =>
    Effect.gen(function*() {
      const { customer, server, signingSecret } = yield* road
      yield* act(server, "/test")
      const [received] = yield* customer.take(1)
      const body = new TextDecoder().decode(received!.body)
      const judged = (header: string, text = body) => act(server, "/verify", { header, body: text })
      const right = yield* judged(signature(received!))
      assert.deepStrictEqual([right.status, right.body.ok, right.body.scheme], [200, true, "service"])
      const wrong = yield* judged(signature(received!), body.replace("webhook.test", "webhook.best"))
      assert.strictEqual(wrong.body.ok, false)
      assert.deepStrictEqual(
        wrong.body.checks.map(({ ok, part }: Record<string, unknown>) => [part, ok]),
        [["header", true], ["timestamp", true], ["signature", false]]
      )
      const old = yield* Effect.promise(() => sign(body, signingSecret, Math.floor(now() / 1000) - 3600))
      const stale = (yield* judged(old)).body.checks.find(({ part }: { readonly part: string }) => part === "timestamp")
      assert.strictEqual(stale.reason, "timestamp_too_old")
      for (const { text } of [right, wrong]) assert.notInclude(text, signingSecret.slice("whsec_".length))
    }))
})
