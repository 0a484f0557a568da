/**
 * Posts as Meta writes them, and what is read from them.
 */
import { assert } from "@effect/vitest"
import type { InboundItem } from "@wac/core"
import * as Payload from "../src/Payload.ts"
import * as WebhookPost from "../src/WebhookPost.ts"

/** 2026-03-01T12:00:00Z. */
export const now = 1_772_366_400_000

/** A time before now, as Meta writes times. */
export const secondsAgo = (seconds: number): string => `${now / 1000 - seconds}`

export const account = "214800900000001"
export const number = "331900700000002"

export type Json = Payload.Json

export const post = (...entries: ReadonlyArray<Json>): Json => ({ object: "whatsapp_business_account", entry: entries })

/** An entry of changes that came at a time; without one, as conversations are. */
export const entry = (changes: ReadonlyArray<Json>, time?: Json): Json => ({
  id: account,
  ...(time === undefined ? {} : { time }),
  changes
})

export const change = (field: string, value: Json): Json => ({ field, value })

/** What a value about conversations begins with. */
export const product = {
  messaging_product: "whatsapp",
  metadata: { display_phone_number: "15557010002", phone_number_id: number }
}

/** The change of a conversation, such as `{ statuses: [...] }`. */
export const conversation = (value: { readonly [name: string]: Json }): Json =>
  change("messages", { ...product, ...value })

/** What a post is read as, by way of its bytes. */
export const readPost = (json: Json): ReadonlyArray<InboundItem.InboundItem> => {
  const items = WebhookPost.read(Payload.parse(JSON.stringify(json)), now)
  assert.isDefined(items)
  return [...items]
}

/** What a conversation is read as. */
export const read = (value: { readonly [name: string]: Json }) => readPost(post(entry([conversation(value)])))

/** What a change of an account, five minutes ago, is read as. */
export const readChange = (field: string, value: Json) =>
  readPost(post(entry([change(field, value)], now / 1000 - 300)))

export const skipped = (kind: string): InboundItem.InboundItem => ({ _tag: "Skipped", kind })

export const ana = { wa_id: "15557020011", profile: { name: "Ana" }, user_id: "US.9007199254740993" }

export const message = (fields: { readonly [name: string]: Json }): Json => ({
  from: ana.wa_id,
  id: "wamid.in.1",
  timestamp: secondsAgo(60),
  ...fields
})

export const status = (fields: { readonly [name: string]: Json }): Json => ({
  id: "wamid.out.1",
  status: "delivered",
  timestamp: secondsAgo(60),
  recipient_id: ana.wa_id,
  ...fields
})
