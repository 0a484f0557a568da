import { assert, describe, it } from "@effect/vitest"
import * as Curl from "@wac/testbed/Curl"
import { RecordingReceiver, StubTransport } from "@wac/testkit"
import { SIGNATURE_HEADER, verify } from "@wac/verifier"
import { DateTime, Duration, Effect, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { Webhook as StandardWebhook } from "standardwebhooks"
import { NotFound } from "../../src/Errors.ts"
import { DeliveryStore } from "../../src/webhooks/DeliveryStore.ts"
import { ReceiverGuard } from "../../src/webhooks/ReceiverGuard.ts"
import { Webhooks } from "../../src/webhooks/Webhooks.ts"
import { WebhookStore } from "../../src/webhooks/WebhookStore.ts"
import { start } from "../samples.ts"
import { foundation, newId, type World, world } from "../world.ts"

const guard = Layer.succeed(ReceiverGuard, ReceiverGuard.of({ allowInsecure: true, check: () => Effect.void }))

const layer = Webhooks.layer.pipe(
  Layer.provideMerge(Layer.merge(guard, StubTransport.layer())),
  Layer.provideMerge(foundation)
)

const signing = <E>(test: Effect.Effect<void, E, Layer.Success<typeof layer>>) => () =>
  Effect.andThen(TestClock.setTime(start), test.pipe(Effect.provide(layer)))

const put = ({ workspace }: World, url: string) =>
  Effect.map(
    Webhooks.use((webhooks) =>
      webhooks.put({ workspaceId: workspace.id, url, envelope: undefined, eventTypes: undefined })
    ),
    ({ signingSecret }) => Redacted.value(signingSecret!)
  )

/** Makes a test delivery. Returns its identifier and the request. */
const delivered = ({ workspace }: World) =>
  Effect.gen(function*() {
    yield* Webhooks.use((webhooks) => webhooks.test(workspace.id))
    const requests = yield* StubTransport.StubTransport.use((stub) => stub.requests)
    const { items } = yield* DeliveryStore.use((store) => store.list(workspace.id, {}, { limit: 1, after: null }))
    return { deliveryId: items[0]!.delivery.id, request: requests.at(-1)! }
  })

const rotate = ({ workspace }: World, overlap: Duration.Input) =>
  Effect.map(
    Webhooks.use((webhooks) =>
      webhooks.rotateSecret({ workspaceId: workspace.id, overlap: Duration.fromInputUnsafe(overlap) })
    ),
    ({ signingSecret }) => Redacted.value(signingSecret)
  )

describe("the curl command of a delivery", () => {
  it.effect(
    "the curl command, run by a shell, sends the same event, signed now with every live secret",
    signing(
      Effect.gen(function*() {
        const own = yield* world()
        const receiver = yield* RecordingReceiver.make
        const old = yield* put(own, `${receiver.url}it's?token=$(id)&x=[1]`)
        const { deliveryId, request } = yield* delivered(own)
        const secret = yield* rotate(own, "1 hour")
        yield* TestClock.adjust("30 minutes")
        const command = yield* Webhooks.use((webhooks) => webhooks.curl({ workspaceId: own.workspace.id, deliveryId }))
        const { stdout } = yield* Effect.promise(() => promisify(execFile)("/bin/sh", ["-c", command], { env: {} }))
        assert.match(stdout, /^HTTP\/1\.1 200 OK/)
        const { body, headers, method, target } = yield* receiver.next
        assert.deepStrictEqual([method, target], ["POST", "/it's?token=$(id)&x=[1]"])
        assert.strictEqual(new TextDecoder().decode(body), request.body)
        const header = headers[SIGNATURE_HEADER.toLowerCase()]!
        const seconds = Math.floor(start / 1000) + 1800
        for (const each of [secret, old]) {
          const verified = yield* Effect.promise(() => verify(body, header, each, { now: seconds, tolerance: 0 }))
          assert.deepStrictEqual(verified, { ok: true, timestamp: seconds })
        }
        const standard = new StandardWebhook(secret).sign(
          headers["webhook-id"]!,
          DateTime.toDateUtc(DateTime.makeUnsafe(seconds * 1000)),
          request.body
        )
        assert.include(headers["webhook-signature"]!.split(" "), standard)
        // the old secret has expired
        yield* TestClock.adjust("30 minutes")
        const later = yield* Webhooks.use((webhooks) => webhooks.curl({ workspaceId: own.workspace.id, deliveryId }))
        assert.lengthOf(later.match(/v1=/g)!, 1)
      }).pipe(Effect.scoped)
    ),
    Curl.needed
  )

  it.effect(
    "no curl command is given for other workspaces' deliveries, nor without the webhook",
    signing(Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world()
      yield* put(own, "https://receiver.example/")
      yield* put(other, "https://other.example/")
      const { deliveryId } = yield* delivered(own)
      const curl = (of: World, id = deliveryId) =>
        Effect.flip(Webhooks.use((webhooks) => webhooks.curl({ workspaceId: of.workspace.id, deliveryId: id })))
      assert.instanceOf(yield* curl(other), NotFound)
      assert.instanceOf(yield* curl(own, yield* newId("dlv")), NotFound)
      yield* Webhooks.use((webhooks) => webhooks.remove(own.workspace.id))
      assert.instanceOf(yield* curl(own), NotFound)
      yield* put(own, "https://receiver.example/")
      assert.instanceOf(yield* curl(own), NotFound)
    }))
  )
})

