import type { WebhookEvent } from "@wac/verifier"

/** What the application does with an event. It may take its time: the answer is out already. */
export const work = async (event: WebhookEvent): Promise<void> => {
  switch (event.type) {
    case "message.delivered":
      return console.log(`${event.data.message_id} arrived at ${event.data.delivered_at}`)
    case "message.failed":
      return console.log(`${event.data.message_id} failed: ${event.data.error.message}`)
    case "message.received":
      return console.log(event.data.type === "text" ? `${event.data.from}: ${event.data.text.body}` : event.data.type)
    default:
      return // also types that are newer than this program
  }
}
