/** What people read about events: the names of their types, what they report, and whom they are about. Pure. */
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

/** Every event type with its name. */
export const eventTypes: ReadonlyArray<readonly [EventType, string]> = Object.entries(words)
  .map(([type, [name]]) => [type as EventType, name])

/** What an event of this type reports, in a sentence. */
export const meaningOf = (type: EventType): string => words[type][1]

/** Whom or what an event is about, as text: a customer, or a campaign's name; empty if neither. */
export const subjectOf = ({ data, type }: Event): string => {
  if (type === "message.received") return "from" in data ? `from ${data.from}` : ""
  if ("to" in data) return `to ${data.to}${"corrects" in data ? ", which was reported as failed" : ""}`
  if ("name" in data) return String(data.name)
  return ""
}

/** The id of the sent message that an event is about; `undefined` if it is about none. */
export const messageIdOf = ({ data, type }: Event): string | undefined =>
  type === "message.received" || type === "message.echoed" || !("message_id" in data)
    ? undefined
    : String(data.message_id)
