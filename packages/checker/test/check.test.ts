/**
 * Each promise, with the smallest histories that break it and those that just keep it.
 */
import { assert, describe, it } from "vitest"
import { check } from "../src/Check.ts"
import type { Entry, History } from "../src/History.ts"
import { type PromiseName, promises } from "../src/Promises.ts"
import {
  answer,
  attempt,
  body,
  call,
  campaign,
  cancel,
  changed,
  chosen,
  completed,
  conflict,
  end,
  event,
  handled,
  history,
  marketing,
  queue,
  quota,
  read,
  receipt,
  received,
  report,
  send,
  setAside,
  settled,
  subscription,
  text,
  told,
  uploaded,
  webhook
} from "./entries.ts"

const day = 24 * 60 * 60 * 1000
const other = { ...body, to: "+15550002222" }
const unknown = JSON.stringify({ error: { code: "server_error", reason: "outcome_unknown" } })

/** A `send_at` that has passed. */
const atOnce = "1970-01-01T00:00:00Z"

/** A queued message with a `send_until`. */
const untilSent = (until: string, fields: Partial<Extract<Entry, { readonly kind: "send" }>> = {}) =>
  queue(1, atOnce, { body: { ...body, send_at: atOnce, send_until: until }, ...fields })

/** A campaign with a `notAfter`. */
const endsAt = (at: number | null) => ({ ...campaign(1, "running"), not_after: at })

/** A call for the only message of the campaign. */
const ofCampaign = (fields: Partial<Extract<Entry, { readonly kind: "provider_call" }>> = {}) =>
  call(1, { campaign: "c", ...fields })

/** A message that was delivered. */
const delivered = () => [event(1, "message.sent"), event(2, "message.delivered"), report(10, "delivered")]

/** An event of another message. */
const elsewhere = { ...event(1, "message.sent").event, data: { message_id: "msg_2", sequence: 1 } }

/** The customer's message `in_1`. */
const written = (begun: number, fields: Partial<Extract<Entry, { readonly kind: "received" }>> = {}) =>
  received(begun, { provider_message_id: "in_1", ...fields })

/** A history that came to rest, whose clocks may differ by so many milliseconds. */
const within = (clockError: number, ...entries: ReadonlyArray<Entry>): History => {
  const { header } = settled()
  return { header: { ...header, clock_error: clockError }, entries }
}

/** Long after everything before it. */
const later = 100_000

/** Messages of one workspace from a time on, and an event, so that the history lists events. */
const spent = (from: number, ...ids: ReadonlyArray<string>) => [
  { ...event(1, "message.sent"), event: elsewhere },
  ...ids.map((id) => call(from, { message_id: id, workspace: "ws" }))
]

