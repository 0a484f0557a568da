/**
 * The fixtures of the suites: workspaces of their own, and commands with fresh identifiers. An adapter's own tests may
 * use it too.
 *
 * **Time.** No test reads a clock. Each workspace has its own `start`, a month *before* the previously created one.
 * Sweeps and claims act on the whole storage, so what other tests have left must not be due yet; it is not, because it
 * lies in this test's future. A test stays within 26 days of its start.
 */
import { assert, type Vitest } from "@effect/vitest"
import {
  type ApiKey,
  ApiKeyStore,
  Event,
  Id,
  type Idempotency,
  KeyBinding,
  Limits,
  MessageStore,
  PhoneNumber,
  type Ports,
  type Sealed,
  StorageTime,
  type StoreError,
  type Template,
  TemplateStore,
  type Time,
  type Webhook,
  WebhookHealth,
  WebhookStore,
  type Workspace,
  WorkspaceStore
} from "@wac/core"
import { type Clock, Context, DateTime, Effect, Layer, Option, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"

/** Provides the starts of workspaces, each a month before the previous one. */
export class Starts extends Context.Service<Starts, {
  readonly next: Effect.Effect<Time.Instant>
}>()("@wac/testkit/Fixture/Starts") {}

/** The resources of a test: the storage under test, randomness for identifiers, and times of its own. */
export type Services = Ports.Ports | SecureRandom.SecureRandom | Starts

/** An operation of a fixture on the storage. */
export type Step<A> = Effect.Effect<A, StoreError.StoreError, Services>

/** A {@link Step} within a test, which cleans up when the test ends. */
export type Play<A> = Effect.Effect<A, StoreError.StoreError, Services | Scope.Scope>

/** The `it` with which a suite registers its tests. */
export type It = Vitest.MethodsNonLive<Services>

/** {@link It} with a service that was built on the storage before the tests began. */
export type FoundedIt<Founded> = Vitest.MethodsNonLive<Services | Founded>

/** In milliseconds. */
export const second = 1000
/** In milliseconds. */
export const minute = 60 * second
/** In milliseconds. */
export const hour = 60 * minute
/** In milliseconds. */
export const day = 24 * hour

/** Noon on the fifth of a month, so that a test can reach the month's end. */
const newest = DateTime.makeUnsafe("2066-01-05T12:00:00.000Z")

/**
 * The services that the fixtures need besides the storage. Build one for each storage, because starts are unique within
 * it.
 */
export const layer: Layer.Layer<SecureRandom.SecureRandom | Starts> = Layer.effect(
  Starts,
  Effect.sync(() => {
    let months = 0
    return Starts.of({
      next: Effect.sync(() => {
        const start = DateTime.toEpochMillis(DateTime.subtract(newest, { months: months++ }))
        // a missing bucket counts as full since 1970
        return start > 0 ? start : assert.fail("too many workspaces: no month is left for another")
      })
    })
  })
).pipe(Layer.merge(SecureRandom.layerWebCrypto), Layer.fresh)

/** Makes storages use the time of each command, so that tests control it. */
export const timeOfAsker: Layer.Layer<never> = Layer.succeed(StorageTime.JudgedBy, "asker")

/** A clock that shows the time a test sets, and waits in real time. */
export const clockAt = (real: Clock.Clock, now: () => Time.Instant): Clock.Clock => ({
  currentTimeMillisUnsafe: now,
  currentTimeMillis: Effect.sync(now),
  currentTimeNanosUnsafe: () => BigInt(now()) * 1_000_000n,
  currentTimeNanos: Effect.sync(() => BigInt(now()) * 1_000_000n),
  monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: real.monotonicTimeNanos,
  sleep: (duration) => real.sleep(duration)
})

/** The first instant of the month after `at`. */
export const nextMonth = (at: Time.Instant): Time.Instant =>
  DateTime.toEpochMillis(DateTime.startOf(DateTime.add(DateTime.makeUnsafe(at), { months: 1 }), "month"))

/** A fresh identifier. Identifiers of one test sort in the order of creation. */
export const id = <Prefix extends keyof Id.ByPrefix>(prefix: Prefix) =>
  SecureRandom.SecureRandom.use((random) => Id.generate(random, prefix))

/** An identifier from that time, for tests of what is deleted by its age. The same for the same time and mark. */
export const idAt = <Prefix extends keyof Id.ByPrefix>(prefix: Prefix, at: Time.Instant, mark = "7") =>
  Id.lowestAt(prefix, at).replace(/.$/, mark) as Id.ByPrefix[Prefix]

/** A fresh opaque word for tokens, keys and names. */
export const word = SecureRandom.SecureRandom.use((random) => random.uuidV4())

/** The span that recorded an event. */
export const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

/** As many identifiers as one step can need, for events that a collected span records. */
export const eventIds: Effect.Effect<MessageStore.EventIds, never, SecureRandom.SecureRandom> = Effect.all({
  events: Effect.replicateEffect(id("evt"), Event.maxPerReport),
  deliveries: Effect.replicateEffect(id("dlv"), Event.maxPerReport),
  trace: Effect.succeed(trace)
})

/** Bytes that look like a sealed secret. No test opens it. */
export const sealed = (mark: number): Sealed.Sealed => ({
  keyId: "testkey1",
  nonce: new Uint8Array(12).fill(mark),
  ciphertext: Uint8Array.from({ length: 48 }, (_, i) => (i * 7 + mark) % 256)
})

/** Limits that no test reaches by accident. */
export const roomy: Limits.Limits = {
  ...Limits.standard,
  workspaceTiers: { ...Limits.standard.workspaceTiers, roomy: 1_000_000 },
  phoneNumberTiers: { ...Limits.standard.phoneNumberTiers, roomy: 1_000_000 },
  pair: { everySeconds: 0.001, burst: 1_000_000 },
  defaults: { ...Limits.standard.defaults, workspaceTier: "roomy", phoneNumberTier: "roomy" }
}

const providerTemplate = (
  name: string,
  given: { readonly body: string; readonly category?: string; readonly status?: string }
): Template.ProviderTemplate => ({
  providerTemplateId: `provider-${name}`,
  name,
  language: "en_US",
  category: given.category ?? "utility",
  status: given.status ?? "approved",
  parameterFormat: "positional",
  components: [{ type: "BODY", text: given.body }],
  quality: null,
  rejectionReason: null
})

/** A template with a header that `bodyParams` cannot fill. */
const picture: Template.ProviderTemplate = {
  ...providerTemplate("picture", { body: "See {{1}}." }),
  components: [{ type: "HEADER", format: "IMAGE" }, { type: "BODY", text: "See {{1}}." }]
}

/** The templates of every workspace: approved `plain`, `order` (two values), `promo` (marketing), and others. */
export const templates: ReadonlyArray<Template.ProviderTemplate> = [
  providerTemplate("plain", { body: "Hello." }),
  providerTemplate("order", { body: "Order {{1}} is {{2}}." }),
  providerTemplate("promo", { body: "Buy {{1}}!", category: "marketing" }),
  providerTemplate("waiting", { body: "Soon: {{1}}", status: "pending" }),
  providerTemplate("refused", { body: "Never.", status: "rejected" }),
  providerTemplate("stopped", { body: "Not now.", status: "paused" }),
  picture
]

/** A test's own workspace, with its number, an API key and {@link templates}. */
export interface World {
  readonly start: Time.Instant
  readonly workspace: Workspace.Workspace
  readonly number: PhoneNumber.PhoneNumber
  readonly key: ApiKey.ApiKey
}

/** How a workspace differs from the default. */
export interface WorldOptions {
  /** If omitted, a start that no other workspace has. */
  readonly start?: Time.Instant
  readonly workspace?: Partial<Pick<Workspace.Workspace, "tier" | "monthlyQuota" | "suspended">>
  readonly number?: Partial<Omit<PhoneNumber.PhoneNumber, "id" | "workspaceId">>
}

/**
 * Creates a workspace through the ports. When the test ends, its webhook is removed and its messages are ended, so that
 * a later run on the same storage finds nothing due.
 */
export const world = (
  options: WorldOptions = {}
): Play<World> =>
  Effect.gen(function*() {
    const start = options.start ?? (yield* Starts.use(({ next }) => next))
    const workspaceId = yield* id("ws")
    const workspace: Workspace.Workspace = {
      id: workspaceId,
      name: `Workspace ${workspaceId}`,
      createdAt: start,
      tier: null,
      monthlyQuota: null,
      suspended: false,
      ...options.workspace
    }
    const number = yield* phoneNumber(workspaceId, options.number)
    yield* WorkspaceStore.WorkspaceStore.use((store) => store.create({ workspace, phoneNumber: number }))
    const key = yield* issuedKey(workspaceId, start)
    const ids = yield* Effect.replicateEffect(id("tpl"), templates.length)
    yield* TemplateStore.TemplateStore.use((store) =>
      store.replaceAll({
        now: start,
        listedAt: start,
        workspaceId,
        providerAccountId: number.providerAccountId,
        listed: templates,
        ids
      })
    )
    yield* Effect.addFinalizer(() => tidy(workspaceId, start))
    return { start, workspace, number, key }
  })

const tidy = (workspaceId: Id.WorkspaceId, start: Time.Instant) =>
  Effect.gen(function*() {
    const messages = yield* MessageStore.MessageStore
    const end = nextMonth(start) + 4 * day
    for (const now of [end - 50 * hour, end - 49 * hour, end - hour]) yield* messages.sweep(now)
    yield* WebhookStore.WebhookStore.use((store) => store.remove(workspaceId, end))
  }).pipe(
    // if a storage cannot do this, the tests about it fail
    Effect.ignoreCause
  )

/** A fresh number of a workspace, not stored. */
export const phoneNumber = (
  workspaceId: Id.WorkspaceId,
  settings: WorldOptions["number"] = {}
): Effect.Effect<PhoneNumber.PhoneNumber, never, SecureRandom.SecureRandom> =>
  Effect.gen(function*() {
    const random = yield* SecureRandom.SecureRandom
    return {
      id: yield* id("pn"),
      workspaceId,
      provider: "sandbox",
      phoneNumber: `+1415${yield* random.intBetween(2_000_000, 9_999_999)}`,
      providerNumberId: `number-${yield* word}`,
      providerAccountId: `account-${yield* word}`,
      tier: null,
      messagingLimit: null,
      portfolioId: null,
      available: true,
      block: null,
      learned: PhoneNumber.unlearned,
      credentialsVersion: null,
      isDefault: true,
      ...settings
    }
  })

/** A fresh API key of a workspace, not stored. */
export const apiKey = (
  workspaceId: Id.WorkspaceId,
  createdAt: Time.Instant,
  fields: Partial<ApiKey.ApiKey> = {}
): Effect.Effect<ApiKey.ApiKey, never, SecureRandom.SecureRandom> =>
  Effect.gen(function*() {
    return {
      id: yield* id("key"),
      workspaceId,
      name: "a key",
      prefix: "wac_live_AbCd",
      scopes: ["messages:send"],
      ...KeyBinding.unbound,
      tokenHash: (yield* word).replaceAll("-", "").repeat(2),
      signingSecret: sealed(1),
      requireSignature: false,
      createdAt,
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
      ...fields
    }
  })

/** Issues a fresh API key under a fresh idempotency key. */
export const issuedKey = (workspaceId: Id.WorkspaceId, createdAt: Time.Instant, fields: Partial<ApiKey.ApiKey> = {}) =>
  Effect.gen(function*() {
    const key = yield* apiKey(workspaceId, createdAt, fields)
    const idempotency = { key: (yield* word) as Idempotency.IdempotencyKey, fingerprint: "one" }
    const issued = yield* ApiKeyStore.ApiKeyStore.use((store) => store.issue(key, idempotency))
    assert.strictEqual(issued._tag, "Created")
    return key
  })

/** A webhook of a workspace, not stored: active, healthy, for all types. */
export const webhook = (
  world: World,
  fields: Partial<Webhook.Webhook> = {}
): Effect.Effect<Webhook.Webhook, never, SecureRandom.SecureRandom> =>
  Effect.map(id("whk"), (webhookId) => ({
    id: webhookId,
    workspaceId: world.workspace.id,
    url: `https://receiver.example/${webhookId}`,
    envelope: "combined",
    eventTypes: Event.EventType.literals,
    secrets: [{ sealed: sealed(2), expiresAt: null }],
    createdAt: world.start,
    updatedAt: world.start,
    pausedAt: null,
    resumedAt: null,
    health: { ...WebhookHealth.initial, lastSuccessAt: world.start - 30 * day },
    ...fields
  }))

/** Sets a workspace's webhook. */
export const putWebhook = (world: World, fields: Partial<Webhook.Webhook> = {}) =>
  Effect.gen(function*() {
    const candidate = yield* webhook(world, fields)
    const { webhook: stored } = yield* WebhookStore.WebhookStore.use((store) => store.put(candidate))
    return stored
  })

/** Finds a key with its workspace by the token's hash. */
export const foundByTokenHash = ({ tokenHash }: Pick<ApiKey.ApiKey, "tokenHash">) =>
  Effect.map(
    ApiKeyStore.ApiKeyStore.use((store) => store.findByTokenHash(tokenHash)),
    // `at` depends on the storage's clock
    Option.map(({ key, workspace }) => ({ key, workspace }))
  )
