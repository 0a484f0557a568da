/**
 * Events and signed deliveries for tests of a receiver.
 *
 * @module
 */
import type { EventOf } from "./Event.ts"
import { newEventId } from "./EventId.ts"
import type { EventType } from "./generated/Event.ts"
import { exampleEvents } from "./generated/ExampleEvents.ts"

export { type DeliveryHeaders, type DeliveryInput, signDelivery, type SignedDelivery } from "./Delivery.ts"

type Some<Data> = Data extends unknown ? Partial<Data> : never

/** The fields of an example that a test sets. */
export interface EventChanges<Type extends EventType> {
  readonly id?: string
  /** ISO 8601, UTC. */
  readonly created_at?: string
  readonly tenant_id?: string
  /** Fields of the data. With another `type` of a customer's message, its content replaces the example's text. */
  readonly data?: Some<EventOf<Type>["data"]>
}

const dataWith = (example: { readonly [field: string]: unknown }, changes: { readonly [field: string]: unknown }) => {
  const { [`${example["type"]}`]: _content, ...others } = example
  const isOther = "type" in changes && changes["type"] !== example["type"]
  return { ...(isOther ? others : example), ...changes }
}

/**
 * An event of a type as the service sends it, in combined form, with the values of the API's documentation. Each has a
 * new `id`, so that a receiver that remembers ids takes all of them.
 *
 * ```ts
 * exampleEvent("message.received", { data: { from: "+15550002222", text: { body: "Hello" } } })
 * ```
 */
export const exampleEvent = <Type extends EventType>(
  type: Type,
  changes: EventChanges<Type> = {}
): EventOf<Type> => {
  const { data = {}, ...others } = changes
  const example = exampleEvents[type]
  return {
    ...example,
    id: newEventId(),
    ...others,
    data: dataWith({ ...example.data }, { ...data })
  } as unknown as EventOf<Type>
}
