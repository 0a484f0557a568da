/**
 * The events that the service sends (service specification §6, contract §6), as types. They cost nothing at run time.
 */
import type { Event, EventType } from "./generated/Event.ts"
import type { Json } from "./Json.ts"
import type { UnknownName } from "./UnknownName.ts"

export type * from "./generated/Event.ts"

/** The `data` of each type of event, in combined form. */
export type EventDataByType = { readonly [Type in EventType]: EventOf<Type>["data"] }

/**
 * The webhook's envelope: `combined` unless it was changed; `a` and `b` are the two variants of the specification, each
 * with only its own fields.
 */
export type Envelope = "combined" | "a" | "b"

type Without<Data, Fields extends string> = Data extends unknown ? {
    readonly [Field in keyof Data as Field extends Fields ? never : Field]: Data[Field]
  }
  : never

/** The fields of `data` that neither variant has. */
type Combined = "sequence" | "client_reference" | "late" | "pricing" | "profile" | "corrects"

/** An event in each envelope. */
interface Enveloped<One extends Omit<Event, "type" | "data"> & { readonly type: string; readonly data: unknown }> {
  readonly combined: One
  readonly a: Pick<One, "id" | "type" | "created_at"> & {
    readonly data: Without<One["data"], `${string}_at` | "provider_message_id" | Combined>
  }
  readonly b: Pick<One, "type" | "tenant_id"> & { readonly data: Without<One["data"], "status" | Combined> }
}

/** An event of one type that this version knows. */
export type EventOf<Type extends EventType, E extends Envelope = "combined"> = {
  readonly [T in Type]: Enveloped<Extract<Event, { readonly type: T }>>[E]
}[Type]

interface Unknown extends Omit<Event, "type" | "data"> {
  readonly type: UnknownName
  readonly data: { readonly [field: string]: Json }
}

/** An event of a type newer than this version. Respond with 200 and ignore it, or read it with care. */
export type UnknownEvent<E extends Envelope = "combined"> = Enveloped<Unknown>[E]

/**
 * An event as delivered. Narrow it by its `type`:
 *
 * ```ts
 * switch (event.type) {
 *   case "message.delivered":
 *     return markDelivered(event.data.message_id, event.data.delivered_at)
 *   case "message.received":
 *     return event.data.type === "text" ? answer(event.data.from, event.data.text.body) : undefined
 * }
 * ```
 */
export type WebhookEvent<E extends Envelope = "combined"> = EventOf<EventType, E> | UnknownEvent<E>
