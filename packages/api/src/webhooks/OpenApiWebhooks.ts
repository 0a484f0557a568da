/**
 * The webhooks in the OpenAPI document: the requests that deliver events (specification §6, contract §6).
 */
import { Event } from "@wac/core"
import { exampleOf, nameOf } from "../events/RecordedEvent.ts"

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
            example: exampleOf(type)
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
