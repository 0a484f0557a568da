import type { Told } from "wac"

/** A callback of the gateway. */
export type Callback =
  | { readonly kind: "report"; readonly reference: string; readonly state: "delivered" | "undelivered" }
  | { readonly kind: "reply"; readonly id: string; readonly from: string; readonly to: string; readonly text: string }

/** What a callback reports, for `wac.inbound.receive`. */
export const toldBy = (callback: Callback): Told =>
  callback.kind === "reply"
    ? {
      type: "message",
      providerNumberId: callback.to,
      providerMessageId: callback.id,
      from: callback.from,
      text: { body: callback.text }
    }
    : callback.state === "delivered"
    ? { type: "status", messageId: callback.reference, status: "delivered" }
    : {
      type: "status",
      messageId: callback.reference,
      status: "failed",
      error: { code: "invalid_body", reason: "undeliverable", message: "the phone could not be reached" }
    }
