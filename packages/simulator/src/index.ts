/**
 * A simulated WhatsApp Cloud API, for tests and for a service that runs beside it.
 */
export * as CloudApi from "./CloudApi.ts"
export * as CloudApiClock from "./control/CloudApiClock.ts"
