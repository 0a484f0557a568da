/**
 * Rotations of a webhook's secret, as seen by receivers that verify with common libraries.
 */
import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import type { StubTransport } from "@wac/testkit"
import { verify } from "@wac/verifier"
import { Duration, Effect, Redacted } from "effect"
import { Webhook as StandardWebhook } from "standardwebhooks"
import Stripe from "stripe"
import { Webhook as SvixWebhook } from "svix"
import type { WorkspaceId } from "../../src/Id.ts"
import * as Webhook from "../../src/webhooks/Webhook.ts"
import { Webhooks } from "../../src/webhooks/Webhooks.ts"
import { day, hour, minute, second } from "../checks.ts"
import { advance } from "../clock.ts"
import { start } from "../samples.ts"
import { answered, answerWith, ok, posted, receiver, scheduling, startScheduler } from "../scheduling.ts"

type Posted = StubTransport.PostedRequest

const { webhooks: stripe } = new Stripe("sk_test_unused")

/** What each library returns for a delivery when it arrives: the event, or an exception. */
const libraries: { readonly [name: string]: (sent: Posted, secret: string) => Promise<unknown> } = {
  stripe: async ({ body, headers }, secret) => stripe.constructEvent(body, headers["x-service-signature"]!, secret),
  "stripe, asynchronously": ({ body, headers }, secret) =>
    stripe.constructEventAsync(body, headers["x-service-signature"]!, secret),
  standardwebhooks: async ({ body, headers }, secret) => new StandardWebhook(secret).verify(body, headers),
  svix: async ({ body, headers }, secret) => new SvixWebhook(secret).verify(body, headers),
  "@wac/verifier": async ({ at, body, headers }, secret) => {
    const now = Math.floor((start + at) / 1000)
    const result = await verify(body, headers["x-service-signature"], secret, { now })
    if (!result.ok) throw new Error(result.reason)
    return JSON.parse(body)
  }
}

afterEach(() => {
  vi.useRealTimers()
})

/** The secrets with which a delivery verifies. The libraries must agree. */
const verifiesWith = (sent: Posted, secrets: { readonly [name: string]: string }) =>
  Effect.promise(async () => {
    // they read the machine's clock
    vi.useFakeTimers({ toFake: ["Date"], now: start + sent.at })
    const taken: Array<string> = []
    for (const [name, secret] of Object.entries(secrets)) {
      const answers = await Promise.all(
        Object.entries(libraries).map(async ([library, take]) => {
          const event = await take(sent, secret).catch((error: Error) => {
            assert.match(error.message, /signature/i)
            return null
          })
          return [library, event === null ? null : (event as { readonly id: string }).id] as const
        })
      )
      const [[, first]] = answers as [typeof answers[0] & object]
      assert.deepStrictEqual(answers, answers.map(([library]) => [library, first] as const), name)
      if (first !== null) taken.push(name)
    }
    vi.useRealTimers()
    return taken
  })

/** A delivery as a server passes it on, with header names in lower case. */
const received = <P extends Posted>(request: P): P => ({
  ...request,
  headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]))
})

const rotate = (workspaceId: WorkspaceId, overlap: Duration.Input) =>
  Effect.map(
    Webhooks.use((webhooks) => webhooks.rotateSecret({ workspaceId, overlap: Duration.fromInputUnsafe(overlap) })),
    (rotated) => ({ ...rotated, secret: Redacted.value(rotated.signingSecret) })
  )

/** A receiver, and the delivery of its next event. */
const following = Effect.gen(function*() {
  const { happens, secret, workspace } = yield* receiver()
  yield* startScheduler
  const next = Effect.gen(function*() {
    const eventId = yield* happens
    yield* advance("10 millis")
    return received((yield* posted).findLast((request) => request.eventId === eventId)!)
  })
  return { next, secret, happens, workspaceId: workspace.id }
})

