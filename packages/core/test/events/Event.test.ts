import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  body,
  Envelope,
  type Event,
  EventType,
  maxPerReport,
  ofInbound,
  ofTransition,
  ofTransitions
} from "../../src/events/Event.ts"
import type { InboundMessage } from "../../src/inbound/InboundMessage.ts"
import { apply } from "../../src/messages/Message.ts"
import { checks } from "../checks.ts"
import { event, id, message, report, start, text } from "../samples.ts"

const evt = "evt_00000000000000000000000001"
const ws = "ws_00000000000000000000000001"
const msg = "msg_00000000000000000000000001"
const created = "2026-01-02T03:04:05.678Z"
const at = start + 1
const atIso = "2026-01-02T03:04:05.679Z"

const sentMessage = message({
  status: "sent",
  providerMessageId: "wamid.1",
  content: text({ clientReference: "order 7" })
})
const failure = {
  code: "invalid_body",
  reason: "undeliverable",
  message: "cannot be reached",
  provider: { code: "131026", message: "Message undeliverable" }
}
const failureJson = "{\"code\":\"invalid_body\",\"reason\":\"undeliverable\",\"message\":\"cannot be reached\"," +
  "\"provider\":{\"code\":\"131026\",\"message\":\"Message undeliverable\"}}"

const of = (to: "sent" | "delivered" | "read" | "failed") =>
  ofTransition({ ...sentMessage, error: to === "failed" ? failure : null }, { to, at }, {
    id: id("evt"),
    createdAt: start,
    sequence: 2
  })

const progress = (to: "sent" | "delivered" | "read") => ({
  event: of(to),
  combined: `{"id":"${evt}","object":"event","type":"message.${to}","created_at":"${created}","tenant_id":"${ws}",` +
    `"data":{"message_id":"${msg}","provider_message_id":"wamid.1","to":"+12025550123","status":"${to}",` +
    `"${to}_at":"${atIso}","client_reference":"order 7","sequence":2}}`,
  a: `{"id":"${evt}","type":"message.${to}","created_at":"${created}",` +
    `"data":{"message_id":"${msg}","to":"+12025550123","status":"${to}"}}`,
  b: `{"type":"message.${to}","tenant_id":"${ws}",` +
    `"data":{"message_id":"${msg}","provider_message_id":"wamid.1","to":"+12025550123","${to}_at":"${atIso}"}}`
})

