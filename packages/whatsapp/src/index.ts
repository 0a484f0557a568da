export * as Classification from "./Classification.ts"
export * as ErrorCodes from "./ErrorCodes.ts"
export * as GraphError from "./GraphError.ts"
export * as WhatsAppWebhook from "./WhatsAppWebhook.ts"
