/**
 * The conformance suite of a storage: every port, with the rules of the contract behind it.
 */
import { assert, describe, layer, type Vitest } from "@effect/vitest"
import { type Ports, Storage } from "@wac/core"
import { Effect, Layer } from "effect"
import * as AlertStoreSuite from "./alerts/AlertStoreSuite.ts"
import * as AuditStoreSuite from "./audit/AuditStoreSuite.ts"
import * as CampaignStoreCheckSuite from "./campaigns/CampaignStoreCheckSuite.ts"
import * as CampaignStoreCountsSuite from "./campaigns/CampaignStoreCountsSuite.ts"
import * as CampaignStoreCustomersSuite from "./campaigns/CampaignStoreCustomersSuite.ts"
import * as CampaignStoreStatusSuite from "./campaigns/CampaignStoreStatusSuite.ts"
import * as CampaignStoreSuite from "./campaigns/CampaignStoreSuite.ts"
import * as CampaignStoreWorkSuite from "./campaigns/CampaignStoreWorkSuite.ts"
import * as ChangeStoreSuite from "./changes/ChangeStoreSuite.ts"
import * as ContactStoreNamesSuite from "./contacts/ContactStoreNamesSuite.ts"
import * as ContactStoreOptOutSuite from "./contacts/ContactStoreOptOutSuite.ts"
import * as ContactStoreSuite from "./contacts/ContactStoreSuite.ts"
import * as CustomerHistoriesSuite from "./contacts/CustomerHistoriesSuite.ts"
import * as CustomerStoreSuite from "./contacts/CustomerStoreSuite.ts"
import * as EventStoreSuite from "./events/EventStoreSuite.ts"
import * as Fixture from "./Fixture.ts"
import * as InboundPostStoreSuite from "./inbound/InboundPostStoreSuite.ts"
import * as ApiKeyStoreSuite from "./keys/ApiKeyStoreSuite.ts"
import * as RateLimitStoreSuite from "./limits/RateLimitStoreSuite.ts"
import * as MediaBytesSuite from "./media/MediaBytesSuite.ts"
import * as MediaStoreSuite from "./media/MediaStoreSuite.ts"
import * as MessagesKindsSuite from "./messages/MessagesKindsSuite.ts"
import * as MessageStoreAcceptSuite from "./messages/MessageStoreAcceptSuite.ts"
import * as MessageStoreConversationSuite from "./messages/MessageStoreConversationSuite.ts"
import * as MessageStoreForgetSuite from "./messages/MessageStoreForgetSuite.ts"
import * as MessageStoreKeySuite from "./messages/MessageStoreKeySuite.ts"
import * as MessageStoreLimitsSuite from "./messages/MessageStoreLimitsSuite.ts"
import * as MessageStoreListSuite from "./messages/MessageStoreListSuite.ts"
import * as MessageStoreModelSuite from "./messages/MessageStoreModelSuite.ts"
import * as MessageStoreNamesSuite from "./messages/MessageStoreNamesSuite.ts"
import * as MessageStoreOrdersSuite from "./messages/MessageStoreOrdersSuite.ts"
import * as MessageStoreQueueSuite from "./messages/MessageStoreQueueSuite.ts"
import * as MessageStoreRefusalSuite from "./messages/MessageStoreRefusalSuite.ts"
import * as MessageStoreReportSuite from "./messages/MessageStoreReportSuite.ts"
import * as MessageStoreSenderSuite from "./messages/MessageStoreSenderSuite.ts"
import * as MessageStoreSettleSuite from "./messages/MessageStoreSettleSuite.ts"
import * as MessageStoreSweepSuite from "./messages/MessageStoreSweepSuite.ts"
import * as ReadMarksSuite from "./messages/ReadMarksSuite.ts"
import * as PhoneNumberStoreObserveSuite from "./numbers/PhoneNumberStoreObserveSuite.ts"
import * as PhoneNumberStoreSuite from "./numbers/PhoneNumberStoreSuite.ts"
import * as OutboxStoreSuite from "./outbox/OutboxStoreSuite.ts"
import * as FactorStoreSuite from "./people/FactorStoreSuite.ts"
import * as InvitationStoreSuite from "./people/InvitationStoreSuite.ts"
import * as MemberStoreSuite from "./people/MemberStoreSuite.ts"
import * as PasskeyStoreSuite from "./people/PasskeyStoreSuite.ts"
import * as PortalStoreSuite from "./people/PortalStoreSuite.ts"
import * as SessionStoreSuite from "./people/SessionStoreSuite.ts"
import * as QueueStoreSuite from "./queue/QueueStoreSuite.ts"
import * as KeptAnswerStoreSuite from "./requests/KeptAnswerStoreSuite.ts"
import * as RequestStoreSuite from "./requests/RequestStoreSuite.ts"
import * as RequestValuesStoreSuite from "./requests/RequestValuesStoreSuite.ts"
import * as PepperStoreSuite from "./secrets/PepperStoreSuite.ts"
import * as SealedSecretStoreSuite from "./secrets/SealedSecretStoreSuite.ts"
import type * as SeededRandom from "./SeededRandom.ts"
import * as StorageTimeSuite from "./StorageTimeSuite.ts"
import * as SubscriptionStoreSuite from "./subscriptions/SubscriptionStoreSuite.ts"
import * as TemplateStoreSuite from "./templates/TemplateStoreSuite.ts"
import * as UsageStoreSuite from "./usage/UsageStoreSuite.ts"
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
  it.effect("a new storage accepts writes and has a name without credentials", () =>
    Effect.gen(function*() {
      const storage = yield* Storage.Storage
      assert.strictEqual(yield* storage.ping, "writable")
      assert.isNotEmpty(storage.name)
      assert.notMatch(storage.name, /:\/\/[^/]*@/)
      assert.isBoolean(storage.durable)
      // tests that control time set the storage's time
      assert.strictEqual(yield* storage.now(12_345), 12_345)
      if (storage.measured !== undefined) {
        const { bytes, connections, maxConnections, pools } = yield* storage.measured
        assert.isAbove(bytes, 0)
        assert.sameMembers(Object.keys(connections), ["active", "idle", "idle_in_transaction", "other"])
        for (const count of Object.values(connections)) assert.isAtLeast(count, 0)
        if (maxConnections !== null) assert.isAbove(maxConnections, 0)
        for (const { idle, inUse } of Object.values(pools)) assert.isAbove(idle + inUse, 0)
      }
    }))
}