/** Gives the webhook a secret under an unknown master key. The previous one expires in an hour. */
const loseSecret = ({ workspace }: World) =>
  WebhookStore.use((store) =>
    Effect.gen(function*() {
      const webhook = Option.getOrThrow(yield* store.find(workspace.id))
      yield* store.rotateSecret({
        workspaceId: workspace.id,
        webhookId: webhook.id,
        secret: { keyId: "00000000", nonce: new Uint8Array(12), ciphertext: new Uint8Array(62) },
        previousExpiresAt: start + Duration.toMillis("1 hour"),
        now: start
      })
    })
  )

describe("a secret that cannot be decrypted", () => {
  it.effect(
    "a secret that cannot be opened is a server error, and has no effect once it has expired",
    signing(Effect.gen(function*() {
      const own = yield* world()
      yield* put(own, "https://receiver.example/")
      const { deliveryId, request } = yield* delivered(own)
      const workspaceId = own.workspace.id
      const header = request.headers[SIGNATURE_HEADER]!
      const curl = Webhooks.use((webhooks) => webhooks.curl({ workspaceId, deliveryId }))
      const verified = Webhooks.use((webhooks) => webhooks.verify({ workspaceId, header, body: request.body }))
      yield* loseSecret(own)
      for (const refused of [curl, verified, Webhooks.use((webhooks) => webhooks.test(workspaceId))]) {
        const error = yield* Effect.flip<unknown, { readonly _tag: string; readonly message: string }, Webhooks>(
          refused
        )
        assert.deepStrictEqual([error._tag, error.message], [
          "ServerError",
          "the webhook's secret cannot be opened at the moment"
        ])
      }
      yield* rotate(own, "1 second")
      yield* TestClock.adjust("1 second")
      assert.match(yield* curl, /^curl /)
      // it could be the one that was used
      assert.strictEqual((yield* Effect.flip(verified))._tag, "ServerError")
    }))
  )
})

describe("the signature self-test", () => {
  it.effect(
    "the self-test accepts what we post, and recognizes a secret that a rotation ended",
    signing(Effect.gen(function*() {
      const own = yield* world()
      yield* put(own, "https://receiver.example/")
      const { request: { body, headers } } = yield* delivered(own)
      const judge = (header: string) =>
        Webhooks.use((webhooks) => webhooks.verify({ workspaceId: own.workspace.id, header, body }))
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
      const standard = lines.filter((line) => line.startsWith("webhook-"))
      assert.isTrue((yield* judge(headers[SIGNATURE_HEADER]!)).ok)
      assert.deepStrictEqual((yield* judge(lines.join("\n"))).scheme, "service")
      assert.isTrue((yield* judge(standard.join("\n"))).ok)
      yield* rotate(own, "1 minute")
      assert.isTrue((yield* judge(lines.join("\n"))).ok)
      yield* TestClock.adjust("1 minute")
      const { checks, ok } = yield* judge(lines.join("\n"))
      assert.isFalse(ok)
      assert.deepStrictEqual(checks.map(({ reason }) => reason), [null, null, "secret_expired"])
    }))
  )

  it.effect(
    "the self-test does not use another workspace's secret",
    signing(Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world()
      yield* put(own, "https://receiver.example/")
      const { request: { body, headers } } = yield* delivered(own)
      const header = headers[SIGNATURE_HEADER]!
      const judge = Webhooks.use((webhooks) => webhooks.verify({ workspaceId: other.workspace.id, header, body }))
      assert.instanceOf(yield* Effect.flip(judge), NotFound)
      yield* put(other, "https://other.example/")
      assert.deepStrictEqual((yield* judge).checks.map(({ reason }) => reason), [null, null, "signature_mismatch"])
    }))
  )
})
