/**
 * Everything that the storage in memory holds: tables, indexes and hints. Each store changes it in single synchronous
 * steps, so no other fiber sees a step half done.
 */
import {
  type AbandonStep,
  type Activity,
  type Alert,
  type AlertStep,
  type ApiKey,
  type ApiRequest,
  type AuditEntry,
  type CampaignStep,
  type CampaignTimeline,
  type Change,
  Contact,
  type ContactStep,
  type Event,
  type FactorStore,
  type Heartbeat,
  type Id,
  Idempotency,
  type InboundPost,
  type InboundPostStore,
  type Invitation,
  KeptAnswer,
  type MediaStep,
  type MediaStore,
  type Member,
  type MemberStep,
  type Message,
  type MessageStore,
  type OptOutWords,
  type Passkey,
  type PasskeyStore,
  type PhoneNumber,
  type PhoneNumberStep,
  type PortalStep,
  type PriceTally,
  type Problem,
  type QueueWorkStep,
  type ReceivedMessage,
  type Recipient,
  type ReplayStep,
  type RequestValuesStore,
  type Sealed,
  type SendBinding,
  Session,
  type SessionStore,
  StorageTime,
  type Subscription,
  type Suppression,
  type Template,
  type Time,
  type Timing,
  type Waiting,
  type Workspace
} from "@wac/core"
import { Context, Effect, Layer } from "effect"
import { ExpiringMap } from "./ExpiringMap.ts"
import { Heap } from "./Heap.ts"
import { Hint } from "./Hint.ts"
import * as Buckets from "./limits/Buckets.ts"
import type { CountedCustomers } from "./limits/CountedCustomers.ts"
import { Table } from "./Table.ts"
import type { Consignment, Outbox } from "./webhooks/Outbox.ts"

/** A send, for as long as its idempotency key is kept. */
export interface Send {
  /** The key with its scope. */
  name: string
  binding: SendBinding.SendBinding
  /** The month whose quota it has spent; `null` once returned. */
  quotaMonth: string | null
  lastTry: AbandonStep.Tried["lastTry"]
}

/** An API key issued under an idempotency key. */
interface Issuance {
  readonly fingerprint: string
  readonly apiKeyId: Id.ApiKeyId
  readonly expiresAt: Time.Instant
}

/** A replay job and its progress. */
interface ReplayJob {
  readonly id: Id.ReplayId
  readonly workspaceId: Id.WorkspaceId
  readonly job: ReplayStep.Job
}

/** A time at which the sweep must look at a send, unless the send has moved on since. */
interface Deadline {
  readonly at: Time.Instant
  readonly name: string
}

/** A provider's post, until it is deleted. */
export interface PostRecord extends InboundPostStore.ClaimedPost {
  body: Uint8Array
  tries: number
  /** When it may be claimed: the end of the lease while claimed; `null` if it need not be processed any more. */
  dueAt: Time.Instant | null
  /** The token of its claim, kept after the lease ends. */
  token: string | null
  problem: InboundPost.Problem | null
  /** When it may be deleted. */
  expiresAt: Time.Instant | null
}

/** The count of requests of one workspace, hour, key and outcome. */
interface RequestTally extends ApiRequest.Tally {
  readonly workspaceId: Id.WorkspaceId
  readonly hour: Time.Instant
}

/** A session, and when its person last proved their presence. */
export interface SessionRecord extends SessionStore.StoredSession {
  readonly provenAt: Time.Instant
}

/** A person's second factor. */
export interface FactorRecord {
  readonly factor: FactorStore.Factor
  /** The step of the last code of the app that was used; `null` while the app is not on. */
  readonly lastStep: number | null
  /** The oldest first. */
  readonly passkeys: ReadonlyArray<Passkey.Passkey>
  /** The fingerprints of unused recovery codes. */
  readonly recoveryCodes: Set<string>
}

