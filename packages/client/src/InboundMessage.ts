import type { ReceivedContent, ReceivedContext } from "./ReceivedContent.ts"

/**
 * A message of a customer (contract §13). `type` names the field that holds what they wrote, as in `message.received`.
 */
export type InboundMessage = ReceivedContent & {
  readonly direction: "inbound"
  readonly status: "received"
  readonly message_id: string
  readonly provider_message_id: string
  readonly tenant_id: string
  /** The customer's number, E.164, or their user id if the provider reports no number. A reply can be sent to it. */
  readonly from: string
  readonly from_user_id: string | null
  /** The workspace's number that they wrote to, E.164. */
  readonly to: string
  readonly context: ReceivedContext | null
  /** The message's own time. */
  readonly received_at: string
}
