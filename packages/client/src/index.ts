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
export {
  type CampaignFile,
  type Client,
  type ClientOptions,
  type ConversationQuery,
  createClient,
  type EnqueueOptions,
  type MediaFile,
  type NewMessage,
  type OpenOptions,
  type QueueItem,
  type SendOptions,
  type SendTimes
} from "./Client.ts"
export { type ErrorBody, type ErrorCode, type ErrorReason, WacApiError, WacConnectionError } from "./ClientError.ts"
export type * from "./Event.ts"
export type * from "./generated/ErrorReasons.ts"
export type * from "./generated/Wire.ts"
export type {
  CreatePublicCampaign as CreateCampaign,
  EditPublicCampaign as EditCampaign,
  PublicCampaign as Campaign,
  PublicCampaignRow as CampaignRow
} from "./generated/Wire.ts"
export type { Hooks, RequestSummary } from "./Hooks.ts"
export type { Json } from "./Json.ts"
export type { Answered, LastResponse, RateLimit } from "./LastResponse.ts"
export type { List } from "./List.ts"
export type { Page } from "./Page.ts"
export { isRetryable } from "./Retry.ts"
export type { CallOptions, Clock, TransportOptions } from "./Transport.ts"
export type { UnknownName } from "./UnknownName.ts"
