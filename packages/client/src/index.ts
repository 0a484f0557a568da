/**
 * The client of the HTTP API, for programs that send messages: no dependency, on `fetch` alone.
 *
 * ```ts
 * import { createClient } from "@wac/client"
 *
 * const wac = createClient({ baseUrl: "https://wac.example.com/v1", apiKey: process.env.WAC_API_KEY! })
 * await wac.messages.send({ to: "+15551234567", type: "text", text: { body: "Hello" } })
 * for await (const event of wac.events.list({ since: "2026-11-21T00:00:00Z" })) console.log(event.type)
 * ```
 *
 * @module
 */
export type { Clock, TransportOptions } from "./CallOptions.ts"
export {
  type CampaignFile,
  type CampaignFileOptions,
  type Client,
  type ClientOptions,
  createClient,
  type Response,
  type Retries
} from "./Client.ts"
export { type ErrorBody, type ErrorDetails, WacError } from "./ClientError.ts"
export type * from "./generated/AccountTemplates.ts"
export type * from "./generated/ErrorReasons.ts"
export type * from "./generated/Event.ts"
export type * from "./generated/MessageContents.ts"
export type * from "./generated/Messaging.ts"
export type * as Wire from "./generated/Wire.ts"
export type { Hooks, RequestSummary } from "./Hooks.ts"
export type { Json } from "./Json.ts"
export type { LastResponse, RateLimit } from "./LastResponse.ts"
export { isRetryable } from "./Retry.ts"
export type { TimeInput } from "./TimeInput.ts"
export type { UnknownName } from "./UnknownName.ts"
