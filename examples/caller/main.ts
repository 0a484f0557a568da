// Sends over the HTTP API, and shows what became of it:
// `WAC_URL=…/v1 WAC_API_KEY=wac_live_… node main.ts 1042 +15551234567 Ana`
import { createClient, WacError } from "@wac/client"

const { WAC_API_KEY = "", WAC_URL = "http://127.0.0.1:8080/v1" } = process.env
const [order = "1042", phone = "+15551234567", name = "Ana"] = process.argv.slice(2)

const wac = createClient({ baseUrl: WAC_URL, apiKey: WAC_API_KEY })

try {
  const { messageId } = await wac.messages.send({
    to: phone,
    type: "template",
    template: { name: "order_update", language: "en_US", bodyParams: [name, order] }
  }, { idempotencyKey: `order-${order}-shipped` }) // the next run for this order within 24 hours sends nothing anew
  const message = await wac.messages.get(messageId)
  console.log(messageId, message.status)
  const since = message.direction === "outbound" ? message.createdAt : message.receivedAt
  for await (const event of wac.events.list({ since })) {
    if ("message_id" in event.data && event.data.message_id === messageId) console.log(event.type, event.id)
  }
} catch (error) {
  if (!(error instanceof WacError)) throw error
  // what is worth trying again was tried again, under the same key
  console.error(`${error.code} ${error.reason ?? ""} ${error.param ?? ""}: ${error.message}`)
  process.exitCode = 1
}