/** Tests of a port: on any storage, or on one that was empty when its first workspace was created. */
interface Suite {
  /** The part of the port that they test; the whole port if omitted. */
  readonly topic?: string
  readonly tests?: (it: Fixture.It, runs: SeededRandom.Runs) => void
  readonly testsOfEmpty?: (it: Fixture.FoundedIt<WorkspaceStoreSuite.Founded>) => void
}

/** Every port has at least one suite; a port without one does not compile. */
const suites: { readonly [port in Ports.Name]: readonly [Suite, ...ReadonlyArray<Suite>] } = {
  Storage: [{ tests }],
  ApiKeyStore: [{ tests: ApiKeyStoreSuite.tests }],
  ContactStore: [
    { tests: ContactStoreSuite.tests },
    { topic: "customers under several names", tests: ContactStoreNamesSuite.tests },
    { topic: "opt-outs of names", tests: ContactStoreOptOutSuite.tests },
    { topic: "histories of customers", tests: CustomerHistoriesSuite.tests }
  ],
  CustomerStore: [{ tests: CustomerStoreSuite.tests }],
  InboundPostStore: [{ tests: InboundPostStoreSuite.tests }],
  TemplateStore: [{ tests: TemplateStoreSuite.tests }],
  WorkspaceStore: [{ tests: WorkspaceStoreSuite.tests, testsOfEmpty: WorkspaceStoreSuite.testsOfEmpty }],
  PhoneNumberStore: [
    { tests: PhoneNumberStoreSuite.tests },
    { topic: "what the provider reports", tests: PhoneNumberStoreObserveSuite.tests }
  ],
  OutboxStore: [{ tests: OutboxStoreSuite.tests }],
  QueueStore: [{ tests: QueueStoreSuite.tests }],
  MessageStore: [
    { topic: "accept", tests: MessageStoreAcceptSuite.tests },
    { topic: "refusals", tests: MessageStoreRefusalSuite.tests },
    { topic: "messages to be sent later", tests: MessageStoreQueueSuite.tests },
    { topic: "the sender", tests: MessageStoreSenderSuite.tests },
    { topic: "keys", tests: MessageStoreKeySuite.tests },
    { topic: "limits", tests: MessageStoreLimitsSuite.tests },
    { topic: "customers with two names", tests: MessageStoreNamesSuite.tests },
    { topic: "settle and abandon", tests: MessageStoreSettleSuite.tests },
    { topic: "reports", tests: MessageStoreReportSuite.tests },
    { topic: "sweep", tests: MessageStoreSweepSuite.tests },
    { topic: "kinds", tests: MessagesKindsSuite.tests },
    { topic: "read marks", tests: ReadMarksSuite.tests },
    { topic: "lists", tests: MessageStoreListSuite.tests },
    { topic: "conversations", tests: MessageStoreConversationSuite.tests },
    { topic: "what is deleted by its age", tests: MessageStoreForgetSuite.tests },
    { topic: "random commands", tests: MessageStoreModelSuite.tests },
    { topic: "reports in any order", tests: MessageStoreOrdersSuite.tests }
  ],
  WebhookStore: [
    { tests: WebhookStoreSuite.tests },
    { topic: "pause and resume, with DeliveryStore", tests: WebhookResumeSuite.tests }
  ],
  DeliveryStore: [
    { topic: "claims", tests: DeliveryStoreClaimSuite.tests },
    { topic: "order", tests: DeliveryStoreOrderSuite.tests },
    { topic: "failing webhooks", tests: DeliveryStoreFailingSuite.tests },
    { topic: "attempts", tests: DeliveryStoreCompleteSuite.tests },
    { topic: "random steps", tests: DeliveryStoreModelSuite.tests },
    { topic: "tests of the webhook", tests: DeliveryStoreTestSuite.tests },
    { topic: "retries that a person requests", tests: DeliveryStoreRetrySuite.tests },
    { topic: "lists", tests: DeliveryStoreSuite.tests }
  ],
  MediaStore: [{ tests: MediaStoreSuite.tests }],
  MediaBytes: [{ tests: MediaBytesSuite.tests }],
  ReplayStore: [{ tests: ReplayStoreSuite.tests }],
  AlertStore: [{ tests: AlertStoreSuite.tests }],
  CampaignStore: [
    { tests: CampaignStoreSuite.tests },
    { topic: "checks", tests: CampaignStoreCheckSuite.tests },
    { topic: "work", tests: CampaignStoreWorkSuite.tests },
    { topic: "customers", tests: CampaignStoreCustomersSuite.tests },
    { topic: "counts", tests: CampaignStoreCountsSuite.tests },
    { topic: "starts, pauses and cancellations", tests: CampaignStoreStatusSuite.tests }
  ],
  ChangeStore: [{ tests: ChangeStoreSuite.tests }],
  AuditStore: [{ tests: AuditStoreSuite.tests }],
  KeptAnswerStore: [{ tests: KeptAnswerStoreSuite.tests }],
  RequestStore: [{ tests: RequestStoreSuite.tests }],
  RequestValuesStore: [{ tests: RequestValuesStoreSuite.tests }],
  UsageStore: [{ tests: UsageStoreSuite.tests }],
  EventStore: [{ tests: EventStoreSuite.tests }],
  SubscriptionStore: [{ tests: SubscriptionStoreSuite.tests }],
  RateLimitStore: [{ tests: RateLimitStoreSuite.tests }],
  PepperStore: [{ tests: PepperStoreSuite.tests, testsOfEmpty: PepperStoreSuite.testsOfEmpty }],
  SealedSecretStore: [{ tests: SealedSecretStoreSuite.tests, testsOfEmpty: SealedSecretStoreSuite.testsOfEmpty }],
  FactorStore: [{ tests: FactorStoreSuite.tests }],
  InvitationStore: [{ tests: InvitationStoreSuite.tests }],
  MemberStore: [{ tests: MemberStoreSuite.tests, testsOfEmpty: MemberStoreSuite.testsOfEmpty }],
  PasskeyStore: [{ tests: PasskeyStoreSuite.tests }],
  PortalStore: [{ tests: PortalStoreSuite.tests }],
  SessionStore: [{ testsOfEmpty: SessionStoreSuite.testsOfEmpty }]
}

