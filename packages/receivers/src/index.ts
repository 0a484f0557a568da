/**
 * Requests to receivers of webhooks: which addresses are allowed, the connections, and the diagnosis of an attempt.
 */
export * as ReceiverAddress from "./ReceiverAddress.ts"
export * as ReceiverGuardDns from "./ReceiverGuardDns.ts"
export * as ReceiverReach from "./ReceiverReach.ts"
export * as WebhookTransportHttp from "./WebhookTransportHttp.ts"