/** By promise, histories that break it alone, and histories that keep every promise. */
const cases: Readonly<Record<PromiseName, { readonly broken: Array<History>; readonly kept: Array<History> }>> = {
  "one-provider-call": {
    broken: [
      history(call(1), call(5)),
      history(call(1, { outcome: "unknown" }), call(5)),
      history(call(1, { outcome: "refused" }), call(5)),
      history(call(1, { ended: null }), call(5)),
      history(call(1), call(5, { outcome: "not_sent" }))
    ],
    kept: [
      history(call(1, { outcome: "not_sent", ended: 7 }), call(5)),
      history(call(1, { ended: 7 }), call(5, { outcome: "not_sent" })),
      history(call(1), call(5, { message_id: "msg_2" }))
    ]
  },
  "sent-was-accepted": {
    broken: [
      history(send(1)),
      history(send(1), call(3)),
      history(call(1, { outcome: "refused" }), send(0, { ended: 4 })),
      history(call(1, { provider_message_id: "another" }), send(0, { ended: 4 }))
    ],
    kept: [
      history(call(1, { provider_message_id: "up-msg_1" }), send(0, { ended: 4 })),
      history(call(1, { outcome: "unknown" }), report(3, "delivered"), send(5, { replayed: true })),
      { ...history(send(1), call(3)), header: { format: "wac-history", version: 1, clock_error: 1 } }
    ]
  },
  "best-report": {
    broken: [
      settled(...delivered(), read(1000, "sent")),
      settled(...delivered(), report(20, "failed"), read(1000, "failed"))
    ],
    kept: [
      settled(...delivered(), read(1000, "delivered")),
      settled(...delivered(), read(999, "sent")),
      settled(...delivered(), report(20, "failed"), read(1000, "delivered")),
      settled(event(1, "message.sent"), report(10, "delivered", null), read(1000, "sent"))
    ]
  },
  "every-send-ends": {
    broken: [
      settled(read(1000, "queued")),
      settled(read(1000, "sending")),
      settled(read(1000, "unknown")),
      settled(campaign(1000, "paused"), read(1000, "unknown")),
      settled(campaign(1000, "paused"), queue(1, atOnce), read(1000, "queued")),
      settled(campaign(1000, "paused"), queue(1, atOnce), read(1000, "sending")),
      settled(changed(1, "cancel"), campaign(1000, "cancelled"), read(1000, "queued")),
      settled(
        campaign(1000, "paused", { total: 1, sent: 1 }),
        call(1, { outcome: "not_sent" }),
        call(2, { campaign: "c", message_id: "msg_2" }),
        read(1000, "sending")
      ),
      settled(
        campaign(1000, "paused"),
        { ...campaign(1000, "cancelled"), campaign: "d" },
        call(1, { campaign: "d", outcome: "not_sent" }),
        read(1000, "sending")
      )
    ],
    kept: [
      settled(read(1000, "failed")),
      settled(read(999, "unknown")),
      history(read(1000, "unknown")),
      settled(campaign(1000, "paused"), read(1000, "queued")),
      settled(campaign(1000, "paused"), read(1000, "sending")),
      settled(changed(1, "pause"), read(1000, "queued")),
      settled(campaign(1000, "paused"), call(1, { outcome: "not_sent" }), read(1000, "sending")),
      settled(
        campaign(1000, "paused", { total: 2, sent: 1, queued: 1 }),
        call(2, { campaign: "c", message_id: "msg_2" }),
        read(1000, "queued")
      ),
      settled(
        campaign(1000, "paused", { total: 1, queued: 1 }),
        call(1, { outcome: "not_sent" }),
        call(9, { campaign: "c", outcome: "not_sent" }),
        read(1000, "sending")
      )
    ]
  },
  "status-never-falls": {
    broken: [
      history(read(1, "delivered"), read(5, "sent")),
      history(read(1, "read"), read(2, "sent"), read(5, "delivered")),
      history(cancel(1), read(5, "queued")),
      history(send(1), call(1), read(9, "unknown"))
    ],
    kept: [
      history(read(1, "delivered"), read(2, "sent")),
      history(read(1, "failed"), read(5, "sent")),
      history(read(1, "queued"), read(5, "sending"), read(9, "queued"), read(12, "unknown")),
      history(cancel(1), read(5, "cancelled")),
      history(send(1), call(1), read(2, "sending"), read(9, "failed"))
    ]
  },
  "corrections": {
    broken: [
      history(event(1, "message.failed"), event(2, "message.delivered")),
      history(event(1, "message.sent"), event(2, "message.delivered", { corrects: "failed" }))
    ],
    kept: [
      history(
        event(1, "message.failed"),
        event(2, "message.sent", { corrects: "failed" }),
        event(3, "message.delivered", { corrects: "failed" }),
        event(4, "message.read")
      )
    ]
  },
  "one-message-per-key": {
    broken: [
      history(call(1), call(1, { message_id: "msg_2" }), send(2), send(5, { answer: answer("msg_2"), replayed: true })),
      history(call(1), send(2), send(5, { key: "k2" }))
    ],
    kept: [
      history(call(1), send(2), call(day, { message_id: "msg_2" }), send(day + 2, { answer: answer("msg_2") })),
      history(
        call(1),
        send(2, { status: null, answer: null, ended: null }),
        send(day, { replayed: true }),
        call(day + 8, { message_id: "msg_2" }),
        send(day + 9, { answer: answer("msg_2") })
      ),
      history(call(1), call(1, { message_id: "msg_2" }), send(2), send(5, { workspace: "w2", answer: answer("msg_2") }))
    ]
  },
  "same-answer": {
    broken: [
      history(call(1), send(2), send(5, { answer: `${answer()} `, replayed: true })),
      history(call(1), send(2), send(5)),
      history(call(1), send(2), send(5, { status: 202, replayed: true }))
    ],
    kept: [
      history(call(1), send(2), send(5, { replayed: true })),
      history(call(1), send(2), send(5, { body: { type: "text", to: body.to }, replayed: true })),
      history(call(1), send(2, { status: 504, answer: unknown }), report(4, "sent"), send(5, { replayed: true })),
      history(call(1), send(2), send(5, { status: 503, answer: "{}" }))
    ]
  },
  "other-body-conflicts": {
    broken: [
      history(call(1), send(2), send(5, { body: other, replayed: true })),
      history(call(1), send(2), send(5, { body: other, status: 504, answer: unknown }))
    ],
    kept: [
      history(call(1), send(2), conflict(5, other)),
      history(call(1), send(2), send(5, { body: other, status: 429 })),
      history(send(1, { body: { ...body, send_at: atOnce }, status: 504, answer: unknown }), call(2), send(3)),
      history(send(1, { body: other, respond_async: true, status: 504, answer: unknown }), call(2), send(3))
    ]
  },
  "conflict-has-another-body": {
    broken: [
      history(call(1), send(2), conflict(5, body)),
      history(conflict(5, body), send(8, { body: other, status: 403 }))
    ],
    kept: [
      history(call(1), send(2), conflict(5, other)),
      history(conflict(5, body), send(6, { body: other, status: null }))
    ]
  },
  "every-event": {
    broken: [
      settled(call(1), send(2), webhook, event(1, "message.failed"), attempt(150)),
      settled(event(1, "message.sent"), report(5, "delivered")),
      settled(event(1, "message.sent"), call(1, { outcome: "refused" })),
      settled(queue(1, "1970-01-01T00:00:00.000Z"), { ...event(1, "message.sent"), event: elsewhere })
    ],
    kept: [
      settled(call(1), send(2), webhook, event(1, "message.sent"), attempt(150)),
      history(call(1), send(2), event(1, "message.failed")),
      settled(call(1), report(2, "failed"), event(1, "message.failed"), send(5, { replayed: true })),
      settled(queue(1, "1970-01-01T00:00:00.000Z"), cancel(5), { ...event(1, "message.sent"), event: elsewhere }),
      settled(event(1, "message.sent"), report(5, "delivered", null))
    ]
  },
  "received-once": {
    broken: [
      settled(written(1), event(1, "message.sent")),
      settled(written(1), receipt("evt_in", { provider_message_id: "in_2" })),
      history(written(1), receipt(), receipt("evt_again")),
      history(written(1, { ended: null }), written(5), receipt(), receipt("evt_again")),
      settled(written(1), written(1, { to: "+9" }), receipt(), receipt("evt_9"), receipt("evt_again")),
      settled(written(1, { at: 3 - 30 * day }), event(1, "message.sent")),
      settled(written(1), written(31 * day, { at: 1 }), event(1, "message.sent")),
      settled(written(1, { at: -31 * day }), receipt(), receipt("evt_again"))
    ],
    kept: [
      settled(written(1), written(5), receipt(), receipt()),
      settled(written(1), written(1, { to: "+9" }), receipt(), receipt("evt_9")),
      settled(written(1, { ended: null }), event(1, "message.sent")),
      settled(received(1), event(1, "message.sent")),
      settled(written(1)),
      history(written(1), event(1, "message.sent")),
      settled(written(1, { at: 2 - 30 * day }), event(1, "message.sent")),
      settled(written(1, { at: 2 - 30 * day }), written(1, { to: "+9" }), receipt("evt_9")),
      within(1, written(1, { at: 3 - 30 * day }), event(1, "message.sent"))
    ]
  },
  "event-once": {
    broken: [history(event(1, "message.sent"), event(2, "message.sent"))],
    kept: [
      history(event(1, "message.sent"), event(1, "message.sent")),
      history(event(1, "message.failed"), event(2, "message.sent", { corrects: "failed" }), event(3, "message.failed"))
    ]
  },
  "event-order": {
    broken: [
      history(event(1, "message.delivered"), event(2, "message.sent")),
      history(event(1, "message.delivered"), event(2, "message.failed")),
      settled(event(1, "message.sent"), event(3, "message.delivered")),
      history(event(1, "message.sent"), {
        ...event(1, "message.delivered"),
        event: { ...event(1, "message.delivered").event, id: "evt_x" }
      })
    ],
    kept: [
      settled(event(2, "message.delivered"), event(1, "message.sent")),
      history(event(1, "message.sent"), event(3, "message.delivered"))
    ]
  },
  "event-fixed": {
    broken: [
      history(attempt(1, 1, { status: 500 }), attempt(9, 1, { body: `${attempt(1).body} ` })),
      history(event(1, "message.sent"), event(1, "message.sent", { extra: 1 })),
      settled(event(1, "message.sent"), attempt(150), attempt(160, 2)),
      history(event(1, "message.sent"), attempt(150, 1, { body: `{"data":{"message_id":"msg_2"}}` }))
    ],
    kept: [
      history(attempt(1, 1, { status: 500 }), attempt(9)),
      settled(event(1, "message.sent"), attempt(150), attempt(160, 9, { body: `{"type":"webhook.test"}` }))
    ]
  },
  "delivered-in-order": {
    broken: [
      history(attempt(1, 1, { status: 500 }), attempt(5, 2), attempt(9, 1)),
      history(attempt(1, 1, { status: 500 }), attempt(5, 2)),
      history(attempt(1, 1, { status: 500 }), end(2, "held"), attempt(5, 2)),
      history(attempt(1, 1, { status: 500 }), end(2, "skipped", 2), attempt(5, 3))
    ],
    kept: [
      history(attempt(1), attempt(5, 2), attempt(9, 1)),
      history(attempt(1, 1, { status: 500 }), end(4, "skipped"), attempt(5, 2))
    ]
  },
  "delivered-at-least-once": {
    broken: [
      settled(webhook, event(1, "message.sent")),
      settled(webhook, event(1, "message.sent"), attempt(150, 1, { status: 204 }))
    ],
    kept: [
      settled(webhook, event(1, "message.sent"), attempt(150, 1, { status: 500 }), attempt(160)),
      settled(webhook, event(1, "message.sent"), end(150, "held")),
      settled({ ...webhook, begun: 100, ended: 101 }, event(1, "message.sent")),
      settled({ ...webhook, event_types: ["message.read"] }, event(1, "message.sent")),
      history(webhook, event(1, "message.sent"))
    ]
  },
  "retried-for-a-day": {
    broken: [history(attempt(1, 1, { status: 500 }), end(day - 5, "exhausted")), history(end(5, "exhausted"))],
    kept: [history(attempt(1, 1, { status: 500 }), end(day + 1, "exhausted"))]
  },
  "genuine-signature": {
    broken: [history(attempt(1, 1, { genuine: false }))],
    kept: [history(attempt(1))]
  },
  "service-window": {
    broken: [
      history(text(1)),
      history(received(1), text(day + 1)),
      history(received(1, { at: 1 - day }), text(5)),
      history(received(1, { at: 100 }), text(day + 2)),
      history(received(1, { to: "+9" }), text(5)),
      history(received(1, { from: "US.1" }), text(5)),
      history(received(10), text(5))
    ],
    kept: [
      history(received(1), text(day)),
      history(received(4, { at: 0 }), text(4)),
      history(received(1, { from: "US.1" }), told(2, ["US.1", "+2"], null), text(5)),
      history(call(5, { from: "+1", type: "text" })),
      history(marketing(5)),
      { ...history(received(1), text(day + 1)), header: { format: "wac-history", version: 1, clock_error: 1 } }
    ]
  },
  "quota": {
    broken: [
      settled(quota(0, 1), ...spent(later, "msg_1", "msg_2")),
      settled(quota(0, 9), quota(50, 1), ...spent(later, "msg_1", "msg_2"))
    ],
    kept: [
      settled(quota(0, 2), ...spent(later, "msg_1", "msg_2")),
      settled(quota(0, 1), ...spent(later, "msg_1", "msg_2"), event(2, "message.failed")),
      settled(quota(0, 1), quota(later - 100, 2), ...spent(later, "msg_1", "msg_2")),
      settled(quota(0, 1), quota(50, null), ...spent(later, "msg_1", "msg_2")),
      settled(quota(0, 1), ...spent(later, "msg_1"), ...spent(31 * day + later, "msg_2")),
      settled(quota(later - 100, 1), ...spent(later, "msg_1", "msg_2"))
    ]
  },
  "campaign-once": {
    broken: [
      history(marketing(1, { campaign: "c" }), marketing(5, { campaign: "c", message_id: "msg_2" })),
      history(
        told(0, ["+2", "US.1"]),
        marketing(2, { campaign: "c", outcome: "unknown" }),
        marketing(later, { campaign: "c", message_id: "msg_2", to: "US.1" })
      )
    ],
    kept: [
      history(marketing(1, { campaign: "c" }), marketing(5, { campaign: "d", message_id: "msg_2" })),
      history(
        marketing(2, { campaign: "c" }),
        marketing(9, { campaign: "c", message_id: "msg_2", to: "US.1" }),
        told(20, ["+2", "US.1"])
      ),
      history(
        marketing(1, { campaign: "c", outcome: "refused" }),
        marketing(5, { campaign: "c", message_id: "msg_2" })
      )
    ]
  },
  "campaign-counts": {
    broken: [
      history(campaign(1, "running", { total: 3, queued: 1, sent: 1 })),
      settled(ofCampaign(), campaign(1000, "cancelled", { total: 1, skipped: 1 })),
      settled(ofCampaign({ outcome: "unknown" }), campaign(1000, "paused", { total: 1, queued: 1 })),
      settled(ofCampaign(), campaign(1000, "cancelled", { total: 2, sent: 2 })),
      settled(ofCampaign({ outcome: "not_sent" }), campaign(1000, "cancelled", { total: 1, sent: 1 })),
      settled(ofCampaign(), campaign(1000, "cancelled", { total: 1, delivered: 1 })),
      settled(ofCampaign(), report(5, "delivered"), campaign(1000, "cancelled", { total: 1, sent: 1 })),
      settled(ofCampaign(), report(5, "delivered"), campaign(1000, "cancelled", { total: 1, read: 1 })),
      settled(ofCampaign(), report(5, "read"), campaign(1000, "cancelled", { total: 1, delivered: 1 })),
      history(uploaded(1, ["+2", "+3"]), changed(5, "start"), campaign(9, "running", { total: 1, queued: 1 })),
      history(uploaded(1, ["+2", "+2"]), changed(5, "start"), campaign(9, "running", { total: 2, queued: 2 })),
      history(
        uploaded(1, ["+2"]),
        uploaded(3, ["+3"], { status: null, ended: null }),
        changed(5, "start"),
        campaign(9, "running", { total: 3, queued: 3 })
      )
    ],
    kept: [
      history(campaign(1, "running", { total: 3, queued: 1, sent: 1, failed: 1 })),
      history(ofCampaign(), campaign(1000, "cancelled", { total: 1, skipped: 1 })),
      settled(ofCampaign(), campaign(999, "cancelled", { total: 1, skipped: 1 })),
      settled(ofCampaign(), campaign(1000, "cancelled", { total: 1, sent: 1 })),
      settled(ofCampaign({ outcome: "unknown" }), campaign(1000, "cancelled", { total: 2, failed: 2 })),
      settled(ofCampaign({ outcome: "not_sent" }), campaign(1000, "cancelled", { total: 1, skipped: 1 })),
      settled(ofCampaign(), report(5, "read"), campaign(1000, "cancelled", { total: 1, read: 1 })),
      settled(ofCampaign(), report(5, "read", null), campaign(1000, "cancelled", { total: 1, sent: 1 })),
      settled(ofCampaign(), report(5, "read", null), campaign(1000, "cancelled", { total: 1, read: 1 })),
      settled(ofCampaign(), report(5, "delivered"), report(9, "read"), campaign(1000, "paused", { total: 1, read: 1 })),
      settled(ofCampaign(), report(5, "failed"), campaign(1000, "cancelled", { total: 1, failed: 1 })),
      history(uploaded(1, ["+2", "+3", "+2"]), changed(5, "start"), campaign(9, "running", { total: 2, queued: 2 })),
      history(uploaded(1, ["+2", "+3"]), campaign(3, "draft"), changed(5, "start"), campaign(6, "running")),
      history(uploaded(1, ["+2"], { status: 403 }), changed(5, "start"), campaign(9, "running")),
      history(uploaded(1, ["+2"]), changed(2, "start"), campaign(9, "running")),
      history(uploaded(1, ["+2"]), chosen(20, "opt_out"), changed(5, "start"), campaign(9, "running")),
      history(
        uploaded(1, ["+2", "US.1"]),
        changed(5, "start"),
        campaign(9, "running", { total: 1, queued: 1 }),
        told(20, ["+2", "US.1"], null)
      )
    ]
  },
  "campaign-completed": {
    broken: [
      history(completed(), completed("evt_d")),
      settled(changed(1, "start"), campaign(1000, "completed"), event(1, "message.sent")),
      settled(campaign(1000, "paused"), completed()),
      settled(campaign(1000, "running")),
      history(campaign(1, "completed", { total: 2, queued: 1, sent: 1 }))
    ],
    kept: [
      history(completed(), completed()),
      settled(changed(1, "start"), campaign(1000, "completed"), completed()),
      settled(campaign(1000, "cancelled"), event(1, "message.sent")),
      settled(campaign(999, "running"), completed()),
      settled(campaign(1000, "paused", { total: 2, queued: 1, sent: 1 }))
    ]
  },
  "campaign-stopped": {
    broken: [
      history(changed(1, "pause"), call(later, { campaign: "c" })),
      history(changed(1, "cancel"), changed(5, "resume"), call(later, { campaign: "c" })),
      history(changed(1, "pause"), changed(5, "resume"), changed(9, "pause"), call(later, { campaign: "c" }))
    ],
    kept: [
      history(changed(1, "pause"), call(30_002, { campaign: "c" })),
      history(changed(1, "pause"), changed(5, "resume"), call(later, { campaign: "c" })),
      history(changed(1, "pause", { ended: 9 }), changed(2, "resume"), call(later, { campaign: "c" })),
      history(changed(1, "pause", { status: 503 }), call(later, { campaign: "c" })),
      history(changed(1, "pause"), call(later, { campaign: "d" }))
    ]
  },
  "opt-out": {
    broken: [
      history(chosen(1, "opt_out"), marketing(later)),
      history(received(1, { preference: "opt_out" }), marketing(later)),
      history(received(1, { preference: "opt_out" }), text(later)),
      history(
        chosen(1, "opt_out", { name: "US.1" }),
        told(2, ["US.1", "US.2"]),
        told(3, ["+2", "US.2"]),
        marketing(later)
      ),
      history(chosen(1, "opt_out"), marketing(20), send(10, { ended: 30 })),
      history(chosen(1, "opt_in"), chosen(3, "opt_out", { phone_number: "+1" }), marketing(later)),
      history(chosen(5, "opt_out"), received(50, { at: 2, preference: "opt_in" }), marketing(later))
    ],
    kept: [
      history(chosen(1, "opt_out"), marketing(30_001)),
      history(chosen(1, "opt_out"), marketing(later, { category: "utility" })),
      history(chosen(1, "opt_out", { phone_number: "+9" }), marketing(later)),
      history(chosen(1, "opt_out", { status: 503 }), marketing(later)),
      history(chosen(1, "opt_out", { ended: null, status: null }), marketing(later)),
      history(chosen(1, "opt_out"), chosen(5, "opt_in", { ended: null, status: null }), marketing(later)),
      history(chosen(1, "opt_out"), received(5, { preference: "opt_in" }), marketing(later)),
      history(chosen(1, "opt_out", { name: "US.1" }), told(later - 9, ["+2", "US.1"]), marketing(later)),
      history(
        chosen(1, "opt_out"),
        chosen(5, "opt_in", { name: "US.1" }),
        told(later, ["+2", "US.1"], null),
        marketing(later)
      )
    ]
  },
  "not-before-send-at": {
    broken: [history(queue(1, "1970-01-01T00:00:00.100Z"), call(99))],
    kept: [
      history(queue(1, "1970-01-01T00:00:00.100Z"), call(100)),
      history(queue(1, "1970-01-01T01:00:00.100+01:00"), call(100))
    ]
  },
  "not-after-send-until": {
    broken: [
      history(untilSent("1970-01-01T00:00:01.000Z"), call(31_001)),
      history(
        untilSent("1970-01-01T00:00:01.000Z"),
        call(2, { outcome: "not_sent" }),
        call(31_001, { outcome: "not_sent" })
      ),
      history(endsAt(1000), call(31_001, { campaign: "c" })),
      history(endsAt(1000), endsAt(2000), call(32_001, { campaign: "c" }))
    ],
    kept: [
      history(untilSent("1970-01-01T00:00:01.000Z"), call(31_000)),
      history(untilSent("1970-01-01T00:00:01.000Z", { status: 400 }), call(31_001)),
      history(queue(1, atOnce), call(later)),
      history(endsAt(1000), call(31_000, { campaign: "c" })),
      history(endsAt(1000), call(31_001, { campaign: "d" })),
      history(endsAt(1000), endsAt(null), call(31_001, { campaign: "c" })),
      history(endsAt(1000), campaign(1, "running"), call(31_001, { campaign: "c" })),
      history(endsAt(2000), endsAt(1000), call(32_000, { campaign: "c" }))
    ]
  },
  "cancelled-is-never-sent": {
    broken: [
      history(queue(1, "1970-01-01T00:00:00.005Z"), cancel(3), call(9)),
      history(queue(1, "1970-01-01T00:00:00.005Z"), call(9), cancel(20)),
      history(cancel(3), event(1, "message.failed"))
    ],
    kept: [history(queue(1, "1970-01-01T00:00:00.005Z"), call(9), cancel(20, 403)), history(cancel(3), cancel(6))]
  },
  "handled-at-least-once": {
    broken: [
      settled(subscription, event(1, "message.sent")),
      settled(subscription, event(1, "message.sent"), handled(150, 1, false))
    ],
    kept: [
      settled(subscription, event(1, "message.sent"), handled(150, 1, false), handled(160)),
      settled(subscription, event(1, "message.sent"), handled(150, 1, false), setAside(160)),
      settled({ ...subscription, begun: 100, ended: 101 }, event(1, "message.sent")),
      settled({ ...subscription, event_types: ["message.read"] }, event(1, "message.sent")),
      history(subscription, event(1, "message.sent"))
    ]
  },
  "handled-in-order": {
    broken: [
      history(event(1, "message.sent"), event(2, "message.read"), handled(1, 1, false), handled(5, 2), handled(9)),
      history(event(1, "message.sent"), event(2, "message.read"), handled(1, 1, false), handled(5, 2))
    ],
    kept: [
      history(event(1, "message.sent"), event(2, "message.read"), handled(1), handled(5, 2), handled(9)),
      history(event(1, "message.sent"), event(2, "message.read"), handled(1, 1, false), setAside(3), handled(5, 2)),
      history(handled(1, 1, false), handled(5, 2))
    ]
  },
  "repetition-is-told": {
    broken: [
      history(handled(1, 1, false, 1), handled(5, 1, true, 1)),
      history(handled(1, 1, false), handled(5, 1, true, 1))
    ],
    kept: [
      history(handled(1, 1, false, 1), handled(5, 1, true, 2)),
      history(handled(1, 1, false, 1), handled(5, 2, true, 1)),
      history(handled(1, 1, false, 1), handled(5)),
      history({ ...handled(1, 1, false, 1), ended: null }, handled(5, 1, true, 1)),
      history(handled(5, 1, true, 2))
    ]
  }
}