/** A file without its bytes. */
export interface MediaRecord {
  readonly id: Id.MediaId
  readonly workspaceId: Id.WorkspaceId
  row: MediaStep.Row
  /** When an awaited file is due for download; `null` if only a request downloads it. */
  fetchAt: Time.Instant | null
  /** The file as the provider knows it, by number. */
  readonly uploaded: Map<Id.PhoneNumberId, MediaStore.ProviderMedia>
}

/** A contact under its `Contact.placeOf`. */
export interface ContactRecord {
  readonly id: string
  readonly workspaceId: Id.WorkspaceId
  readonly contact: Contact.Contact
}

/** A message of a conversation. */
interface EntryRecord {
  readonly id: Id.MessageId
  readonly workspaceId: Id.WorkspaceId
  readonly phoneNumberId: Id.PhoneNumberId
  readonly customer: Contact.Contact["key"]
  /** What the customer wrote; `undefined` for a message that the workspace sent. */
  readonly received: ReceivedMessage.ReceivedMessage | undefined
}

/** A message that waits in the queue. */
export interface QueuedRecord {
  readonly messageId: Id.MessageId
  readonly request: MessageStore.KeyedRequest
  /** When it is due. While a process works on it: when the process's lease ends. */
  dueAt: Time.Instant
  tries: number
  /** `null` for a campaign's message. */
  readonly sendUntil: Time.Instant | null
  /** The time zone that the row of a campaign gives. */
  readonly timeZone: string | null
}

/** The lane of a number: the messages that callers queued to send from it. */
export interface LaneRecord {
  lane: QueueWorkStep.Lane
  readonly queue: Map<Id.MessageId, QueuedRecord>
  /** Its messages by due time. An entry is ignored if its message's `dueAt` has changed since. */
  readonly order: Heap<Pick<QueuedRecord, "dueAt" | "messageId">>
}

/** A campaign with its rows and its queue. */
export interface CampaignRecord {
  readonly id: Id.CampaignId
  readonly workspaceId: Id.WorkspaceId
  job: CampaignStep.Job
  /** By place: the rows are numbered in the order of upload. */
  readonly rows: Map<number, {
    readonly row: Recipient.Row
    messageId: Id.MessageId | null
    problem: Problem.Problem | null
  }>
  readonly queue: Map<Id.MessageId, QueuedRecord>
  /** Counts by the start of their time span. */
  readonly timeline: Map<Time.Instant, CampaignTimeline.Count>
}

/** A durable subscription, with the events that it has taken from the log and not handled yet. */
export interface SubscriptionRecord {
  subscription: Subscription.Subscription
  readonly entries: Map<Id.EventId, Subscription.Entry>
}

