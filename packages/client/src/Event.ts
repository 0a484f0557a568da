/**
 * Events as `GET /v1/events` lists them and as webhooks in combined form deliver them (specification §6, contract §6).
 */
import type { Event, EventType } from "./generated/Event.ts"

export type * from "./generated/Event.ts"

/** An event of one type. */
export type EventOf<Type extends EventType> = Extract<Event, { readonly type: Type }>

/** The `data` of each type of event. */
export type EventDataByType = { readonly [Type in EventType]: EventOf<Type>["data"] }