const bodies: { readonly [type in EventType]: { readonly event: Event } & { readonly [variant in Envelope]: string } } =
  {
    "message.sent": progress("sent"),
    "message.delivered": progress("delivered"),
    "message.read": progress("read"),
    "message.failed": {
      event: of("failed"),
      combined:
        `{"id":"${evt}","object":"event","type":"message.failed","created_at":"${created}","tenant_id":"${ws}",` +
        `"data":{"message_id":"${msg}","provider_message_id":"wamid.1","to":"+12025550123","status":"failed",` +
        `"failed_at":"${atIso}","error":${failureJson},"client_reference":"order 7","sequence":2}}`,
      a: `{"id":"${evt}","type":"message.failed","created_at":"${created}",` +
        `"data":{"message_id":"${msg}","to":"+12025550123","status":"failed","error":${failureJson}}}`,
      b: `{"type":"message.failed","tenant_id":"${ws}",` +
        `"data":{"message_id":"${msg}","provider_message_id":"wamid.1","to":"+12025550123","failed_at":"${atIso}",` +
        `"error":${failureJson}}}`
    },
    "message.received": {
      event: event({
        type: "message.received",
        orderKey: null,
        sequence: null,
        data: {
          message_id: msg,
          provider_message_id: "wamid.9",
          from: "+12025550123",
          to: "+14155550100",
          type: "text",
          text: { body: "olá 👋" },
          received_at: atIso,
          late: false
        }
      }),
      combined:
        `{"id":"${evt}","object":"event","type":"message.received","created_at":"${created}","tenant_id":"${ws}",` +
        `"data":{"message_id":"${msg}","provider_message_id":"wamid.9","from":"+12025550123","to":"+14155550100",` +
        `"type":"text","text":{"body":"olá 👋"},"received_at":"${atIso}","late":false}}`,
      a: `{"id":"${evt}","type":"message.received","created_at":"${created}",` +
        `"data":{"message_id":"${msg}","from":"+12025550123","to":"+14155550100","type":"text","text":{"body":"olá 👋"}}}`,
      b: `{"type":"message.received","tenant_id":"${ws}",` +
        `"data":{"message_id":"${msg}","provider_message_id":"wamid.9","from":"+12025550123","to":"+14155550100",` +
        `"type":"text","text":{"body":"olá 👋"},"received_at":"${atIso}"}}`
    },
    "message.echoed": {
      event: ofInbound(
        {
          providerNumberId: "1",
          providerMessageId: "wamid.9",
          customer: { phone: "+12025550123", userId: "US.1" },
          at,
          type: "text",
          content: { body: "olá 👋" },
          context: null,
          preference: undefined,
          isEcho: true
        },
        { workspaceId: id("ws"), phoneNumber: "+14155550100" },
        { id: id("evt"), messageId: id("msg"), createdAt: start }
      ),
      combined:
        `{"id":"${evt}","object":"event","type":"message.echoed","created_at":"${created}","tenant_id":"${ws}",` +
        `"data":{"message_id":"${msg}","provider_message_id":"wamid.9","from":"+14155550100","to":"+12025550123",` +
        `"to_user_id":"US.1","type":"text","text":{"body":"olá 👋"},"sent_at":"${atIso}","late":false}}`,
      a: `{"id":"${evt}","type":"message.echoed","created_at":"${created}",` +
        `"data":{"message_id":"${msg}","from":"+14155550100","to":"+12025550123","to_user_id":"US.1","type":"text",` +
        `"text":{"body":"olá 👋"}}}`,
      b: `{"type":"message.echoed","tenant_id":"${ws}",` +
        `"data":{"message_id":"${msg}","provider_message_id":"wamid.9","from":"+14155550100","to":"+12025550123",` +
        `"to_user_id":"US.1","type":"text","text":{"body":"olá 👋"},"sent_at":"${atIso}"}}`
    },
    "campaign.completed": {
      event: event({
        type: "campaign.completed",
        orderKey: null,
        sequence: null,
        data: { campaign_id: "cmp_1", name: "spring", sent: 3, failed: 1 }
      }),
      combined:
        `{"id":"${evt}","object":"event","type":"campaign.completed","created_at":"${created}","tenant_id":"${ws}",` +
        "\"data\":{\"campaign_id\":\"cmp_1\",\"name\":\"spring\",\"sent\":3,\"failed\":1}}",
      a: `{"id":"${evt}","type":"campaign.completed","created_at":"${created}",` +
        "\"data\":{\"campaign_id\":\"cmp_1\",\"name\":\"spring\",\"sent\":3,\"failed\":1}}",
      b: `{"type":"campaign.completed","tenant_id":"${ws}",` +
        "\"data\":{\"campaign_id\":\"cmp_1\",\"name\":\"spring\",\"sent\":3,\"failed\":1}}"
    },
    "webhook.test": {
      event: event({ type: "webhook.test", orderKey: null, sequence: null }),
      combined:
        `{"id":"${evt}","object":"event","type":"webhook.test","created_at":"${created}","tenant_id":"${ws}","data":{}}`,
      a: `{"id":"${evt}","type":"webhook.test","created_at":"${created}","data":{}}`,
      b: `{"type":"webhook.test","tenant_id":"${ws}","data":{}}`
    }
  }