/** Which suites to run. */
export interface Options {
  /** The ports whose suites run. Defaults to all. For a port that wraps another storage's. */
  readonly ports?: ReadonlyArray<Ports.Name>
  /**
   * How many random sequences are compared with a model. Defaults to all. Few are enough for another server of a
   * storage that runs all elsewhere, and leave out replays of more than a thousand deliveries and the backlog of hours;
   * long takes minutes.
   */
  readonly runs?: SeededRandom.Runs
}

/** The timeout of a test, in milliseconds. Some tests take seconds over a database, longer than Vitest's default. */
const timeout = 600_000

const isName = (name: string): name is Ports.Name => name in suites

const run = <R, E>(
  name: string,
  services: Layer.Layer<R, E>,
  suites: ReadonlyArray<readonly [title: string, tests: (it: Vitest.MethodsNonLive<R>) => void]>
): void => {
  // a suite without a test fails
  if (suites.length === 0) return
  layer(services, { excludeTestServices: true })(name, (it) => {
    for (const [title, tests] of suites) {
      describe(title, { timeout }, () => {
        tests(it)
      })
    }
  })
}

/**
 * Runs every suite against a storage. Each build of `storage` must be empty: it is built once for most suites, and
 * again for those that need an empty storage. Nothing else may use it meanwhile, since claims and sweeps act on all of
 * it. Titles begin with the port's name, so that `vitest -t DeliveryStore` selects a port.
 *
 * Tests run on the real clock, because an adapter's own timers (pools, notifications) do, but no rule reads it: the
 * storage is built with `StorageTime.JudgedBy` as `asker`, and every time is passed in. A third storage is built as in
 * production, and tested with its own clock.
 */
