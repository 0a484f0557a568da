/**
 * The way of an event to a webhook or to a subscription: at least once, and after the one before it of its message.
 */
import { type Blame, grouped } from "./Broken.ts"
import type { Entry, ListedEvent } from "./History.ts"
import { isRecord } from "./Json.ts"
import type { PromiseName } from "./Promises.ts"

/** An event as it was listed, or else as its first attempt has it. */
export interface Known {
  readonly id: string
  readonly type: string
  readonly messageId: string | undefined
  readonly sequence: number
  readonly listed: ListedEvent | undefined
}

export const knownBy = (
  { data, type }: { readonly type?: unknown; readonly data?: unknown },
  id: string,
  listed?: ListedEvent
): Known => {
  const { message_id: messageId, sequence } = isRecord(data) ? data : {}
  return {
    id,
    type: String(type),
    messageId: typeof messageId === "string" ? messageId : undefined,
    sequence: Number(sequence),
    listed
  }
}

/** All of one event on its way to one receiver or handler. */
export interface Passage {
  readonly event: Known
  readonly attempts: ReadonlyArray<Entry>
  /** Each of these shows that it is over, and that the next one may begin. */
  readonly overs: ReadonlyArray<Entry>
  /** Whether it arrived, or it is known why it did not. */
  readonly isAccounted: boolean
}

const checkOrderOf = (
  passages: ReadonlyArray<Passage>,
  promise: PromiseName,
  clockError: number,
  blame: Blame
): void => {
  // the event that was over last, of those before
  let last: { readonly passage: Passage; readonly at: number } | undefined
  for (const passage of passages) {
    const [first] = passage.attempts
    if (
      last !== undefined && first !== undefined && first.begun < last.at - clockError &&
      last.passage.event.sequence !== passage.event.sequence
    ) {
      blame(promise, "the event before it was not over", ...last.passage.attempts.slice(0, 1), first)
    }
    const at = Math.min(...passage.overs.map(({ begun }) => begun))
    if (last === undefined || at > last.at) last = { passage, at }
  }
}

/** Whether the events of each message came one after the other. */
export const checkOrder = (
  passages: Iterable<Passage>,
  promise: PromiseName,
  clockError: number,
  blame: Blame
): void => {
  const ordered = [...passages].filter(({ event }) => event.messageId !== undefined && Number.isFinite(event.sequence))
  for (const group of grouped(ordered, ({ event }) => event.messageId!).values()) {
    checkOrderOf([...group].sort((a, b) => a.event.sequence - b.event.sequence), promise, clockError, blame)
  }
}

/** Whether every event since a webhook was set, or a subscription was opened, is accounted for. */
export const checkAtLeastOnce = (
  { ended, event_types: types }: Pick<Entry, "ended"> & { readonly event_types?: ReadonlyArray<string> },
  passages: ReadonlyMap<string, Passage>,
  listed: ReadonlyMap<string, ListedEvent>,
  promise: PromiseName,
  clockError: number,
  blame: Blame
): void => {
  if (ended === null) return
  for (const entry of listed.values()) {
    const { created_at: createdAt, id, type } = entry.event
    if (Date.parse(createdAt) <= ended + clockError || (types !== undefined && !types.includes(type))) continue
    const passage = passages.get(id)
    if (passage?.isAccounted !== true) {
      blame(promise, `${type} did not arrive`, entry, ...passage?.attempts ?? [])
    }
  }
}
