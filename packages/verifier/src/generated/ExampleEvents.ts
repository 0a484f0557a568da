/**
 * Examples of events, in combined form, as the documentation of the API shows them. Written from the API definition; do
 * not edit.
 */
import type { Event, EventType } from "./Event.ts"

/** The example of each type. */
export const exampleEvents: { readonly [Type in EventType]: Extract<Event, { readonly type: Type }> } = {
  "message.sent": {
    id: "evt_01K8ZQ50S2T4V6W8X0Y1Z3A5BC",
    object: "event",
    type: "message.sent",
    created_at: "2026-01-02T03:04:05.678Z",
    tenant_id: "ws_01K8ZPZ0M4C6D8F2G3H5J7K9QR",
    data: {
      message_id: "msg_01K8ZQ4V6T9XW2M3N5P7R8S0AB",
      provider_message_id: "wamid.HBgLMTU1NTEyMzQ1NjcVAgARGBI5QTNDQTVC",
      to: "+15551234567",
      client_reference: "order-1042",
      status: "sent",
      sequence: 1,
      sent_at: "2026-01-02T03:04:05.600Z",
      pricing: {
        billable: true,
        model: "PMP",
        type: "regular",
        category: "utility"
      }
    }
  },
  "message.delivered": {
    id: "evt_01K8ZQ50S2T4V6W8X0Y1Z3A5BC",
    object: "event",
    type: "message.delivered",
    created_at: "2026-01-02T03:04:05.678Z",
    tenant_id: "ws_01K8ZPZ0M4C6D8F2G3H5J7K9QR",
    data: {
      message_id: "msg_01K8ZQ4V6T9XW2M3N5P7R8S0AB",
      provider_message_id: "wamid.HBgLMTU1NTEyMzQ1NjcVAgARGBI5QTNDQTVC",
      to: "+15551234567",
      client_reference: "order-1042",
      status: "delivered",
      sequence: 2,
      delivered_at: "2026-01-02T03:04:05.600Z",
      pricing: {
        billable: true,
        model: "PMP",
        type: "regular",
        category: "utility"
      }
    }
  },
  "message.read": {
    id: "evt_01K8ZQ50S2T4V6W8X0Y1Z3A5BC",
    object: "event",
    type: "message.read",
    created_at: "2026-01-02T03:04:05.678Z",
    tenant_id: "ws_01K8ZPZ0M4C6D8F2G3H5J7K9QR",
    data: {
      message_id: "msg_01K8ZQ4V6T9XW2M3N5P7R8S0AB",
      provider_message_id: "wamid.HBgLMTU1NTEyMzQ1NjcVAgARGBI5QTNDQTVC",
      to: "+15551234567",
      client_reference: "order-1042",
      status: "read",
      sequence: 3,
      read_at: "2026-01-02T03:04:05.600Z"
    }
  },
  "message.failed": {
    id: "evt_01K8ZQ50S2T4V6W8X0Y1Z3A5BC",
    object: "event",
    type: "message.failed",
    created_at: "2026-01-02T03:04:05.678Z",
    tenant_id: "ws_01K8ZPZ0M4C6D8F2G3H5J7K9QR",
    data: {
      message_id: "msg_01K8ZQ4V6T9XW2M3N5P7R8S0AB",
      provider_message_id: "wamid.HBgLMTU1NTEyMzQ1NjcVAgARGBI5QTNDQTVC",
      to: "+15551234567",
      client_reference: "order-1042",
      status: "failed",
      sequence: 2,
      failed_at: "2026-01-02T03:04:05.600Z",
      error: {
        code: "server_error",
        message: "the provider could not deliver the message"
      }
    }
  },
  "message.received": {
    id: "evt_01K8ZQ50S2T4V6W8X0Y1Z3A5BC",
    object: "event",
    type: "message.received",
    created_at: "2026-01-02T03:04:05.678Z",
    tenant_id: "ws_01K8ZPZ0M4C6D8F2G3H5J7K9QR",
    data: {
      message_id: "msg_01K8ZQ6W7X8Y9Z0A1B2C3D4E5F",
      provider_message_id: "wamid.HBgLMTU1NTEyMzQ1NjcVAgASGBQzQTlGQ0Y",
      from: "+15551234567",
      to: "+15550001111",
      type: "text",
      text: {
        body: "When does it arrive?"
      },
      profile: {
        name: "Ana"
      },
      received_at: "2026-01-02T03:05:07.000Z",
      late: false
    }
  },
  "message.echoed": {
    id: "evt_01K8ZQ50S2T4V6W8X0Y1Z3A5BC",
    object: "event",
    type: "message.echoed",
    created_at: "2026-01-02T03:04:05.678Z",
    tenant_id: "ws_01K8ZPZ0M4C6D8F2G3H5J7K9QR",
    data: {
      message_id: "msg_01K8ZQ7C8D9E0F1G2H3J4K5M6N",
      provider_message_id: "wamid.HBgLMTU1NTEyMzQ1NjcVAgARGBI5QjRE",
      from: "+15550001111",
      to: "+15551234567",
      type: "text",
      text: {
        body: "Tomorrow."
      },
      sent_at: "2026-01-02T03:05:07.000Z",
      late: false
    }
  },
  "campaign.completed": {
    id: "evt_01K8ZQ50S2T4V6W8X0Y1Z3A5BC",
    object: "event",
    type: "campaign.completed",
    created_at: "2026-01-02T03:04:05.678Z",
    tenant_id: "ws_01K8ZPZ0M4C6D8F2G3H5J7K9QR",
    data: {
      campaign_id: "cmp_01K8ZQ8F6G0H2J4K6M8N0P2Q4R",
      name: "Spring offer",
      status: "completed",
      total: 1200,
      queued: 0,
      sent: 100,
      delivered: 320,
      read: 775,
      failed: 4,
      held: 0,
      unknown: 1,
      skipped: 0
    }
  },
  "webhook.test": {
    id: "evt_01K8ZQ50S2T4V6W8X0Y1Z3A5BC",
    object: "event",
    type: "webhook.test",
    created_at: "2026-01-02T03:04:05.678Z",
    tenant_id: "ws_01K8ZPZ0M4C6D8F2G3H5J7K9QR",
    data: {
      webhook_id: "whk_01K8ZQ2C4D6E8F0G1H3J5K7M9N",
      tested_at: "2026-01-02T03:04:05.678Z"
    }
  }
}