describe.each(Object.keys(promises) as Array<PromiseName>)("%s", (promise) => {
  it("a history that breaks the promise is blamed for it, and for nothing else", () => {
    for (const each of cases[promise].broken) {
      const { broken, ok } = check(each)
      assert.isFalse(ok, JSON.stringify(each.entries))
      assert.deepStrictEqual([...new Set(broken.map((b) => b.promise))], [promise], JSON.stringify(each.entries))
      for (const { evidence } of broken) for (const entry of evidence) assert.include(each.entries, entry)
    }
  })

  it("a history that just keeps the promise is not blamed", () => {
    for (const each of cases[promise].kept) {
      assert.deepStrictEqual(check(each), { ok: true, broken: [] }, JSON.stringify(each.entries))
    }
  })
})

// more than the arguments of one call of a function can be
const many = 150_000

const repeated = (entryOf: (index: number) => Entry): ReadonlyArray<Entry> =>
  Array.from({ length: many }, (_, index) => entryOf(index))

const names = ({ entries, header }: History, ...lists: ReadonlyArray<ReadonlyArray<Entry>>) =>
  check({ header, entries: [entries, ...lists].flat() }).broken.map(({ promise }) => promise)

describe("a long history", () => {
  it("a campaign that was read very often is judged by its latest end", () => {
    const reads = repeated(() => endsAt(1000))
    assert.deepStrictEqual(names(history(endsAt(2000), call(32_000, { campaign: "c" })), reads), [])
    assert.deepStrictEqual(names(history(call(31_001, { campaign: "c" })), reads), ["not-after-send-until"])
  })

  it("a campaign with very many messages is blamed for a wrong count", () => {
    const calls = repeated((index) => ofCampaign({ message_id: `msg_${index}` }))
    const last = (sent: number) => settled(campaign(1000, "paused", { total: sent, sent }))
    assert.deepStrictEqual(names(last(many), calls), [])
    assert.deepStrictEqual(names(last(many + 1), calls), ["campaign-counts"])
  })

  it("an event that was handled very often is over once it was first handled", () => {
    const times = repeated((index) => handled(10 + index))
    const events = [event(1, "message.sent"), event(2, "message.read")]
    assert.deepStrictEqual(names(history(handled(10, 2), ...events), times), [])
    assert.deepStrictEqual(names(history(handled(9, 2), ...events), times), ["handled-in-order"])
  })
})
