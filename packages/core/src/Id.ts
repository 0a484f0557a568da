/**
 * Identifiers: `<prefix>_<ULID>` (contract §1). They sort by creation time, so index inserts stay local.
 */
import { Effect, type Option, Schema } from "effect"
import type { SecureRandom } from "effect/crypto"

const shape = (prefix: string) => {
  const pattern = `^${prefix}_[0-7][0-9A-HJKMNP-TV-Z]{25}$`
  const maxLength = prefix.length + 27
  return Schema.String.check(
    Schema.isPattern(new RegExp(pattern, "u"), { toJsonSchema: () => ({ pattern, maxLength }) })
  )
}

/** The id of a workspace. */
export const WorkspaceId = shape("ws").pipe(Schema.brand("WorkspaceId"))
export type WorkspaceId = typeof WorkspaceId.Type

/** The id of a person. */
export const UserId = shape("usr").pipe(Schema.brand("UserId"))
export type UserId = typeof UserId.Type

/** The id of an API key. */
export const ApiKeyId = shape("key").pipe(Schema.brand("ApiKeyId"))
export type ApiKeyId = typeof ApiKeyId.Type

/** The id of a message. */
export const MessageId = shape("msg").pipe(Schema.brand("MessageId"))
export type MessageId = typeof MessageId.Type

/** The id of a phone number. */
export const PhoneNumberId = shape("pn").pipe(Schema.brand("PhoneNumberId"))
export type PhoneNumberId = typeof PhoneNumberId.Type

/** The id of a template. */
export const TemplateId = shape("tpl").pipe(Schema.brand("TemplateId"))
export type TemplateId = typeof TemplateId.Type

/** The id of an event. */
export const EventId = shape("evt").pipe(Schema.brand("EventId"))
export type EventId = typeof EventId.Type

/** The id of a webhook. */
export const WebhookId = shape("whk").pipe(Schema.brand("WebhookId"))
export type WebhookId = typeof WebhookId.Type

/** The id of a delivery. */
export const DeliveryId = shape("dlv").pipe(Schema.brand("DeliveryId"))
export type DeliveryId = typeof DeliveryId.Type

/** The id of an attempt. */
export const AttemptId = shape("att").pipe(Schema.brand("AttemptId"))
export type AttemptId = typeof AttemptId.Type

/** The id of a request. */
export const RequestId = shape("req").pipe(Schema.brand("RequestId"))
export type RequestId = typeof RequestId.Type

/** The id of a replay job. */
export const ReplayId = shape("job").pipe(Schema.brand("ReplayId"))
export type ReplayId = typeof ReplayId.Type

/** The id of an invitation. */
export const InvitationId = shape("inv").pipe(Schema.brand("InvitationId"))
export type InvitationId = typeof InvitationId.Type

/** The id of a dashboard session. */
export const SessionId = shape("ses").pipe(Schema.brand("SessionId"))
export type SessionId = typeof SessionId.Type

/** The id of an audit entry. */
export const AuditId = shape("aud").pipe(Schema.brand("AuditId"))
export type AuditId = typeof AuditId.Type

/** The id of an alert. */
export const AlertId = shape("alr").pipe(Schema.brand("AlertId"))
export type AlertId = typeof AlertId.Type

/** The id of a campaign. */
export const CampaignId = shape("cmp").pipe(Schema.brand("CampaignId"))
export type CampaignId = typeof CampaignId.Type

/** The id of a passkey. */
export const PasskeyId = shape("psk").pipe(Schema.brand("PasskeyId"))
export type PasskeyId = typeof PasskeyId.Type

/** The id of a file. */
export const MediaId = shape("med").pipe(Schema.brand("MediaId"))
export type MediaId = typeof MediaId.Type

/** The identifier type for each prefix. */
export interface ByPrefix {
  readonly ws: WorkspaceId
  readonly usr: UserId
  readonly key: ApiKeyId
  readonly msg: MessageId
  readonly pn: PhoneNumberId
  readonly tpl: TemplateId
  readonly evt: EventId
  readonly whk: WebhookId
  readonly dlv: DeliveryId
  readonly att: AttemptId
  readonly req: RequestId
  readonly job: ReplayId
  readonly inv: InvitationId
  readonly ses: SessionId
  readonly aud: AuditId
  readonly alr: AlertId
  readonly cmp: CampaignId
  readonly med: MediaId
  readonly psk: PasskeyId
}

/** Parses text as an identifier; `none` if the text is not one. */
export const parse = <Id extends string>(schema: Schema.Codec<Id, string>, text: string): Option.Option<Id> =>
  Schema.decodeOption(schema)(text)

/** Creates an identifier from the clock and secure randomness. Identifiers of one process sort in creation order. */
export const generate = <Prefix extends keyof ByPrefix>(
  random: SecureRandom.SecureRandom["Service"],
  prefix: Prefix
): Effect.Effect<ByPrefix[Prefix]> => Effect.map(random.ulid, (ulid) => `${prefix}_${ulid}` as ByPrefix[Prefix])

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
const ulidTimeLength = 10
const ulidRandomLength = 16
const latestUlidTime = 2 ** 48 - 1

/** When an identifier was created, in milliseconds since the Unix epoch. */
export const timeOf = (id: ByPrefix[keyof ByPrefix]): number => {
  const ulid = id.slice(id.indexOf("_") + 1)
  let time = 0
  for (const digit of ulid.slice(0, ulidTimeLength)) time = time * crockford.length + crockford.indexOf(digit)
  return time
}

/** Text that every identifier sorts below. */
export const highest = (prefix: keyof ByPrefix): string => `${prefix}_${"Z".repeat(ulidTimeLength + ulidRandomLength)}`

/** The lowest identifier for a time in milliseconds. Every identifier created before that time sorts below it. */
export const lowestAt = (prefix: keyof ByPrefix, time: number): string => {
  let left = Math.min(Math.max(0, time), latestUlidTime)
  let digits = ""
  for (let i = 0; i < ulidTimeLength; i++) {
    digits = crockford[left % crockford.length]! + digits
    left = Math.floor(left / crockford.length)
  }
  return `${prefix}_${digits}${"0".repeat(ulidRandomLength)}`
}
