/**
 * Faults of the simulated Cloud API: for the next calls, for a recipient, or at random by a rate and the seed.
 */
import { Schema } from "effect"
import type { Dice } from "./CloudApiDice.ts"

/** Each name says when the fault happens. Only after those with "before" the message was certainly not processed. */
const kinds = [
  /** The connection breaks after the headers of the call, before its body is read. */
  "close_before_reading",
  /** The connection breaks after the call is read. It is not processed. */
  "reset_before",
  /** The call is processed. The connection breaks without a response. */
  "reset_after",
  /** The call is read. It gets no response and is not processed. */
  "hang_before",
  /** The call is processed and gets no response. */
  "hang_after",
  /** The response is a page of HTML with a status of 5xx. The call is not processed. */
  "html_before",
  /** The call is processed. The response is a page of HTML with a status of 5xx. */
  "html_after",
  /** The call is processed and answered only `after` a delay, when its caller may be gone. */
  "late",
  /** The call is processed. The connection breaks within the response. */
  "cut_answer",
  /** The call is processed. The response arrives byte by byte. */
  "trickle",
  /** The call is processed. The JSON of the response is cut off. */
  "truncated_json",
  /** The call is processed. The response contains megabytes of white space. */
  "huge_body",
  /** The call is processed. The response has no body. */
  "empty_body",
  /** The response is a documented error. The call is not processed. */
  "error"
] as const
export type Kind = typeof kinds[number]

const unprocessed: ReadonlySet<Kind> = new Set(
  ["close_before_reading", "reset_before", "hang_before", "html_before", "error"]
)

/** Whether a call with this fault is processed. */
export const processes = (kind: Kind): boolean => !unprocessed.has(kind)

/** A fault of one call. */
export const Fault = Schema.Struct({
  kind: Schema.Literals(kinds),
  /** The HTTP status of `html_…` (default 502) and of `error` (default: as documented). */
  http: Schema.optionalKey(Schema.Int),
  /** The code of `error`. Default 131000. */
  code: Schema.optionalKey(Schema.Int),
  details: Schema.optionalKey(Schema.String),
  /** The `is_transient` of `error`. By default, the error has no such field. */
  transient: Schema.optionalKey(Schema.Boolean),
  /** After how many minutes access returns, by the usage header of `error`. Default 0. */
  regain: Schema.optionalKey(Schema.Int),
  /** The size of `huge_body` in bytes. Default 8 MiB. */
  bytes: Schema.optionalKey(Schema.Int),
  /** The delay of `late`, in milliseconds of the simulator's clock. Default 10,000. */
  after: Schema.optionalKey(Schema.Int),
  /** The interval between two bytes of `trickle`, in real milliseconds. Default 50. */
  every: Schema.optionalKey(Schema.Int)
})
/** One value of the schema of the same name. */
export type Fault = typeof Fault.Type

/**
 * One fault of each kind, and an error of each outcome: long runs draw from these at random. The late response comes
 * after such a run has given up.
 */
export const ofEveryKind: readonly [Fault, ...ReadonlyArray<Fault>] = [
  { kind: "close_before_reading" },
  { kind: "reset_before" },
  { kind: "reset_after" },
  { kind: "hang_before" },
  { kind: "hang_after" },
  { kind: "html_before", http: 503 },
  { kind: "html_after", http: 502 },
  { kind: "late", after: 1_000 },
  { kind: "cut_answer" },
  { kind: "trickle", every: 5 },
  { kind: "truncated_json" },
  { kind: "huge_body" },
  { kind: "empty_body" },
  { kind: "error", code: 131016 },
  { kind: "error", code: 131000 },
  { kind: "error", code: 130429 },
  { kind: "error", code: 131026 },
  { kind: "error", code: 999_999 },
  { kind: "error", code: 999_999, http: 429 },
  { kind: "error", code: 999_999, http: 500 }
]

/** The calls that scripted and random faults affect. */
const Target = Schema.Literals(["messages", "reads", "all"])
type Target = typeof Target.Type

/** Faults to add. */
export const Plan = Schema.Struct({
  /** For the next calls, one each. Null: no fault for that call. */
  next: Schema.optionalKey(Schema.Array(Schema.NullOr(Fault))),
  /** For the next `times` calls for each of these recipients (E.164); without `times`, for all of them. */
  recipients: Schema.optionalKey(Schema.Array(Schema.Struct({
    to: Schema.String,
    fault: Fault,
    times: Schema.optionalKey(Schema.Int)
  }))),
  /** At this rate, one of these kinds; by default any but `error`. Null: no random faults. */
  random: Schema.optionalKey(Schema.NullOr(Schema.Struct({
    rate: Schema.Finite,
    faults: Schema.optionalKey(Schema.NonEmptyArray(Fault))
  }))),
  /** The calls that `next` and `random` affect; sends by default. */
  target: Schema.optionalKey(Target)
})
export type Plan = typeof Plan.Type

interface Call {
  readonly kind: "messages" | "reads"
  /** The recipient as keyed by {@link make}'s `keyOf`. */
  readonly recipient: string | undefined
  /** The input of random results besides the seed: the message's reference and the number of its call. */
  readonly name: ReadonlyArray<string | number>
}

export interface Faults {
  readonly plan: (plan: Plan) => void
  readonly clear: () => void
  /** Whether to break the connection before the body is read. Uses up that scripted fault. */
  readonly breaksUnread: (kind: Call["kind"]) => boolean
  /** The fault of this call, if any. */
  readonly next: (call: Call) => Fault | undefined
}

const anyKind: ReadonlyArray<Fault> = kinds.filter((kind) => kind !== "error").map((kind) => ({ kind }))

export const make = (dice: Dice, keyOf: (to: string) => string): Faults => {
  let script: Array<Fault | null> = []
  let random: Plan["random"] = null
  let target: Target = "messages"
  const recipients = new Map<string, { readonly fault: Fault; left: number }>()

  const concerns = (kind: Call["kind"]) => target === "all" || target === kind

  return {
    plan: (plan) => {
      if (plan.target !== undefined) target = plan.target
      if (plan.next !== undefined) script.push(...plan.next)
      if (plan.random !== undefined) random = plan.random
      for (const { fault, times, to } of plan.recipients ?? []) {
        recipients.set(keyOf(to), { fault, left: times ?? Infinity })
      }
    },
    clear: () => {
      script = []
      random = null
      target = "messages"
      recipients.clear()
    },
    breaksUnread: (kind) => {
      if (!concerns(kind) || script[0]?.kind !== "close_before_reading") return false
      script.shift()
      return true
    },
    next: (call) => {
      if (concerns(call.kind) && script.length > 0) return script.shift() ?? undefined
      const own = call.recipient === undefined ? undefined : recipients.get(call.recipient)
      if (own !== undefined && own.left > 0) {
        own.left--
        return own.fault
      }
      if (random == null || !concerns(call.kind) || !dice.hits(random.rate, "fault", ...call.name)) return undefined
      return dice.for("kind", ...call.name).pick(random.faults ?? anyKind)
    }
  }
}