export const suite = <E>(name: string, storage: Layer.Layer<Ports.Ports, E>, options: Options = {}): void => {
  const { ports = Object.keys(suites).filter(isName), runs = "all" } = options
  const chosen = ports.flatMap((port) =>
    suites[port].map(({ topic, ...suite }: Suite) => ({
      ...suite,
      title: topic === undefined ? port : `${port}: ${topic}`
    }))
  )
  const ofAny = chosen.flatMap(({ tests, title }) =>
    tests === undefined ? [] : [[title, (it: Fixture.It) => tests(it, runs)] as const]
  )
  const ofEmpty = chosen.flatMap(({ testsOfEmpty, title }) =>
    testsOfEmpty === undefined ? [] : [[title, testsOfEmpty] as const]
  )
  const services = Layer.merge(Layer.provide(storage, Fixture.timeOfAsker), Fixture.layer)
  run(name, services, ofAny)
  run(
    `${name}, empty at first`,
    WorkspaceStoreSuite.layerFounded.pipe(Layer.provideMerge(Layer.fresh(services))),
    ofEmpty
  )
  if (options.ports !== undefined) return
  const asInProduction = WorkspaceStoreSuite.layerFounded.pipe(
    Layer.provideMerge(Layer.fresh(Layer.merge(storage, Fixture.layer)))
  )
  run(`${name}, by its own clock`, asInProduction, [["StorageTime", StorageTimeSuite.tests]])
}
