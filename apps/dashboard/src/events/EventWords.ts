/** What the types of events are called, and whom they are about. Pure. */
import type { Event } from "@wac/client/internal"

export const eventTypes = [
  ["message.sent", "Message sent"],
  ["message.delivered", "Message delivered"],
  ["message.read", "Message read"],
  ["message.failed", "Message failed"],
  ["message.received", "Customer reply"],
  ["message.echoed", "Written on the phone"],
  ["campaign.completed", "Campaign completed"],
  ["webhook.test", "Webhook test"]
] as const satisfies ReadonlyArray<readonly [Event["type"], string]>

/** The customer or the thing that an event is about. */
export const subjectOf = ({ data, type }: Event): string => {
  if (type === "message.received") return "from" in data ? `from ${data.from ?? data.from_user_id ?? "a customer"}` : ""
  if ("to" in data) return `to ${data.to}`
  if ("name" in data) return String(data.name)
  return ""
}
