/**
 * A simulated WhatsApp Cloud API, for tests and for running a service against it.
 */
export * as CloudApi from "./CloudApi.ts"
export * as CloudApiClock from "./control/CloudApiClock.ts"