/** The tables, their indexes, and the hints that wake waiting runners. */
export interface Memory {
  readonly workspaces: Map<Id.WorkspaceId, Workspace.Workspace>
  readonly phoneNumbers: Table<PhoneNumber.PhoneNumber>
  readonly phoneNumberByProviderId: Map<string, Id.PhoneNumberId>
  /** When each number's reported fields were reported. */
  readonly toldAt: Map<Id.PhoneNumberId, PhoneNumber.ReportTimes>
  /** Credentials of numbers that have their own. */
  readonly credentials: Map<Id.PhoneNumberId, PhoneNumberStep.SealedCredentials>
  readonly people: Map<Id.UserId, Member.Person>
  /** By issuer and subject. */
  readonly identities: Map<string, MemberStep.Link>
  /** In the order of joining. */
  readonly members: Map<Id.WorkspaceId, Map<Id.UserId, Member.Member>>
  /** By the token's hash. */
  readonly invitations: ExpiringMap<string, Invitation.Invitation>
  readonly passwordResets: ExpiringMap<string, Invitation.PasswordReset>
  readonly sessions: ExpiringMap<string, SessionRecord>
  readonly factors: Map<Id.UserId, FactorRecord>
  /** By the token's hash. */
  readonly challenges: ExpiringMap<string, FactorStore.Challenge>
  /** By person and purpose. */
  readonly passkeyChallenges: ExpiringMap<string, PasskeyStore.PasskeyChallenge>
  /** Portal links and open sessions, by the hash of the token. */
  readonly portals: ExpiringMap<string, PortalStep.StoredPortal>
  readonly apiKeys: Table<ApiKey.ApiKey>
  readonly apiKeyByTokenHash: Map<string, Id.ApiKeyId>
  readonly issuances: ExpiringMap<string, Issuance>
  readonly keptAnswers: ExpiringMap<string, KeptAnswer.Binding>
  readonly templates: Table<Template.Template>
  readonly templateByName: Map<string, Id.TemplateId>
  readonly templateTold: Map<Id.TemplateId, Template.ReportTimes>
  readonly contacts: Table<ContactRecord>
  /** The index of names: identifiers of contacts, by number and any name of the customer. */
  readonly contactByName: Map<string, ContactRecord["id"]>
  /** Remembered messages of customers, by number and the provider's identifier. */
  readonly inbound: ExpiringMap<string, ContactStep.Remembered>
  /** The messages of {@link inbound} by wac's ids. */
  readonly inboundById: ExpiringMap<Id.MessageId, ContactStep.Remembered>
  /** By provider and digest, in the order of arrival. */
  readonly inboundPosts: Map<string, PostRecord>
  /** Posts that are to be processed. */
  readonly waitingPosts: Set<PostRecord>
  readonly inboundPostHint: Hint
  /** Notified when it becomes known how long a post is kept. */
  readonly expiryHint: Hint
  /** The fingerprints of requests that marked a message as read, by workspace, message and key. */
  readonly readMarks: ExpiringMap<string, { readonly fingerprint: string; readonly expiresAt: Time.Instant }>
  readonly media: Table<MediaRecord>
  /** Notified of every customer's file. */
  readonly mediaHint: Hint
  readonly mediaBytes: Map<Id.MediaId, ReadonlyArray<Uint8Array>>
  /** Customers' files, by number and the provider's id. */
  readonly mediaByProvider: Map<string, Id.MediaId>
  /** The bytes of each workspace's stored files. */
  readonly mediaUsed: Map<Id.WorkspaceId, number>
  readonly mediaBindings: ExpiringMap<string, MediaStep.Binding>
  readonly messages: Table<Message.Message>
  readonly messageByProviderId: Map<string, Id.MessageId>
  readonly conversations: Table<EntryRecord>
  readonly sends: Map<string, Send>
  readonly sendOf: Map<Id.MessageId, Send>
  /** The months whose quota was given back, by message. They outlive the keys. */
  readonly returnedMonths: Map<Id.MessageId, string>
  readonly deadlines: Heap<Deadline>
  /** Notified when a deadline becomes the earliest. */
  readonly deadlineHint: Hint
  readonly buckets: Buckets.Buckets
  /** Messages by workspace and month. */
  readonly quotaUsed: Map<string, number>
  readonly countedCustomers: Map<Id.PhoneNumberId, CountedCustomers>
  /** In the order of recording. */
  readonly events: Map<Id.WorkspaceId, Array<Event.Event>>
  /** The index of an event among its workspace's events. */
  readonly eventPosition: Map<Id.EventId, number>
  /** The place of each stored event in the order of recording, across all workspaces. */
  readonly eventPlaces: Map<Id.EventId, number>
  /** The place of the event recorded last. */
  lastPlace: number
  /** Notified of every event. */
  readonly eventHint: Hint
  /** By workspace and name. */
  readonly subscriptions: Map<Id.WorkspaceId, Map<string, SubscriptionRecord>>
  /** Notified of every event, and when failed events are retried. */
  readonly subscriptionHint: Hint
  /** The webhook that was served longest ago comes first. */
  readonly outboxes: Map<Id.WorkspaceId, Outbox>
  readonly deliveries: Table<Consignment>
  readonly replays: Table<ReplayJob>
  readonly campaigns: Table<CampaignRecord>
  readonly lanes: Map<Id.PhoneNumberId, LaneRecord>
  /** Messages in {@link lanes}, by workspace. */
  readonly queued: Map<Id.WorkspaceId, number>
  /** The hold (`Heartbeat.heldSince`) from which each workspace was released last. */
  readonly queueReleases: Map<Id.WorkspaceId, Time.Instant>
  /** Notified of every change of {@link lanes}. */
  readonly queueHint: Hint
  heartbeat: Heartbeat.Heartbeat | undefined
  /** By pair: when the last marketing templates were sent, and until when they count. */
  readonly marketingAt: ExpiringMap<
    string,
    { readonly at: ReadonlyArray<Time.Instant>; readonly until: Time.Instant }
  >
  /** Notified of every change of a campaign. */
  readonly campaignHint: Hint
  readonly alerts: Table<Alert.Alert>
  /** By alert and change. */
  readonly alertNotifications: Map<string, AlertStep.Notification>
  readonly alertSettings: Map<Id.WorkspaceId, Alert.Settings>
  /** By workspace and hash. */
  readonly suppressions: Map<string, ReadonlyArray<Suppression.Suppression>>
  readonly optOutWords: Map<Id.WorkspaceId, OptOutWords.Settings>
  readonly changeListeners: Set<(change: Change.Change) => void>
  readonly audit: Table<AuditEntry.AuditEntry>
  readonly requests: Table<ApiRequest.ApiRequest>
  readonly requestTallies: Map<string, RequestTally>
  readonly requestValues: Map<Id.RequestId, RequestValuesStore.SealedValues>
  /** The switches for keeping requests' values. `until` is `null` once a switch is off. */
  readonly valuesSwitches: Map<Id.WorkspaceId, { readonly until: Time.Instant | null; readonly epoch: number }>
  readonly usage: Map<string, Activity.Count>
  readonly timed: Map<string, Timing.Count>
  readonly waited: Map<string, Waiting.Peak>
  readonly priced: Map<string, PriceTally.Count>
  /** The job whose turn is next comes first. */
  readonly runningReplays: Set<Id.ReplayId>
  /** Notified of every new job. */
  readonly replayHint: Hint
  readonly hint: Hint
  /** Listeners for revocations of API keys. */
  readonly revocations: Set<(id: Id.ApiKeyId) => void>
  pepper: Sealed.Sealed | undefined
  /** The time at which a command is judged, given the caller's time. */
  readonly now: (asked: Time.Instant) => Time.Instant
}

