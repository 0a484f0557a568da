import { assert, describe, it } from "@effect/vitest"
import { StubTransport } from "@wac/testkit"
import { Effect, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { InvalidBody } from "../../src/Errors.ts"
import { EventType } from "../../src/events/Event.ts"
import { Inbound } from "../../src/inbound/Inbound.ts"
import { Vault } from "../../src/secrets/Vault.ts"
import { DeliveryStore } from "../../src/webhooks/DeliveryStore.ts"
import { ReceiverGuard } from "../../src/webhooks/ReceiverGuard.ts"
import { type PutWebhook, report, Webhooks } from "../../src/webhooks/Webhooks.ts"
import { WebhookStore } from "../../src/webhooks/WebhookStore.ts"
import { day, hour, second } from "../checks.ts"
import { health, start, webhook } from "../samples.ts"
import { foundation, world } from "../world.ts"

const forbidden = new InvalidBody({ reason: "invalid_field", param: "url", message: "the address is not public" })

const guard = Layer.succeed(
  ReceiverGuard,
  ReceiverGuard.of({
    allowInsecure: false,
    check: (url) => url.hostname === "private.example" ? Effect.fail(forbidden) : Effect.void
  })
)

const layer = Layer.merge(Webhooks.layer, Inbound.layer).pipe(
  Layer.provideMerge(Layer.merge(guard, StubTransport.layer())),
  Layer.provideMerge(foundation)
)

const configuring = <E>(test: Effect.Effect<void, E, Layer.Success<typeof layer>>) => () =>
  Effect.andThen(TestClock.setTime(start), test.pipe(Effect.provide(layer)))

const put = (workspaceId: PutWebhook["workspaceId"], fields: Partial<PutWebhook> = {}) =>
  Webhooks.use((webhooks) =>
    webhooks.put({
      workspaceId,
      url: "https://receiver.example/hooks",
      envelope: undefined,
      eventTypes: undefined,
      ...fields
    })
  )
const get = (workspaceId: PutWebhook["workspaceId"]) => Webhooks.use((webhooks) => webhooks.get(workspaceId))

describe("setting the webhook", () => {
  it.effect(
    "setting a webhook uses the defaults, and returns its secret once",
    configuring(Effect.gen(function*() {
      const { workspace } = yield* world()
      const set = yield* put(workspace.id)
      const secret = Redacted.value(set.signingSecret!)
      assert.match(secret, /^whsec_[0-9A-Za-z]{40}$/)
      const [{ sealed }] = set.webhook.secrets as [typeof set.webhook.secrets[0] & object]
      assert.strictEqual(yield* Vault.use((vault) => vault.open(sealed, set.webhook.id)), secret)
      assert.deepStrictEqual(set.webhook, {
        ...webhook(),
        id: set.webhook.id,
        workspaceId: workspace.id,
        url: "https://receiver.example/hooks",
        eventTypes: EventType.literals,
        secrets: [{ sealed, expiresAt: null }]
      })
      assert.deepStrictEqual(yield* get(workspace.id), {
        webhook: set.webhook,
        heldCount: 0,
        oldestHeldAt: null,
        oldestTriedAt: null,
        failingSince: null,
        pausesAt: null
      })
    }))
  )

  it.effect(
    "setting it again changes URL, variant and types, and keeps id, secret and state",
    configuring(Effect.gen(function*() {
      const { workspace } = yield* world()
      const first = yield* put(workspace.id, { envelope: "b", eventTypes: ["message.failed"] })
      yield* TestClock.adjust(hour)
      const second = yield* put(workspace.id, {
        url: "https://other.example/",
        envelope: "a",
        eventTypes: ["message.sent"]
      })
      assert.isNull(second.signingSecret)
      assert.deepStrictEqual(second.webhook, {
        ...first.webhook,
        url: "https://other.example/",
        envelope: "a",
        eventTypes: ["message.sent"],
        updatedAt: start + hour
      })
      // it is set as a whole, so omitted fields get their defaults
      const third = yield* put(workspace.id)
      assert.deepStrictEqual([third.webhook.envelope, third.webhook.eventTypes], ["combined", EventType.literals])
    }))
  )

  it.effect(
    "twenty concurrent requests create one webhook, and one of them gets its secret",
    configuring(Effect.gen(function*() {
      const { workspace } = yield* world()
      const all = yield* Effect.all(Array.from({ length: 20 }, () => put(workspace.id)), { concurrency: "unbounded" })
      assert.strictEqual(new Set(all.map(({ webhook }) => webhook.id)).size, 1)
      const secrets = all.flatMap(({ signingSecret }) => signingSecret === null ? [] : [Redacted.value(signingSecret)])
      assert.strictEqual(secrets.length, 1)
      // and it is the one that signs
      const { webhook } = yield* get(workspace.id)
      assert.strictEqual(
        yield* Vault.use((vault) => vault.open(webhook.secrets[0]!.sealed, webhook.id)),
        secrets[0]
      )
    }))
  )

  it.effect(
    "a URL is checked by its form, then by its address, and a refusal changes nothing",
    configuring(Effect.gen(function*() {
      const { workspace } = yield* world()
      for (
        const url of [
          "http://receiver.example/",
          "nonsense",
          "https://u:p@receiver.example/",
          "https://private.example/"
        ]
      ) {
        const error = yield* Effect.flip(put(workspace.id, { url }))
        assert.strictEqual(error._tag === "InvalidBody" && error.param, "url")
      }
      assert.strictEqual((yield* Effect.flip(get(workspace.id)))._tag, "NotFound")
      yield* put(workspace.id)
      yield* Effect.flip(put(workspace.id, { url: "https://private.example/" }))
      assert.strictEqual((yield* get(workspace.id)).webhook.url, "https://receiver.example/hooks")
    }))
  )

  it.effect(
    "each workspace has its own webhook",
    configuring(Effect.gen(function*() {
      const [one, other] = [yield* world(), yield* world()]
      yield* put(one.workspace.id)
      assert.strictEqual((yield* Effect.flip(get(other.workspace.id)))._tag, "NotFound")
      yield* put(other.workspace.id, { url: "https://other.example/" })
      assert.strictEqual((yield* get(one.workspace.id)).webhook.url, "https://receiver.example/hooks")
    }))
  )
})

describe("removing it", () => {
  it.effect(
    "removing skips waiting deliveries, and the webhook is not found afterwards",
    configuring(Effect.gen(function*() {
      const { number, workspace } = yield* world()
      yield* put(workspace.id)
      yield* Inbound.use((inbound) =>
        inbound.receive([{
          _tag: "Message",
          message: {
            providerNumberId: number.providerNumberId,
            providerMessageId: "wamid.in.1",
            customer: { phone: "+12025550123", userId: null },
            at: start,
            type: "text",
            content: { body: "Hello" },
            context: null,
            preference: undefined
          }
        }])
      )
      yield* TestClock.adjust(second)
      yield* Webhooks.use((webhooks) => webhooks.remove(workspace.id))
      const { items: [waited] } = yield* DeliveryStore.use((store) =>
        store.list(workspace.id, {}, { limit: 10, after: null })
      )
      assert.deepStrictEqual([waited?.status, waited?.delivery.completedAt], ["skipped", start + second])
      assert.strictEqual((yield* Effect.flip(get(workspace.id)))._tag, "NotFound")
      assert.strictEqual(
        (yield* Effect.flip(Webhooks.use((webhooks) => webhooks.remove(workspace.id))))._tag,
        "NotFound"
      )
      // a new one has its own id and secret
      assert.isNotNull((yield* put(workspace.id)).signingSecret)
      assert.isTrue(Option.isSome(yield* WebhookStore.use((store) => store.get(workspace.id))))
    }))
  )
})

describe("the description of a state", () => {
  const failing = health({ consecutiveFailures: 5, failuresSince: start, lastAttemptAt: start + 9 })

  it.each([
    ["healthy", webhook(), null, null, null],
    ["four failures", webhook({ health: { ...failing, consecutiveFailures: 4 } }), start, null, null],
    ["failing", webhook({ health: failing }), start - hour, start, start - hour + day],
    ["failing, nothing being tried", webhook({ health: failing }), null, start, null],
    ["paused", webhook({ health: failing, pausedAt: start + day }), start, start, null],
    ["paused by a person while healthy", webhook({ pausedAt: start }), null, null, null]
  ])("%s", (_, webhook, oldestTriedAt, failingSince, pausesAt) => {
    const state = { webhook, heldCount: 0, oldestHeldAt: null, oldestTriedAt }
    assert.deepStrictEqual(report(state), { ...state, failingSince, pausesAt })
  })
})
