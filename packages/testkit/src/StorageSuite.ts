/**
 * The conformance suite of a storage: every port, with the contract rules behind it.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Storage } from "@wac/core"
import { Effect, Layer } from "effect"
import * as ContactStoreNamesSuite from "./contacts/ContactStoreNamesSuite.ts"
import * as ContactStoreSuite from "./contacts/ContactStoreSuite.ts"
import * as EventStoreSuite from "./events/EventStoreSuite.ts"
import * as Fixture from "./Fixture.ts"
import * as InboundPostStoreSuite from "./inbound/InboundPostStoreSuite.ts"
import * as ApiKeyStoreSuite from "./keys/ApiKeyStoreSuite.ts"
import * as RateLimitStoreSuite from "./limits/RateLimitStoreSuite.ts"
import * as MessageStoreAcceptSuite from "./messages/MessageStoreAcceptSuite.ts"
import * as MessageStoreKeySuite from "./messages/MessageStoreKeySuite.ts"
import * as MessageStoreLimitsSuite from "./messages/MessageStoreLimitsSuite.ts"
import * as MessageStoreListSuite from "./messages/MessageStoreListSuite.ts"
import * as MessageStoreModelSuite from "./messages/MessageStoreModelSuite.ts"
import * as MessageStoreRefusalSuite from "./messages/MessageStoreRefusalSuite.ts"
import * as MessageStoreReportSuite from "./messages/MessageStoreReportSuite.ts"
import * as MessageStoreSenderSuite from "./messages/MessageStoreSenderSuite.ts"
import * as MessageStoreSettleSuite from "./messages/MessageStoreSettleSuite.ts"
import * as MessageStoreSweepSuite from "./messages/MessageStoreSweepSuite.ts"
import * as PhoneNumberStoreObserveSuite from "./numbers/PhoneNumberStoreObserveSuite.ts"
import * as PhoneNumberStoreSuite from "./numbers/PhoneNumberStoreSuite.ts"
import * as SessionStoreSuite from "./people/SessionStoreSuite.ts"
import * as PepperStoreSuite from "./secrets/PepperStoreSuite.ts"
import * as SealedSecretStoreSuite from "./secrets/SealedSecretStoreSuite.ts"
import * as StorageTimeSuite from "./StorageTimeSuite.ts"
import * as TemplateStoreSuite from "./templates/TemplateStoreSuite.ts"
import * as DeliveryStoreClaimSuite from "./webhooks/DeliveryStoreClaimSuite.ts"
import * as DeliveryStoreCompleteSuite from "./webhooks/DeliveryStoreCompleteSuite.ts"
import * as DeliveryStoreFailingSuite from "./webhooks/DeliveryStoreFailingSuite.ts"
import * as DeliveryStoreModelSuite from "./webhooks/DeliveryStoreModelSuite.ts"
import * as DeliveryStoreOrderSuite from "./webhooks/DeliveryStoreOrderSuite.ts"
import * as DeliveryStoreRetrySuite from "./webhooks/DeliveryStoreRetrySuite.ts"
import * as DeliveryStoreSuite from "./webhooks/DeliveryStoreSuite.ts"
import * as DeliveryStoreTestSuite from "./webhooks/DeliveryStoreTestSuite.ts"
import * as ReplayStoreSuite from "./webhooks/ReplayStoreSuite.ts"
import * as WebhookResumeSuite from "./webhooks/WebhookResumeSuite.ts"
import * as WebhookStoreSuite from "./webhooks/WebhookStoreSuite.ts"
import * as WorkspaceStoreSuite from "./workspaces/WorkspaceStoreSuite.ts"

const tests = (it: Fixture.It): void => {
  it.effect("a storage that was built can be reached, and has a name without credentials", () =>
    Effect.gen(function*() {
      const storage = yield* Storage.Storage
      yield* storage.ping
      assert.isNotEmpty(storage.name)
      assert.notMatch(storage.name, /:\/\/[^/]*@/)
      assert.isBoolean(storage.durable)
    }))
}

/** The suites, by port and topic, as reports name them. */
const suites: ReadonlyArray<readonly [string, (it: Fixture.It) => void]> = [
  ["Storage", tests],
  ["ApiKeyStore", ApiKeyStoreSuite.tests],
  ["ContactStore", ContactStoreSuite.tests],
  ["ContactStore: customers under several names", ContactStoreNamesSuite.tests],
  ["InboundPostStore", InboundPostStoreSuite.tests],
  ["TemplateStore", TemplateStoreSuite.tests],
  ["WorkspaceStore", WorkspaceStoreSuite.tests],
  ["PhoneNumberStore", PhoneNumberStoreSuite.tests],
  ["PhoneNumberStore: what upstream tells", PhoneNumberStoreObserveSuite.tests],
  ["MessageStore: accept", MessageStoreAcceptSuite.tests],
  ["MessageStore: refusals", MessageStoreRefusalSuite.tests],
  ["MessageStore: the sender", MessageStoreSenderSuite.tests],
  ["MessageStore: keys", MessageStoreKeySuite.tests],
  ["MessageStore: limits", MessageStoreLimitsSuite.tests],
  ["MessageStore: settle and abandon", MessageStoreSettleSuite.tests],
  ["MessageStore: reports", MessageStoreReportSuite.tests],
  ["MessageStore: sweep", MessageStoreSweepSuite.tests],
  ["MessageStore: what is listed", MessageStoreListSuite.tests],
  ["MessageStore: random commands", MessageStoreModelSuite.tests],
  ["WebhookStore", WebhookStoreSuite.tests],
  ["WebhookStore and DeliveryStore: pause and resume", WebhookResumeSuite.tests],
  ["DeliveryStore: claims", DeliveryStoreClaimSuite.tests],
  ["DeliveryStore: order", DeliveryStoreOrderSuite.tests],
  ["DeliveryStore: failing webhooks", DeliveryStoreFailingSuite.tests],
  ["DeliveryStore: attempts", DeliveryStoreCompleteSuite.tests],
  ["DeliveryStore: random steps", DeliveryStoreModelSuite.tests],
  ["DeliveryStore: tests of the webhook", DeliveryStoreTestSuite.tests],
  ["DeliveryStore: retries that a person asks for", DeliveryStoreRetrySuite.tests],
  ["DeliveryStore: what is shown", DeliveryStoreSuite.tests],
  ["ReplayStore", ReplayStoreSuite.tests],
  ["EventStore", EventStoreSuite.tests],
  ["RateLimitStore", RateLimitStoreSuite.tests],
  ["PepperStore", PepperStoreSuite.tests],
  ["SealedSecretStore", SealedSecretStoreSuite.tests]
]