/** A template's key among all templates. */
export const templateName = (
  { language, name, providerAccountId, workspaceId }: Pick<
    Template.Template,
    "workspaceId" | "providerAccountId" | "language" | "name"
  >
): string => `${workspaceId} ${language} ${name} ${providerAccountId}`

/** Removes a template with its entry in the index of names and its report times. */
export const forgetTemplate = (memory: Memory, template: Template.Template): void => {
  memory.templateByName.delete(templateName(template))
  memory.templateTold.delete(template.id)
  memory.templates.delete(template)
}

/** The key of a customer's message. */
export const inboundName = (number: Id.PhoneNumberId, providerMessageId: string): string =>
  `${number} ${providerMessageId}`

/** The key of a contact in the index of names. */
export const customerName = (phoneNumberId: Id.PhoneNumberId, name: string): string => `${phoneNumberId} ${name}`

/** Removes a contact from the table and from the index of names. */
export const forgetContact = (memory: Memory, row: ContactRecord): void => {
  memory.contacts.delete(row)
  for (const name of Contact.keysOf(row.contact.key, row.contact)) {
    memory.contactByName.delete(customerName(row.contact.phoneNumberId, name))
  }
}

/** Removes a person's second factor with its challenges. */
export const forgetFactor = (memory: Memory, userId: Id.UserId): void => {
  memory.factors.delete(userId)
  for (const challenge of memory.challenges.values()) {
    if (challenge.userId === userId) memory.challenges.delete(challenge.tokenHash)
  }
}

