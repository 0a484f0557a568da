/**
 * How the sandbox behaves, by the recipient's number or user id (contract §8): its response to a send, and its later
 * reports. Pure.
 */
import { type Addressee, type E164, Errors, type Message, type Provider } from "@wac/core"
import { Duration } from "effect"

/** The numbers with a behaviour of their own. */
export const numbers = {
  undeliverable: "+15005550001",
  failing: "+15005550002",
  silent: "+15005550003",
  throttled: "+15005550004",
  unavailable: "+15005550005",
  outcomeUnknown: "+15005550006",
  disorderly: "+15005550007",
  replying: "+15005550008",
  stopping: "+15005550009",
  slow: "+15005550010",
  pressing: "+15005550011",
  picturing: "+15005550012"
} as const satisfies Record<string, E164.E164>

/** One reported item, before it has a message and a time. */
export type ReportedItem =
  | { readonly _tag: "Status"; readonly status: Exclude<Message.Report["status"], "failed"> }
  | { readonly _tag: "Failure"; readonly error: Message.MessageError }
  /** A text that the recipient sends back. */
  | { readonly _tag: "Reply"; readonly text: string }
  /** The recipient sends a picture. */
  | { readonly _tag: "Picture" }
  /** The recipient taps on the first choice in the message, or replies with text if there is none. */
  | { readonly _tag: "Press" }

/** Items that are reported together, `after` the response. */
export interface ReportBatch {
  readonly after: Duration.Duration
  readonly items: ReadonlyArray<ReportedItem>
}

/** The behaviour towards a send. */
export interface Behaviour {
  /** How long the response takes. Defaults to none. */
  readonly answerAfter?: Duration.Duration
  /** The response, without the id that an accepted message gets. */
  readonly outcome: { readonly _tag: "Accepted" } | Exclude<Provider.ProviderOutcome, { readonly _tag: "Accepted" }>
  /** Later reports, earliest first. */
  readonly reports: ReadonlyArray<ReportBatch>
}

const accepted: Behaviour["outcome"] = { _tag: "Accepted" }

const told = (status: Extract<ReportedItem, { readonly _tag: "Status" }>["status"]): ReportedItem => ({
  _tag: "Status",
  status
})

const after = (millis: number, ...items: ReadonlyArray<ReportedItem>): ReportBatch => ({
  after: Duration.millis(millis),
  items
})

const ordinary: Behaviour = { outcome: accepted, reports: [after(200, told("delivered")), after(400, told("read"))] }

const replying = (text: string): Behaviour => ({
  outcome: accepted,
  reports: [after(200, told("delivered"), { _tag: "Reply", text }), after(400, told("read"))]
})

const undeliverable = {
  message: "the recipient cannot be reached",
  provider: { code: "131026", message: "Message undeliverable" }
}

/** The outcome if the provider limits the rate of sends. */
export const throttled = (): Provider.ProviderOutcome => ({
  _tag: "NotSent",
  error: new Errors.RateLimited({
    reason: "provider",
    retryAfter: Duration.seconds(1),
    message: "the provider accepts no more messages at the moment",
    provider: { code: "130429", message: "Rate limit hit" }
  })
})

/** The outcome if the provider is unavailable. */
export const unavailable = (): Provider.ProviderOutcome => ({
  _tag: "NotSent",
  error: new Errors.ServerError({
    reason: "provider_unavailable",
    message: "the provider is not available at the moment",
    provider: { code: "131016", message: "Service unavailable" }
  })
})

const special: Readonly<Record<keyof typeof numbers, () => Behaviour>> = {
  undeliverable: () => ({
    outcome: {
      _tag: "Refused",
      error: new Errors.InvalidBody({ ...undeliverable, reason: "undeliverable", param: "to" })
    },
    reports: []
  }),
  failing: () => ({
    outcome: accepted,
    reports: [
      after(200, { _tag: "Failure", error: { ...undeliverable, code: "invalid_body", reason: "undeliverable" } })
    ]
  }),
  silent: () => ({ outcome: accepted, reports: [] }),
  throttled: () => ({ outcome: throttled(), reports: [] }),
  unavailable: () => ({ outcome: unavailable(), reports: [] }),
  outcomeUnknown: () => ({ outcome: { _tag: "Unknown" }, reports: [after(2000, told("delivered"))] }),
  disorderly: () => ({
    outcome: accepted,
    reports: [
      after(100, told("read")),
      after(200, told("sent")),
      after(300, told("delivered"), told("delivered")),
      after(400, told("read")),
      after(500, told("delivered"), told("sent")),
      after(600, told("read"))
    ]
  }),
  replying: () => replying("Thank you, got it!"),
  stopping: () => replying("STOP"),
  pressing: () => ({
    outcome: accepted,
    reports: [after(200, told("delivered"), { _tag: "Press" }), after(400, told("read"))]
  }),
  picturing: () => ({
    outcome: accepted,
    reports: [after(200, told("delivered"), { _tag: "Picture" }), after(400, told("read"))]
  }),
  slow: () => ({ ...ordinary, answerAfter: Duration.seconds(3) })
}

const byNumber: ReadonlyMap<E164.E164, () => Behaviour> = new Map(
  (Object.keys(numbers) as Array<keyof typeof numbers>).map((name) => [numbers[name], special[name]])
)

/**
 * The behaviour of a recipient. A user id with the digits of one of {@link numbers}, such as `US.15005550008`, behaves
 * as that number. Any other recipient receives and reads the message.
 */
export const of = (to: Addressee.Addressee): Behaviour =>
  byNumber.get(to.replace(/^[A-Z]{2}\.(ENT\.)?/, "+"))?.() ?? ordinary
