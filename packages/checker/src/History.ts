/**
 * A history of a messaging service: what callers, the provider and the receivers of a run saw. It is JSONL: the first
 * line is a {@link Header}, and each further line is one {@link Entry}, in any order. The README describes the format
 * for recorders.
 *
 * Times are milliseconds since 1970 (UTC). `begun` is before the first effect that the entry can have had, `ended`
 * after its last one, or `null` if the recorder never saw an end: the caller got no answer, or a process was killed.
 */
import { isRecord } from "./Json.ts"

/** The first line of a history. */
export interface Header {
  readonly format: "wac-history"
  readonly version: 1
  /** By how many milliseconds the clocks of the recording processes and of the service may differ; 0 if absent. */
  readonly clock_error?: number
  /**
   * From when on nothing was in progress: all queues were empty, and all deadlines were over. `null` or absent for a
   * run that was cut off: missing events and deliveries are then not judged.
   */
  readonly settled_at?: number | null
}

interface Timed {
  readonly begun: number
  readonly ended: number | null
  /** The process that did it, for people to read. */
  readonly process: string
}

/** `POST /v1/messages`. If a key occurs in a history, all sends of its workspace with that key do. */
export interface Send extends Timed {
  readonly kind: "send"
  readonly workspace: string
  /** The Idempotency-Key, unquoted. */
  readonly key: string
  /** The JSON that was sent. */
  readonly body: unknown
  /** Whether `Prefer: respond-async` asked to queue the message; left out if not. */
  readonly respond_async?: boolean
  /** The status of the response; `null` if none came. */
  readonly status: number | null
  /** The body of the response, byte for byte; `null` if none came. */
  readonly answer: string | null
  /** Whether the response has `Idempotent-Replayed: true`. */
  readonly replayed: boolean
}

/** `DELETE /v1/messages/{id}`. */
export interface Cancel extends Timed {
  readonly kind: "cancel"
  readonly message_id: string
  readonly status: number | null
}

/** `GET /v1/messages/{id}`, answered with 200. */
export interface Read extends Timed {
  readonly kind: "read"
  readonly message_id: string
  readonly status: string
}

/** A call, as the provider saw it. If a message occurs in a history, all calls for it do. */
export interface ProviderCall extends Timed {
  readonly kind: "provider_call"
  readonly message_id: string
  /** `not_sent`: the caller learns that the message was certainly not sent. `unknown`: the caller may learn nothing. */
  readonly outcome: "accepted" | "refused" | "not_sent" | "unknown"
  readonly provider_message_id?: string
  /** The workspace that sent it. Without it, the call is not counted against a quota. */
  readonly workspace?: string
  /** The workspace's phone number that it is sent from. */
  readonly from?: string
  /** The name by which the customer is addressed. Without it, neither opt-outs nor windows are judged. */
  readonly to?: string
  /** `template`, or the kind of a free-form message. */
  readonly type?: string
  /** The category of its template, such as `marketing`. */
  readonly category?: string
  /** The campaign that it belongs to. */
  readonly campaign?: string
}

/**
 * A status report of the provider. `ended` is when the service acknowledged it. If a campaign's message occurs in a
 * history, all reports of it do.
 */
export interface Report extends Timed {
  readonly kind: "report"
  readonly message_id: string
  readonly status: "sent" | "delivered" | "read" | "failed"
}

/** A choice of a customer about messages. */
export type Preference = "opt_out" | "opt_in"

/**
 * A report of the provider that these names belong to one customer. `ended` is when the service acknowledged it. Names
 * that the service had joined before the run, and written forms of one line, need an entry too: from the beginning.
 */
export interface CustomerNames extends Timed {
  readonly kind: "customer"
  readonly names: ReadonlyArray<string>
}

/**
 * A customer's message, as the provider reported it. `ended` is when the service had applied it; a service that
 * acknowledges posts first has applied it once `message.received` is listed.
 */
export interface Received extends Timed {
  readonly kind: "received"
  /** The provider's id of the message. Without it, the message's event is not judged. */
  readonly provider_message_id?: string
  readonly from: string
  /** The workspace's phone number. */
  readonly to: string
  /** The message's own time. */
  readonly at: number
  /** Present if the message is a word by which customers opt out or in. */
  readonly preference?: Preference
}

/**
 * `PUT` or `DELETE /v1/contacts/{name}/opt-out`. An opt-out or opt-in from any other source but a {@link Received} is
 * such an entry with status 200 too: one of a person, an import, the provider, or from before the run.
 */
export interface PreferenceSet extends Timed {
  readonly kind: "preference"
  readonly name: string
  readonly preference: Preference
  /** The workspace's phone number that the preference is for; all numbers if absent. */
  readonly phone_number?: string
  readonly status: number | null
}