const make = (now: Memory["now"]): Memory => ({
  workspaces: new Map(),
  phoneNumbers: new Table(),
  phoneNumberByProviderId: new Map(),
  toldAt: new Map(),
  credentials: new Map(),
  people: new Map(),
  identities: new Map(),
  members: new Map(),
  invitations: new ExpiringMap(({ expiresAt }, now) => expiresAt <= now),
  passwordResets: new ExpiringMap(({ expiresAt }, now) => expiresAt <= now),
  sessions: new ExpiringMap((session, now) => !Session.isLive(session, now)),
  factors: new Map(),
  challenges: new ExpiringMap(({ expiresAt }, now) => expiresAt <= now),
  passkeyChallenges: new ExpiringMap(({ expiresAt }, now) => expiresAt <= now),
  portals: new ExpiringMap(({ portal }, now) => portal.expiresAt <= now),
  apiKeys: new Table(),
  apiKeyByTokenHash: new Map(),
  issuances: new ExpiringMap((issuance, now) => Idempotency.isExpired(issuance, now)),
  keptAnswers: new ExpiringMap((binding, now) => KeptAnswer.isExpired(binding, now)),
  templates: new Table(),
  templateByName: new Map(),
  templateTold: new Map(),
  contacts: new Table(),
  contactByName: new Map(),
  inbound: new ExpiringMap(({ until }, now) => until <= now),
  inboundById: new ExpiringMap(({ until }, now) => until <= now),
  readMarks: new ExpiringMap((mark, now) => Idempotency.isExpired(mark, now)),
  inboundPosts: new Map(),
  waitingPosts: new Set(),
  inboundPostHint: new Hint(),
  expiryHint: new Hint(),
  media: new Table(),
  mediaHint: new Hint(),
  mediaBytes: new Map(),
  mediaByProvider: new Map(),
  mediaUsed: new Map(),
  mediaBindings: new ExpiringMap((binding, now) => Idempotency.isExpired(binding, now)),
  messages: new Table(),
  messageByProviderId: new Map(),
  conversations: new Table(),
  sends: new Map(),
  sendOf: new Map(),
  returnedMonths: new Map(),
  deadlines: new Heap((a, b) => a.at < b.at),
  deadlineHint: new Hint(),
  buckets: Buckets.make(),
  quotaUsed: new Map(),
  countedCustomers: new Map(),
  events: new Map(),
  eventPosition: new Map(),
  eventPlaces: new Map(),
  lastPlace: 0,
  eventHint: new Hint(),
  subscriptions: new Map(),
  subscriptionHint: new Hint(),
  outboxes: new Map(),
  deliveries: new Table(),
  replays: new Table(),
  campaigns: new Table(),
  lanes: new Map(),
  queued: new Map(),
  queueReleases: new Map(),
  queueHint: new Hint(),
  heartbeat: undefined,
  marketingAt: new ExpiringMap(({ until }, now) => until <= now),
  campaignHint: new Hint(),
  alerts: new Table(),
  alertNotifications: new Map(),
  alertSettings: new Map(),
  suppressions: new Map(),
  optOutWords: new Map(),
  changeListeners: new Set(),
  audit: new Table(),
  requests: new Table(),
  requestTallies: new Map(),
  requestValues: new Map(),
  valuesSwitches: new Map(),
  usage: new Map(),
  timed: new Map(),
  waited: new Map(),
  priced: new Map(),
  runningReplays: new Set(),
  replayHint: new Hint(),
  hint: new Hint(),
  revocations: new Set(),
  pepper: undefined,
  now
})

/** The state of a storage in memory, which all its stores share. */
export class State extends Context.Service<State, Memory>()("@wac/memory/State") {
  /** Creates an empty state. */
  static readonly layer = Layer.effect(State, Effect.map(StorageTime.ofProcess, make))
}
