/**
 * What goes wrong on the wire of the simulated Cloud API, and when: by a script for the next calls, by recipient, or
 * at random by a rate and the seed.
 */
import { Schema } from "effect"
import type { Dice } from "./CloudApiDice.ts"

/** Each says at which point of a call it strikes; only those "before" leave the message unprocessed for certain. */
const kinds = [
  /** The connection breaks once the head of the call is there, before its body is read. */
  "close_before_reading",
  /** The whole call is read; then the connection breaks. */
  "reset_before",
  /** The call is carried out; then the connection breaks without an answer. */
  "reset_after",
  /** Read, and never answered nor carried out. */
  "hang_before",
  /** Carried out, and never answered. */
  "hang_after",
  /** A page of HTML with a 5xx instead of the call being carried out. */
  "html_before",
  /** A page of HTML with a 5xx after the call was carried out. */
  "html_after",
  /** Carried out, and answered, only `after` a while, which the caller may not wait for. */
  "late",
  /** Carried out, the connection breaks in the midst of the answer. */
  "cut_answer",
  /** Carried out, the answer comes byte by byte. */
  "trickle",
  /** Carried out, the JSON of the answer ends half-way. */
  "truncated_json",
  /** Carried out, the answer is drowned in white space. */
  "huge_body",
  /** Carried out, the answer has no body. */
  "empty_body",
  /** An error of the documented shape instead of the call being carried out. */
  "error"
] as const
export type Kind = typeof kinds[number]

const unprocessed: ReadonlySet<Kind> = new Set(
  ["close_before_reading", "reset_before", "hang_before", "html_before", "error"]
)

/** Whether a call is carried out in spite of this fault. */
export const processes = (kind: Kind): boolean => !unprocessed.has(kind)

/** How one call goes wrong, on the wire or by its answer. */
export const Fault = Schema.Struct({
  kind: Schema.Literals(kinds),
  /** The HTTP status of `html_…` (502) and of `error` (as documented). */
  http: Schema.optionalKey(Schema.Int),
  /** The code of `error` (131000). */
  code: Schema.optionalKey(Schema.Int),
  details: Schema.optionalKey(Schema.String),
  /** In how many minutes the usage header of `error` says that access is regained (0). */
  regain: Schema.optionalKey(Schema.Int),
  /** How big `huge_body` is (8 MiB). */
  bytes: Schema.optionalKey(Schema.Int),
  /** How long `late` waits, in milliseconds of the clock (10,000). */
  after: Schema.optionalKey(Schema.Int),
  /** How often `trickle` sends a byte, in real milliseconds (50). */
  every: Schema.optionalKey(Schema.Int)
})
/** One value of the schema of the same name. */
export type Fault = typeof Fault.Type

/**
 * The wire breaking in every way, and errors of every outcome: what long runs draw from. What comes late takes longer than
 * such a run waits.
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
  { kind: "error", code: 999_999, http: 500 }
]

/** Which calls faults by script and at random are for. */
const Target = Schema.Literals(["messages", "reads", "all"])
type Target = typeof Target.Type

/** A change of what goes wrong. */
export const Plan = Schema.Struct({
  /** For the next calls, one each; null lets a call be. */
  next: Schema.optionalKey(Schema.Array(Schema.NullOr(Fault))),
  /** For the next `times` calls (every one, if left out) of each of these recipients, in E.164. */
  recipients: Schema.optionalKey(Schema.Array(Schema.Struct({
    to: Schema.String,
    fault: Fault,
    times: Schema.optionalKey(Schema.Int)
  }))),
  /** At this rate, one of these kinds (any but `error`, if left out). Null: nothing at random. */
  random: Schema.optionalKey(Schema.NullOr(Schema.Struct({
    rate: Schema.Finite,
    faults: Schema.optionalKey(Schema.NonEmptyArray(Fault))
  }))),
  /** What `next` and `random` are for: sends, unless told. */
  target: Schema.optionalKey(Target)
})
export type Plan = typeof Plan.Type

interface Call {
  readonly kind: "messages" | "reads"
  /** The recipient as keyed by {@link make}'s `keyOf`. */
  readonly recipient: string | undefined
  /** What chance goes by: the reference of a message and which call of it this is. */
  readonly name: ReadonlyArray<string | number>
}

export interface Faults {
  readonly plan: (plan: Plan) => void
  readonly clear: () => void
  /** Whether the call whose head has come is to be broken unread; takes that from the script. */
  readonly breaksUnread: (kind: Call["kind"]) => boolean
  /** What becomes of this call. */
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
