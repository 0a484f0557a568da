/**
 * The conformance suites of storages and providers, and tools for tests of a storage, a provider or a receiver.
 */
export * as Arrivals from "./Arrivals.ts"
export * as CampaignFixture from "./campaigns/CampaignFixture.ts"
export * as CustomerFixture from "./contacts/CustomerFixture.ts"
export * as Fixture from "./Fixture.ts"
export * as StubProviderWebhook from "./inbound/StubProviderWebhook.ts"
export * as KindFixture from "./messages/KindFixture.ts"
export * as MessageFixture from "./messages/MessageFixture.ts"
export * as OutboxStoreSuite from "./outbox/OutboxStoreSuite.ts"
export * as PeopleFixture from "./people/PeopleFixture.ts"
export * as ProviderSuite from "./provider/ProviderSuite.ts"
export * as QueueFixture from "./queue/QueueFixture.ts"
export * as SeededRandom from "./SeededRandom.ts"
export * as StorageSuite from "./StorageSuite.ts"
export * as DeliveryFixture from "./webhooks/DeliveryFixture.ts"
export * as RecordingReceiver from "./webhooks/RecordingReceiver.ts"
export * as StubTransport from "./webhooks/StubTransport.ts"
