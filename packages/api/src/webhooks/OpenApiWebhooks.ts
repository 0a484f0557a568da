/**
 * The webhooks of the OpenAPI document: deliveries of events (specification §6, contract §6).
 */
import { Event } from "@wac/core"

const names = (fields: ReadonlyArray<string>) => Object.fromEntries(fields.map((name) => [name, { type: "string" }]))

const times = (fields: ReadonlyArray<string>) =>
  Object.fromEntries(fields.map((name) => [name, { $ref: "#/components/schemas/Timestamp" }]))

const ofMessage = (time: string, more: { readonly [field: string]: object } = {}) => ({
  type: "object",
  properties: {
    ...names(["message_id", "to", "status", "client_reference"]),
    // `null` if the message failed before the provider gave it an id
    provider_message_id: { type: ["string", "null"] },
    pricing: { $ref: "#/components/schemas/Pricing" },
    sequence: { type: "integer", format: "int32", minimum: 1, maximum: 2_147_483_647 },
    ...times([time]),
    ...more
  },
  required: ["message_id", "provider_message_id", "to", "status", "sequence", time]
})

const corrects = {
  type: "string",
  enum: ["failed"],
  description: "Present if the message had been reported as failed before, which was not so."
}

/** The fields of `data` for each type, in combined form. */
const eventData: { readonly [Type in Event.EventType]: object } = {
  "message.sent": ofMessage("sent_at", { corrects }),
  "message.delivered": ofMessage("delivered_at", { corrects }),
  "message.read": ofMessage("read_at", { corrects }),
  "message.failed": ofMessage("failed_at"),
  "message.received": {
    type: "object",
    properties: {
      ...names(["message_id", "provider_message_id", "from", "to", "type", "from_user_id"]),
      profile: { type: "object", properties: names(["name", "username", "parent_user_id"]) },
      late: { type: "boolean" },
      ...times(["received_at"])
    },
    required: ["message_id", "provider_message_id", "from", "to", "type", "received_at", "late"]
  },
  "message.echoed": {
    type: "object",
    properties: {
      ...names(["message_id", "provider_message_id", "from", "to", "type", "to_user_id"]),
      late: { type: "boolean" },
      ...times(["sent_at"])
    },
    required: ["message_id", "provider_message_id", "from", "to", "type", "sent_at", "late"]
  },
  "campaign.completed": {
    type: "object",
    properties: names(["campaign_id", "name"]),
    required: ["campaign_id", "name"]
  },
  "webhook.test": {
    type: "object",
    properties: { ...names(["webhook_id"]), ...times(["tested_at"]) },
    required: ["webhook_id", "tested_at"]
  }
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
            schema: {
              allOf: [
                { $ref: "#/components/schemas/Event" },
                {
                  type: "object",
                  properties: {
                    type: { type: "string", enum: [type] },
                    data: eventData[type]
                  }
                }
              ]
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
