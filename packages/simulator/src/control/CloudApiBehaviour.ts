/**
 * The behaviour of the simulated Cloud API towards a recipient. Some numbers have a fixed behaviour; a test can set
 * others'.
 */
import { Schema } from "effect"
import * as Faults from "./CloudApiFaults.ts"

/** The fate of messages for one recipient; an omitted field changes nothing. */
export const Behaviour = Schema.Struct({
  /** The call is refused; with `times`, only the first calls for each message. */
  refuse: Schema.optionalKey(Schema.Struct({
    code: Schema.Int,
    details: Schema.optionalKey(Schema.String),
    http: Schema.optionalKey(Schema.Int),
    transient: Schema.optionalKey(Schema.Boolean),
    times: Schema.optionalKey(Schema.Int)
  })),
  /** The call gets this fault. */
  fault: Schema.optionalKey(Faults.Fault),
  /** The message is accepted and fails later; with `afterSent`, after it was reported as sent. */
  fail: Schema.optionalKey(Schema.Struct({
    code: Schema.Int,
    details: Schema.optionalKey(Schema.String),
    afterSent: Schema.optionalKey(Schema.Boolean)
  })),
  /** The last status that is reported. */
  until: Schema.optionalKey(Schema.Literals(["accepted", "sent", "delivered", "read"])),
  /** Templates are held for a quality assessment, and then sent, or dropped with 132015. */
  held: Schema.optionalKey(Schema.Literals(["released", "dropped"])),
  /** Each status is reported twice, the last one first. */
  disorderly: Schema.optionalKey(Schema.Boolean),
  /** The customer replies, `after` milliseconds after the message was accepted. */
  replies: Schema.optionalKey(Schema.Struct({ text: Schema.String, after: Schema.Int }))
})
/** One value of the schema of the same name. */
export type Behaviour = typeof Behaviour.Type

/** Delivered and read. */
export const ordinary: Behaviour = {}

/** The delay of a reply, in milliseconds. */
const replyAfter = 1000

/** Numbers with a fixed behaviour, each with a description. */
export const numbers: { readonly [digits: string]: readonly [words: string, behaviour: Behaviour] } = {
  15005550001: ["refused: 131009, not a valid number", { refuse: { code: 131009, details: "Invalid phone number" } }],
  15005550002: ["accepted, then failed: 131026, undeliverable", { fail: { code: 131026 } }],
  15005550003: ["accepted, then failed: 131047, outside the window", { fail: { code: 131047 } }],
  15005550004: ["accepted, then failed: 131050, opted out of marketing", { fail: { code: 131050 } }],
  15005550005: ["sent, never delivered", { until: "sent" }],
  15005550006: ["delivered and read", ordinary],
  15005550007: ["each status reported twice, out of order", { disorderly: true }],
  15005550008: ["the first two calls for a message refused: 130429", { refuse: { code: 130429, times: 2 } }],
  15005550009: ["refused: 131056, the pair's rate", { refuse: { code: 131056 } }],
  15005550010: ["delivered, but the call gets no response", { fault: { kind: "hang_after" } }],
  15005550011: ["delivered and read; replies STOP", { replies: { text: "STOP", after: replyAfter } }],
  15005550012: ["delivered and read; replies with text", {
    replies: { text: "Thank you, olá! 👋", after: replyAfter }
  }],
  15005550013: ["templates held, then dropped: 132015", { held: "dropped" }],
  15005550014: ["accepted, then failed: 131049, healthy ecosystem", { fail: { code: 131049 } }],
  15005550015: ["accepted, then failed: 130472, an experiment", { fail: { code: 130472 } }]
}
