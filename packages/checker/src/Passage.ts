/**
 * The promises that webhooks and subscriptions share: each event arrives at least once, and after the previous event
 * of its message.
 */
import { type Blame, grouped, least } from "./Broken.ts"
import type { Entry, ListedEvent } from "./History.ts"
import { isRecord } from "./Json.ts"
import type { PromiseName } from "./Promises.ts"

/** An event as the history lists it; else as the body of its first attempt has it. */
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

/** What the history shows of one event's way to one webhook or subscription. */
export interface Passage {
  readonly event: Known
  readonly attempts: ReadonlyArray<Entry>
  /** Each of these entries shows that the event is over, and that the next event may begin. */
  readonly overs: ReadonlyArray<Entry>
  /** Whether the event arrived, or the history shows why it did not. */
  readonly isAccounted: boolean
}

const checkOrderOf = (
  passages: ReadonlyArray<Passage>,
  promise: PromiseName,
  clockError: number,
  blame: Blame
): void => {
  // of the earlier events, the one that was over last
  let last: { readonly passage: Passage; readonly at: number } | undefined
  for (const passage of passages) {
    const [first] = passage.attempts
    if (
      last !== undefined && first !== undefined && first.begun < last.at - clockError &&
      last.passage.event.sequence !== passage.event.sequence
    ) {
      blame(promise, "the event before it was not over", ...last.passage.attempts.slice(0, 1), first)
    }
    const at = least(passage.overs.map(({ begun }) => begun))
    if (last === undefined || at > last.at) last = { passage, at }
  }
}

/** Checks that each event of a message begins only after the previous events are over. */
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

/** Checks that every event since a webhook was set, or a subscription was opened, is accounted for. */
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
      blame(promise, `${type} did not arrive`, entry, passage?.attempts ?? [])
    }
  }
}