/** Those that need a storage which was empty when the first workspace was founded in it. */
const suitesOfEmpty: ReadonlyArray<readonly [string, (it: Fixture.FoundedIt<WorkspaceStoreSuite.Founded>) => void]> = [
  ["PepperStore", PepperStoreSuite.testsOfEmpty],
  ["SealedSecretStore", SealedSecretStoreSuite.testsOfEmpty],
  ["WorkspaceStore and MemberStore", WorkspaceStoreSuite.testsOfEmpty],
  ["SessionStore", SessionStoreSuite.tests]
]

/**
 * Runs every suite against one storage, and those that need an empty one against a second that is built for them:
 * `storage` must give an empty storage whenever it is built. Nothing else may use it meanwhile, since claims and
 * sweeps act on all of it. A port's name picks its suites: `vitest -t DeliveryStore`.
 *
 * Tests run on the real clock, because an adapter's own timers (pools, notifications) do; but no rule reads it: the
 * storage is built with `StorageTime.JudgedBy` as `asker`, and every time is passed in. A third storage is built as in
 * production, and held to its own clock.
 */
export const suite = <E>(name: string, storage: Layer.Layer<Fixture.Ports, E>): void => {
  const options = { excludeTestServices: true } as const
  const services = Layer.merge(Layer.provide(storage, Fixture.timeOfAsker), Fixture.layer)
  layer(services, options)(name, (it) => {
    for (const [port, register] of suites) {
      describe(port, () => {
        register(it)
      })
    }
  })
  const founded = WorkspaceStoreSuite.layerFounded.pipe(Layer.provideMerge(Layer.fresh(services)))
  layer(founded, options)(`${name}, empty at first`, (it) => {
    for (const [port, register] of suitesOfEmpty) {
      describe(port, () => {
        register(it)
      })
    }
  })
  const asInProduction = WorkspaceStoreSuite.layerFounded.pipe(
    Layer.provideMerge(Layer.fresh(Layer.merge(storage, Fixture.layer)))
  )
  layer(asInProduction, options)(`${name}, by its own clock`, StorageTimeSuite.tests)
}