describe("rotating the secret", () => {
  it.effect(
    "with an overlap, deliveries verify with the old and the new secret, and then with the new one only",
    scheduling(() =>
      Effect.gen(function*() {
        const { next, secret: old, workspaceId } = yield* following
        const before = yield* next
        yield* advance("1 minute")
        const rotated = yield* rotate(workspaceId, "1 hour")
        assert.strictEqual(rotated.previousExpiresAt, start + 10 + minute + hour)
        assert.match(rotated.secret, /^whsec_[0-9A-Za-z]{40}$/)
        const secrets = { old, new: rotated.secret, other: `${old.slice(0, -2)}xy` }
        assert.deepStrictEqual(yield* verifiesWith(before, secrets), ["old"])

        assert.deepStrictEqual(yield* verifiesWith(yield* next, secrets), ["old", "new"])
        yield* advance(hour - 11)
        const last = yield* next
        assert.strictEqual(last.at, 10 + minute + hour - 1)
        assert.deepStrictEqual(yield* verifiesWith(last, secrets), ["old", "new"])
        const after = yield* next
        assert.isAtLeast(after.at, 10 + minute + hour)
        assert.deepStrictEqual(yield* verifiesWith(after, secrets), ["new"])
      })
    )
  )

  it.effect(
    "without an overlap, the old secret ends immediately",
    scheduling(() =>
      Effect.gen(function*() {
        const { next, secret: old, workspaceId } = yield* following
        yield* next
        const rotated = yield* rotate(workspaceId, 0)
        assert.strictEqual(rotated.previousExpiresAt, start + 10)
        assert.deepStrictEqual(yield* verifiesWith(yield* next, { old, new: rotated.secret }), ["new"])
      })
    )
  )

  it.effect(
    "a rotation within the overlap of another keeps all three secrets, each for its own time",
    scheduling(() =>
      Effect.gen(function*() {
        const { next, secret: first, workspaceId } = yield* following
        const { secret: second } = yield* rotate(workspaceId, "1 hour")
        const { secret: third } = yield* rotate(workspaceId, "2 hours")
        const secrets = { first, second, third }
        assert.deepStrictEqual(yield* verifiesWith(yield* next, secrets), ["first", "second", "third"])
        yield* advance(hour)
        assert.deepStrictEqual(yield* verifiesWith(yield* next, secrets), ["second", "third"])
        yield* advance(hour)
        assert.deepStrictEqual(yield* verifiesWith(yield* next, secrets), ["third"])
      })
    )
  )

  it.effect(
    "a rotation applies to retries too, whose bodies stay the same",
    scheduling(() =>
      Effect.gen(function*() {
        const { next, secret: old, workspaceId } = yield* following
        yield* answerWith(() => Effect.succeed(answered(500)))
        const failed = yield* next
        const { secret } = yield* rotate(workspaceId, 0)
        yield* answerWith(ok)
        yield* advance(2 * second)
        const [, retried] = (yield* posted).filter(({ eventId }) => eventId === failed.eventId).map(received)
        assert.strictEqual(retried!.body, failed.body)
        assert.deepStrictEqual(yield* verifiesWith(failed, { old, new: secret }), ["old"])
        assert.deepStrictEqual(yield* verifiesWith(retried!, { old, new: secret }), ["new"])
      })
    )
  )

  it.effect(
    "a rotation without a webhook is refused",
    scheduling(() =>
      Effect.gen(function*() {
        const { workspace } = yield* receiver()
        yield* Webhooks.use((webhooks) => webhooks.remove(workspace.id))
        const error = yield* Effect.flip(rotate(workspace.id, 0))
        assert.strictEqual(error._tag, "NotFound")
      })
    )
  )
})

describe("rotateSecrets", () => {
  const sealed = (mark: number) => ({
    keyId: "one",
    nonce: new Uint8Array([mark]),
    ciphertext: new Uint8Array([mark])
  })

  it("the newest eight secrets are kept, and none that has expired", () => {
    let secrets: ReadonlyArray<Webhook.WebhookSecret> = [{ sealed: sealed(0), expiresAt: null }]
    for (let i = 1; i <= 20; i++) {
      secrets = Webhook.rotateSecrets(secrets, { secret: sealed(i), previousExpiresAt: start + day, now: start + i })
      assert.deepStrictEqual(
        secrets,
        Array.from({ length: Math.min(i + 1, Webhook.maxSecrets) }, (_, age) => ({
          sealed: sealed(i - age),
          expiresAt: age === 0 ? null : start + day
        }))
      )
    }
    assert.deepStrictEqual(
      Webhook.rotateSecrets(secrets, { secret: sealed(30), previousExpiresAt: start + 2 * day, now: start + day }),
      [{ sealed: sealed(30), expiresAt: null }, { sealed: sealed(20), expiresAt: start + 2 * day }]
    )
  })
})