describe("the body of an event", () => {
  for (const type of EventType.literals) {
    for (const envelope of Envelope.literals) {
      it(`the body of ${type} as ${envelope} matches the specification`, () => {
        assert.strictEqual(body(bodies[type].event, envelope), bodies[type][envelope])
      })
    }
  }

  it("the body has no reference if the request had none, and an error only for a failure", () => {
    const { event } = {
      event: ofTransition(message(), { to: "sent", at }, { id: id("evt"), createdAt: start, sequence: 1 })
    }
    assert.deepStrictEqual(event, {
      id: id("evt"),
      workspaceId: id("ws"),
      type: "message.sent",
      createdAt: start,
      orderKey: id("msg"),
      sequence: 1,
      data: {
        message_id: msg,
        provider_message_id: null,
        to: "+12025550123",
        status: "sent",
        sent_at: atIso,
        sequence: 1
      },
      trace: null
    })
  })

  it("a correction says so in combined form, and the variants of the specification stay as they are", () => {
    const corrected = ofTransition(sentMessage, { to: "delivered", at, corrects: "failed" }, {
      id: id("evt"),
      createdAt: start,
      sequence: 2
    })
    const plain = progress("delivered")
    const { data, ...around } = JSON.parse(plain.combined)
    assert.deepStrictEqual(JSON.parse(body(corrected, "combined")), {
      ...around,
      data: { ...data, corrects: "failed" }
    })
    assert.deepStrictEqual([body(corrected, "a"), body(corrected, "b")], [plain.a, plain.b])
  })

  it("an error omits unknown fields", () => {
    const failed = message({ error: { code: "server_error", message: "no" } })
    const { data } = ofTransition(failed, { to: "failed", at }, { id: id("evt"), createdAt: start, sequence: 1 })
    assert.deepStrictEqual(data.error, { code: "server_error", message: "no" })
  })

  it("the combined body is the union of the two variants of the specification", () => {
    const { a, b, combined } = progress("delivered")
    const [one, other, both] = [a, b, combined].map((text) => JSON.parse(text))
    assert.deepInclude(both, { ...one, ...other, data: both.data })
    assert.deepInclude(both.data, { ...one.data, ...other.data })
    assert.hasAllKeys(one, ["id", "type", "created_at", "data"])
    assert.hasAllKeys(one.data, ["message_id", "to", "status"])
    assert.hasAllKeys(other, ["type", "tenant_id", "data"])
    assert.hasAllKeys(other.data, ["message_id", "provider_message_id", "to", "delivered_at"])
  })

  it.prop("the body is the same every time, and the variants hold nothing beyond the combined one", {
    data: Schema.Record(Schema.String, Schema.Json),
    envelope: Envelope,
    type: EventType
  }, ({ data, envelope, type }) => {
    const given = event({ data, type })
    assert.strictEqual(body(given, envelope), body(structuredClone(given), envelope))
    const whole = JSON.parse(body(given, "combined"))
    const part = JSON.parse(body(given, envelope))
    for (const [field, value] of Object.entries(part.data)) assert.deepEqual(value, whole.data[field])
    for (const [field, value] of Object.entries(part)) if (field !== "data") assert.strictEqual(value, whole[field])
  }, checks)
})

describe("the event of a customer's message", () => {
  const of = (fields: Partial<InboundMessage>) =>
    ofInbound(
      {
        providerNumberId: "1",
        providerMessageId: "wamid.in",
        customer: { phone: "+12025550123", userId: null },
        at,
        type: "text",
        content: { body: "Hi" },
        context: null,
        preference: undefined,
        ...fields
      },
      { workspaceId: id("ws"), phoneNumber: "+14155550100" },
      { id: id("evt"), messageId: id("msg"), createdAt: start }
    ).data

  it("the event identifies the customer by what is known of them", () => {
    const keys = ["message_id", "provider_message_id", "from", "to", "type", "text", "received_at", "late"]
    assert.hasAllKeys(of({}), keys)
    const unnumbered = of({ customer: { phone: null, userId: "US.1" } })
    assert.hasAllKeys(unnumbered, [...keys, "from_user_id"])
    assert.deepStrictEqual([unnumbered["from"], unnumbered["from_user_id"]], ["US.1", "US.1"])
    const both = of({ customer: { phone: "+551187654321", userId: "BR.1" } })
    assert.deepStrictEqual([both["from"], both["from_user_id"]], ["+551187654321", "BR.1"])
  })

  it("the event holds the quoted message, if any, and content of any shape", () => {
    const context = { message_id: "wamid.1", forwarded: true }
    const data = of({ type: "contacts", content: [{ name: "Ana" }], context })
    assert.deepStrictEqual([data["context"], data["contacts"]], [context, [{ name: "Ana" }]])
  })
})

describe("the events of a message's transitions", () => {
  it("events continue the numbering in order, each with the next identifier", () => {
    const before = message({ sequence: 4 })
    const moved = apply(before, report("read", at), start)
    const ids = [id("evt", 1), id("evt", 2), id("evt", 3), id("evt", 4)]
    const { events, message: after } = ofTransitions(moved.message, moved.transitions, { events: ids }, start)
    assert.strictEqual(after.sequence, 7)
    assert.deepStrictEqual(
      events.map((
        { createdAt, data, id, orderKey, sequence, type }
      ) => [id, type, sequence, data.sequence, orderKey, createdAt]),
      [
        [ids[0], "message.sent", 5, 5, before.id, start],
        [ids[1], "message.delivered", 6, 6, before.id, start],
        [ids[2], "message.read", 7, 7, before.id, start]
      ]
    )
    // even the skipped ones carry the provider's id of the message
    assert.isTrue(events.every(({ data }) => data.provider_message_id === "wamid.1"))
    assert.deepStrictEqual({ ...after, sequence: 4 }, moved.message)
    assert.strictEqual(events.length, maxPerReport)
  })

  it("there are no events if nothing changed", () => {
    const given = message({ sequence: 4 })
    assert.deepStrictEqual(ofTransitions(given, [], { events: [] }, start), { message: given, events: [] })
  })
})
