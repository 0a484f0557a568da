/**
 * The provider for the WhatsApp Cloud API: sending, templates, and Meta's webhooks.
 */
export * as Classification from "./Classification.ts"
export * as ErrorCodes from "./ErrorCodes.ts"
export * as GraphError from "./GraphError.ts"
export * as WhatsApp from "./WhatsApp.ts"
export * as WhatsAppConfig from "./WhatsAppConfig.ts"
export * as WhatsAppProvider from "./WhatsAppProvider.ts"
export * as WhatsAppWebhook from "./WhatsAppWebhook.ts"
