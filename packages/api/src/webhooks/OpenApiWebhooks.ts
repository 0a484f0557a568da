/**
 * The webhooks of the OpenAPI document: deliveries of events (specification §6, contract §6).
 */
import { Event } from "@wac/core"
import { nameOf } from "../events/RecordedEvent.ts"

const exampleTime = "2026-01-02T03:04:05.600Z"

const exampleOfMessage = (status: string, sequence: number) => ({
  message_id: "msg_01K8ZQ4V6T9XW2M3N5P7R8S0AB",
  provider_message_id: "wamid.HBgLMTU1NTEyMzQ1NjcVAgARGBI5QTNDQTVC",
  to: "+15551234567",
  status,
  sequence,
  client_reference: "order-1042",
  [`${status}_at`]: exampleTime
})

const pricing = { billable: true, model: "PMP", type: "regular", category: "utility" }

/** An example of `data` for each type. */
const exampleData: { readonly [Type in Event.EventType]: object } = {
  "message.sent": { ...exampleOfMessage("sent", 1), pricing },
  "message.delivered": { ...exampleOfMessage("delivered", 2), pricing },
  "message.read": exampleOfMessage("read", 3),
  "message.failed": {
    ...exampleOfMessage("failed", 2),
    error: { code: "server_error", message: "the provider could not deliver the message" }
  },
  "message.received": {
    message_id: "msg_01K8ZQ6B7C8D9E0F1G2H3J4K5M",
    provider_message_id: "wamid.HBgLMTU1NTEyMzQ1NjcVAgASGBQzQTdC",
    from: "+15551234567",
    to: "+15550001111",
    type: "text",
    text: { body: "When does it arrive?" },
    profile: { name: "Ana" },
    received_at: exampleTime,
    late: false
  },
  "message.echoed": {
    message_id: "msg_01K8ZQ7C8D9E0F1G2H3J4K5M6N",
    provider_message_id: "wamid.HBgLMTU1NTEyMzQ1NjcVAgARGBI5QjRE",
    from: "+15550001111",
    to: "+15551234567",
    type: "text",
    text: { body: "Tomorrow." },
    sent_at: exampleTime,
    late: false
  },
  "campaign.completed": { campaign_id: "cmp_01K8ZQ8D9E0F1G2H3J4K5M6N7P", name: "January" },
  "webhook.test": { webhook_id: "whk_01K8ZQ2C3D4E5F6G7H8J9K0M1N", tested_at: exampleTime }
}

/** The headers of a delivery, in both styles of signature (specification §6, contract §5). */
const deliveryHeaders = [
  ["x-service-signature", "`t=<unix seconds>,v1=<hex>`, with another `v1` for each further live secret"],
  ["webhook-id", "The event's id, the same at every attempt (Standard Webhooks)"],
  ["webhook-timestamp", "Unix seconds of the attempt (Standard Webhooks)"],
  ["webhook-signature", "`v1,<base64>`, one for each live secret (Standard Webhooks)"]
].map(([name, description]) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string", maxLength: 4096 }
}))

/** One entry for each type of event. */
export const webhooks = Object.fromEntries(
  Event.EventType.literals.map((type) => [type, {
    post: {
      operationId: `event.${type}`,
      tags: ["Events"],
      summary: type,
      description: "Posted to the URL of the workspace's webhook, with a new signature for every attempt. This is " +
        "the combined form; with `envelope` `a` or `b` it has only the fields of that variant.",
      security: [],
      parameters: deliveryHeaders,
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: { $ref: `#/components/schemas/${nameOf(type)}` },
            example: {
              id: "evt_01K8ZQ50S2T4V6W8X0Y1Z3A5BC",
              object: "event",
              type,
              created_at: "2026-01-02T03:04:05.678Z",
              tenant_id: "ws_01K8ZPZ0M4C6D8F2G3H5J7K9QR",
              data: exampleData[type]
            }
          }
        }
      },
      responses: {
        200: {
          description:
            "Delivered. Any other status is a failure and is retried, and so is a missing response within 5 seconds."
        }
      }
    }
  }])
)
