/**
 * The names, ids and times in the examples of requests and responses: a resource has the same id in all of them.
 */

export const request = "req_01K8ZQ4V5S8WV1K2M4N6P7Q9AB"
export const workspace = "ws_01K8ZPZ0M4C6D8F2G3H5J7K9QR"
export const apiKey = "key_01K8ZQ1B3C5D7E9F0G2H4J6K8M"
export const person = { userId: "usr_01K8ZPZ0N5D7E9G3H4J6K8M0ST", email: "ana@example.com" }
export const phoneNumber = { id: "pn_01K8ZPZ0Q7F9G1H5J6K8M0N2VW", written: "+15550001111" }
export const customer = "+15551234567"
export const sent = {
  id: "msg_01K8ZQ4V6T9XW2M3N5P7R8S0AB",
  providerId: "wamid.HBgLMTU1NTEyMzQ1NjcVAgARGBI5QTNDQTVC",
  reference: "order-1042"
}
export const received = {
  id: "msg_01K8ZQ6W7X8Y9Z0A1B2C3D4E5F",
  providerId: "wamid.HBgLMTU1NTEyMzQ1NjcVAgASGBQzQTlGQ0Y"
}
export const media = "med_01K8ZQ4V6T9XW2M3N5P7R8S0AB"
export const campaign = "cmp_01K8ZQ8F6G0H2J4K6M8N0P2Q4R"
export const webhook = { id: "whk_01K8ZQ2C4D6E8F0G1H3J5K7M9N", url: "https://example.com/webhooks" }
export const event = "evt_01K8ZQ50S2T4V6W8X0Y1Z3A5BC"
export const secret = "whsec_8Kq2vN5xT1bR7mJ4wY0zC3dF6gH9sL2pQ5eA8uX1"
export const address = "203.0.113.7"
export const password = "correct horse battery"

/** A code of an authenticator app. */
export const code = "492039"

/** Times of one day, from the start of the service to the answer of a receiver. */
export const times = {
  start: "2026-01-02T03:00:00.000Z",
  created: "2026-01-02T03:04:05.000Z",
  sent: "2026-01-02T03:04:05.300Z",
  delivered: "2026-01-02T03:04:05.600Z",
  recorded: "2026-01-02T03:04:05.678Z",
  answered: "2026-01-02T03:04:06.120Z",
  received: "2026-01-02T03:05:07.000Z",
  nextDay: "2026-01-03T03:00:00.000Z",
  nextWeek: "2026-01-09T03:04:05.678Z"
} as const

/** A template's content, as a send fills it. */
export const template = { name: "order_update", language: "en_US", bodyParams: ["Ana", "1042"] }