/** A workspace's quota was set: `messages` in a calendar month (UTC), `null` for no limit. */
export interface QuotaSet extends Timed {
  readonly kind: "quota"
  readonly workspace: string
  readonly messages: number | null
}

/**
 * `PUT /v1/campaigns/{id}/recipients` that adds rows, which a campaign counts once it has checked them. Leave out an
 * upload whose rows another one replaced (`?replace=true`).
 */
export interface RecipientsUpload extends Timed {
  readonly kind: "recipients"
  readonly campaign: string
  /**
   * The names in the rows that the check accepts, or leaves out as duplicates or as opted out. A row with another
   * problem is not among them.
   */
  readonly to: ReadonlyArray<string>
  readonly status: number | null
}

/** A request that changes what a campaign does. A repeat with the same idempotency key begins when the first did. */
export interface CampaignChange extends Timed {
  readonly kind: "campaign_change"
  readonly campaign: string
  readonly change: "start" | "pause" | "resume" | "cancel"
  readonly status: number | null
}

/** `GET /v1/campaigns/{id}`, answered with 200. */
export interface CampaignRead extends Timed {
  readonly kind: "campaign"
  readonly campaign: string
  readonly status: string
  /**
   * The end that was asked for, in milliseconds since 1970 (UTC), after which nothing is sent; `null` or absent if it is
   * not judged. The latest of all reads counts, so each end that the campaign is given needs its read.
   */
  readonly not_after?: number | null
  readonly counts: Readonly<Record<string, number>>
}

/** The first use of a durable subscription's name. `event_types` is absent if it gets all. */
export interface Subscribed extends Timed {
  readonly kind: "subscription"
  readonly subscription: string
  readonly event_types?: ReadonlyArray<string>
}

/** A call of a subscription's handler. If a subscription occurs in a history, all its calls do. */
export interface HandlerCall extends Timed {
  readonly kind: "handled"
  readonly subscription: string
  readonly event_id: string
  /** Whether the handler succeeded. */
  readonly ok: boolean
  /** The number of the attempt as the handler received it, from 1. If absent, it is not judged. */
  readonly attempt?: number
}

/** An event that a subscription has set aside. */
export interface SetAside extends Timed {
  readonly kind: "set_aside"
  readonly subscription: string
  readonly event_id: string
}

/** An event as `GET /v1/events` lists it. */
export interface ListedEvent extends Timed {
  readonly kind: "event"
  readonly event: {
    readonly id: string
    readonly type: string
    readonly created_at: string
    readonly data: Readonly<Record<string, unknown>>
  }
}

/** A webhook that was set. `event_types` is absent if it gets all. */
export interface WebhookSet extends Timed {
  readonly kind: "webhook"
  readonly webhook: string
  readonly event_types?: ReadonlyArray<string>
}

/** An attempt, as the receiver saw it. If a webhook occurs in a history, all attempts to it do. */
export interface Attempt extends Timed {
  readonly kind: "attempt"
  readonly webhook: string
  readonly event_id: string
  /** The raw body. */
  readonly body: string
  /** The status with which the receiver responded; `null` if it did not. */
  readonly status: number | null
  /** Whether the signature was right. */
  readonly genuine: boolean
}

/** A delivery that is over, or held by a paused webhook, without the receiver's 200. */
export interface DeliveryEnd extends Timed {
  readonly kind: "delivery_end"
  readonly webhook: string
  readonly event_id: string
  readonly status: "exhausted" | "skipped" | "held"
}

/** One line of a history after its first. */
export type Entry =
  | Send
  | Cancel
  | Read
  | ProviderCall
  | Report
  | CustomerNames
  | Received
  | PreferenceSet
  | QuotaSet
  | RecipientsUpload
  | CampaignChange
  | CampaignRead
  | Subscribed
  | HandlerCall
  | SetAside
  | ListedEvent
  | WebhookSet
  | Attempt
  | DeliveryEnd

/** A whole history. */
export interface History {
  readonly header: Header
  readonly entries: ReadonlyArray<Entry>
}

/** A text that is not a history: {@link HistoryError.line} is the first wrong line, from 1. */
export class HistoryError extends Error {
  override readonly name = "HistoryError"
  readonly line: number
  constructor(line: number, problem: string) {
    super(`line ${line}: ${problem}`)
    this.line = line
  }
}

type Test = (value: unknown) => boolean

const isText: Test = (value) => typeof value === "string"
const isTime: Test = (value) => typeof value === "number" && Number.isFinite(value)
const isBoolean: Test = (value) => typeof value === "boolean"
const isAbsent: Test = (value) => value === undefined
const orNull = (test: Test): Test => (value) => value === null || test(value)
const either = (...tests: ReadonlyArray<Test>): Test => (value) => tests.some((test) => test(value))
const oneOf = (...values: ReadonlyArray<unknown>): Test => (value) => values.includes(value)

