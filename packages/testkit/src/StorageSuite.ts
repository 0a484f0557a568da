/**
 * The conformance suite of a storage: every port, with the contract rules behind it.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Storage } from "@wac/core"
import { Effect, Layer } from "effect"
import * as ApiKeyStoreSuite from "./ApiKeyStoreSuite.ts"
import * as ContactStoreNamesSuite from "./ContactStoreNamesSuite.ts"
import * as ContactStoreSuite from "./ContactStoreSuite.ts"
import * as DeliveryStoreClaimSuite from "./DeliveryStoreClaimSuite.ts"
import * as DeliveryStoreCompleteSuite from "./DeliveryStoreCompleteSuite.ts"
import * as DeliveryStoreFailingSuite from "./DeliveryStoreFailingSuite.ts"
import * as DeliveryStoreModelSuite from "./DeliveryStoreModelSuite.ts"
import * as DeliveryStoreOrderSuite from "./DeliveryStoreOrderSuite.ts"
import * as DeliveryStoreRetrySuite from "./DeliveryStoreRetrySuite.ts"
import * as DeliveryStoreSuite from "./DeliveryStoreSuite.ts"
import * as DeliveryStoreTestSuite from "./DeliveryStoreTestSuite.ts"
import * as EventStoreSuite from "./EventStoreSuite.ts"
import * as Fixture from "./Fixture.ts"
import * as InboundPostStoreSuite from "./InboundPostStoreSuite.ts"
import * as MessageStoreAcceptSuite from "./MessageStoreAcceptSuite.ts"
import * as MessageStoreKeySuite from "./MessageStoreKeySuite.ts"
import * as MessageStoreLimitsSuite from "./MessageStoreLimitsSuite.ts"
import * as MessageStoreListSuite from "./MessageStoreListSuite.ts"
import * as MessageStoreModelSuite from "./MessageStoreModelSuite.ts"
import * as MessageStoreRefusalSuite from "./MessageStoreRefusalSuite.ts"
import * as MessageStoreReportSuite from "./MessageStoreReportSuite.ts"
import * as MessageStoreSenderSuite from "./MessageStoreSenderSuite.ts"
import * as MessageStoreSettleSuite from "./MessageStoreSettleSuite.ts"
import * as MessageStoreSweepSuite from "./MessageStoreSweepSuite.ts"
import * as PepperStoreSuite from "./PepperStoreSuite.ts"
import * as PhoneNumberStoreObserveSuite from "./PhoneNumberStoreObserveSuite.ts"
import * as PhoneNumberStoreSuite from "./PhoneNumberStoreSuite.ts"
import * as RateLimitStoreSuite from "./RateLimitStoreSuite.ts"
import * as ReplayStoreSuite from "./ReplayStoreSuite.ts"
import * as SealedSecretStoreSuite from "./SealedSecretStoreSuite.ts"
import * as SessionStoreSuite from "./SessionStoreSuite.ts"
import * as StorageTimeSuite from "./StorageTimeSuite.ts"
import * as TemplateStoreSuite from "./TemplateStoreSuite.ts"
import * as WebhookResumeSuite from "./WebhookResumeSuite.ts"
import * as WebhookStoreSuite from "./WebhookStoreSuite.ts"
import * as WorkspaceStoreSuite from "./WorkspaceStoreSuite.ts"

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
