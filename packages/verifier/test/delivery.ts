import { sign, SIGNATURE_HEADER } from "../src/index.ts"
import { vectors } from "./vectors.ts"

export const { secret } = vectors

export const event = {
  id: "evt_01KDZ8J3M5Q2V7XWBN4T6R9GHC",
  object: "event",
  type: "message.delivered",
  created_at: "2026-01-02T03:04:05.000Z",
  tenant_id: "ws_01KDZ8J3M5Q2V7XWBN4T6R9GHC",
  data: {
    message_id: "msg_01KDZ8J3M5Q2V7XWBN4T6R9GHC",
    provider_message_id: "wamid.1",
    to: "+5511999999999",
    status: "delivered",
    delivered_at: "2026-01-02T03:04:05.000Z",
    client_reference: "olá 👋",
    sequence: 2
  }
} as const

/** A body and the headers that it is delivered with, signed now. */
export const delivery = async (body: string | Uint8Array<ArrayBuffer> = JSON.stringify(event)) => ({
  body,
  headers: { "content-type": "application/json", [SIGNATURE_HEADER]: await sign(body, secret) }
})