/** Tests of an interface's fields. A field without a test does not compile. */
type Tests<Fields, Tested extends PropertyKey = never> = {
  readonly [Field in Exclude<keyof Fields, Tested>]-?: Test
}

const isPreference = oneOf("opt_out", "opt_in")
const texts: Test = (value) => Array.isArray(value) && value.every(isText)
const optional = (test: Test): Test => either(isAbsent, test)

const fields: {
  readonly [Kind in Entry["kind"]]: Tests<Extract<Entry, { readonly kind: Kind }>, keyof Timed | "kind">
} = {
  send: {
    workspace: isText,
    key: isText,
    body: (value) => value !== undefined,
    respond_async: optional(isBoolean),
    status: orNull(isTime),
    answer: orNull(isText),
    replayed: isBoolean
  },
  cancel: { message_id: isText, status: orNull(isTime) },
  read: { message_id: isText, status: isText },
  provider_call: {
    message_id: isText,
    outcome: oneOf("accepted", "refused", "not_sent", "unknown"),
    provider_message_id: optional(isText),
    workspace: optional(isText),
    from: optional(isText),
    to: optional(isText),
    type: optional(isText),
    category: optional(isText),
    campaign: optional(isText)
  },
  report: { message_id: isText, status: oneOf("sent", "delivered", "read", "failed") },
  customer: { names: texts },
  received: {
    provider_message_id: optional(isText),
    from: isText,
    to: isText,
    at: isTime,
    preference: optional(isPreference)
  },
  preference: { name: isText, preference: isPreference, phone_number: optional(isText), status: orNull(isTime) },
  quota: { workspace: isText, messages: orNull(isTime) },
  recipients: { campaign: isText, to: texts, status: orNull(isTime) },
  campaign_change: {
    campaign: isText,
    change: oneOf("start", "pause", "resume", "cancel"),
    status: orNull(isTime)
  },
  campaign: {
    campaign: isText,
    status: isText,
    not_after: optional(orNull(isTime)),
    counts: (value) => isRecord(value) && Object.values(value).every(isTime)
  },
  subscription: { subscription: isText, event_types: optional(texts) },
  handled: { subscription: isText, event_id: isText, ok: isBoolean, attempt: optional(isTime) },
  set_aside: { subscription: isText, event_id: isText },
  event: {
    event: (value) =>
      isRecord(value) && isText(value["id"]) && isText(value["type"]) && isRecord(value["data"]) &&
      isText(value["created_at"]) && isTime(Date.parse(String(value["created_at"])))
  },
  webhook: {
    webhook: isText,
    event_types: optional(texts)
  },
  attempt: { webhook: isText, event_id: isText, body: isText, status: orNull(isTime), genuine: isBoolean },
  delivery_end: { webhook: isText, event_id: isText, status: oneOf("exhausted", "skipped", "held") }
}

const timed: Tests<Timed> = { begun: isTime, ended: orNull(isTime), process: isText }

const header: Tests<Header> = {
  format: oneOf("wac-history"),
  version: oneOf(1),
  clock_error: optional(isTime),
  settled_at: optional(orNull(isTime))
}

const parseLine = (line: string, number: number): Readonly<Record<string, unknown>> => {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    throw new HistoryError(number, "not JSON")
  }
  if (!isRecord(value)) throw new HistoryError(number, "not an object")
  return value
}

const assertFields = (
  value: Readonly<Record<string, unknown>>,
  tests: Readonly<Record<string, Test>>,
  number: number
): void => {
  for (const [name, test] of Object.entries(tests)) {
    if (!test(value[name])) throw new HistoryError(number, `${name} is missing or invalid`)
  }
}

/** Reads a history. Unknown fields are ignored. Throws a {@link HistoryError} for the first line that is wrong. */
export const parse = (text: string): History => {
  const lines = text.split("\n").map((line, index) => [line, index + 1] as const).filter(([line]) => line.trim() !== "")
  const [first, ...rest] = lines
  if (first === undefined) throw new HistoryError(1, "the header is missing")
  const head = parseLine(...first)
  assertFields(head, header, first[1])
  const entries = rest.map(([line, number]) => {
    const value = parseLine(line, number)
    const kind = String(value["kind"])
    if (!Object.hasOwn(fields, kind)) throw new HistoryError(number, `the kind ${kind} is unknown`)
    assertFields(value, timed, number)
    assertFields(value, fields[kind as Entry["kind"]], number)
    if (value["ended"] !== null && Number(value["ended"]) < Number(value["begun"])) {
      throw new HistoryError(number, "ended is before begun")
    }
    return value as unknown as Entry
  })
  return { header: head as unknown as Header, entries }
}

/** The text of a history, which {@link parse} reads. */
export const print = ({ entries, header }: History): string =>
  [header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join("")
