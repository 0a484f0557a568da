/**
 * Entries of histories, of one message `msg_1` and its event `evt_1` unless a test says otherwise.
 */
import type {
  Attempt,
  CampaignChange,
  CampaignRead,
  Cancel,
  CustomerNames,
  DeliveryEnd,
  Entry,
  HandlerCall,
  Header,
  History,
  ListedEvent,
  PreferenceSet,
  ProviderCall,
  QuotaSet,
  Read,
  Received,
  RecipientsUpload,
  Report,
  Send,
  SetAside,
  Subscribed,
  WebhookSet
} from "../src/History.ts"

const header: Header = { format: "wac-history", version: 1 }

export const history = (...entries: ReadonlyArray<Entry>): History => ({ header, entries })

/** A history whose run came to rest. */
export const settled = (...entries: ReadonlyArray<Entry>): History => ({
  header: { ...header, settled_at: 1000 },
  entries
})

const during = (begun: number, ended: number | null = begun + 1) => ({ begun, ended, process: "p" })

export const answer = (id = "msg_1") =>
  JSON.stringify({ status: "sent", message_id: id, provider_message_id: `up-${id}` })

export const body = { to: "+15550001111", type: "text" }

export const send = (begun: number, fields: Partial<Send> = {}): Send => ({
  kind: "send",
  ...during(begun),
  workspace: "ws",
  key: "k",
  body,
  status: 200,
  answer: answer(),
  replayed: false,
  ...fields
})

export const queue = (begun: number, sendAt: string, fields: Partial<Send> = {}): Send =>
  send(begun, {
    body: { ...body, send_at: sendAt },
    status: 202,
    answer: JSON.stringify({ status: "queued", message_id: "msg_1" }),
    ...fields
  })

export const conflict = (begun: number, other: unknown): Send =>
  send(begun, { body: other, status: 409, answer: JSON.stringify({ error: { code: "idempotency_conflict" } }) })

export const call = (begun: number, fields: Partial<ProviderCall> = {}): ProviderCall => ({
  kind: "provider_call",
  ...during(begun),
  message_id: "msg_1",
  outcome: "accepted",
  ...fields
})

/** A free-form message of `msg_1` to the customer. */
export const text = (begun: number, fields: Partial<ProviderCall> = {}): ProviderCall =>
  call(begun, { from: "+1", to: "+2", type: "text", ...fields })

/** A marketing template to the customer. */
export const marketing = (begun: number, fields: Partial<ProviderCall> = {}): ProviderCall =>
  text(begun, { type: "template", category: "marketing", ...fields })

/** The customer writes. */
export const received = (begun: number, fields: Partial<Received> = {}): Received => ({
  kind: "received",
  ...during(begun),
  from: "+2",
  to: "+1",
  at: begun,
  ...fields
})

/** The customer is opted out or in by the API. */
export const chosen = (
  begun: number,
  preference: PreferenceSet["preference"],
  fields: Partial<PreferenceSet> = {}
): PreferenceSet => ({
  kind: "preference",
  ...during(begun),
  name: "+2",
  preference,
  status: 200,
  ...fields
})

export const told = (begun: number, names: ReadonlyArray<string>, ended: number | null = begun + 1): CustomerNames => ({
  kind: "customer",
  ...during(begun, ended),
  names
})

export const quota = (begun: number, messages: number | null): QuotaSet => ({
  kind: "quota",
  ...during(begun),
  workspace: "ws",
  messages
})

export const changed = (
  begun: number,
  change: CampaignChange["change"],
  fields: Partial<CampaignChange> = {}
): CampaignChange => ({
  kind: "campaign_change",
  ...during(begun),
  campaign: "c",
  change,
  status: 200,
  ...fields
})

export const campaign = (
  begun: number,
  status: string,
  counts: CampaignRead["counts"] = { total: 0 }
): CampaignRead => ({
  kind: "campaign",
  ...during(begun),
  campaign: "c",
  status,
  counts
})

export const uploaded = (
  begun: number,
  to: ReadonlyArray<string>,
  fields: Partial<RecipientsUpload> = {}
): RecipientsUpload => ({
  kind: "recipients",
  ...during(begun),
  campaign: "c",
  to,
  status: 200,
  ...fields
})

export const completed = (id = "evt_c"): ListedEvent => ({
  kind: "event",
  ...during(900),
  event: { id, type: "campaign.completed", created_at: "1970-01-01T00:00:00.100Z", data: { campaign_id: "c" } }
})

export const subscription: Subscribed = { kind: "subscription", ...during(0), subscription: "s" }

export const handled = (begun: number, sequence = 1, ok = true, attempt?: number): HandlerCall => ({
  kind: "handled",
  ...during(begun),
  subscription: "s",
  event_id: `evt_${sequence}`,
  ok,
  ...(attempt === undefined ? {} : { attempt })
})

export const setAside = (begun: number, sequence = 1): SetAside => ({
  kind: "set_aside",
  ...during(begun),
  subscription: "s",
  event_id: `evt_${sequence}`
})

export const report = (begun: number, status: Report["status"], ended: number | null = begun + 1): Report => ({
  kind: "report",
  ...during(begun, ended),
  message_id: "msg_1",
  status
})

export const cancel = (begun: number, status = 200): Cancel => ({
  kind: "cancel",
  ...during(begun),
  message_id: "msg_1",
  status
})

export const read = (begun: number, status: string): Read => ({
  kind: "read",
  ...during(begun),
  message_id: "msg_1",
  status
})

const eventBody = (sequence: number, type: string, data: object = {}) => ({
  id: `evt_${sequence}`,
  type,
  created_at: "1970-01-01T00:00:00.100Z",
  data: { message_id: "msg_1", sequence, ...data }
})

export const event = (sequence: number, type: string, data: object = {}): ListedEvent => ({
  kind: "event",
  ...during(900),
  event: eventBody(sequence, type, data)
})

/** The event of the customer's message `in_1`. */
export const receipt = (id = "evt_in", data: object = {}): ListedEvent => ({
  ...event(1, "message.received"),
  event: {
    ...eventBody(1, "message.received", { message_id: `msg_of_${id}`, provider_message_id: "in_1", ...data }),
    id
  }
})

export const webhook: WebhookSet = { kind: "webhook", ...during(0), webhook: "whk" }

export const attempt = (begun: number, sequence = 1, fields: Partial<Attempt> = {}): Attempt => ({
  kind: "attempt",
  ...during(begun),
  webhook: "whk",
  event_id: `evt_${sequence}`,
  body: JSON.stringify(eventBody(sequence, "message.sent")),
  status: 200,
  genuine: true,
  ...fields
})

export const end = (begun: number, status: DeliveryEnd["status"], sequence = 1): DeliveryEnd => ({
  kind: "delivery_end",
  ...during(begun),
  webhook: "whk",
  event_id: `evt_${sequence}`,
  status
})
