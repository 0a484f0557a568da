/** The names of the types of events, and whom they are about. Pure. */
import type { Event, EventType } from "@wac/client/internal"
import { t } from "../ui/Language.ts"

const words: { readonly [Type in EventType]: readonly [name: string, meaning: string] } = {
  "message.sent": [t("Message sent"), t("The provider accepted a message")],
  "message.delivered": [t("Message delivered"), t("A message arrived at the phone")],
  "message.read": [t("Message read"), t("A message was read")],
  "message.failed": [t("Message failed"), t("A message did not arrive, as far as is known")],
  "message.received": [t("Customer reply"), t("A customer wrote")],
  "message.echoed": [t("Message echoed"), t("A person wrote to a customer from the phone itself")],
  "campaign.completed": [t("Campaign completed"), t("A campaign ended")],
  "webhook.test": [t("Webhook test"), t("A test event, or the probe before a resume")]
}

/** Every type of event with its name. */
export const eventTypes: ReadonlyArray<readonly [EventType, string]> = Object.entries(words)
  .map(([type, [name]]) => [type as EventType, name])

/** The report of an event of a type, in words. */
export const meaningOf = (type: EventType): string => words[type][1]

/** The customer or the thing that an event is about. */
export const subjectOf = ({ data, type }: Event): string => {
  if (type === "message.received") return "from" in data ? `from ${data.from}` : ""
  if ("to" in data) return `to ${data.to}${"corrects" in data ? ", which was reported as failed" : ""}`
  if ("name" in data) return String(data.name)
  return ""
}

/** The id of the sent message of whose life an event is a part, if it is of one. */
export const messageOf = ({ data, type }: Event): string | undefined =>
  type === "message.received" || type === "message.echoed" || !("message_id" in data)
    ? undefined
    : String(data.message_id)
