/**
 * The promise that each message of a customer gets its event (contract §6).
 */
import { type Blame, day, grouped } from "./Broken.ts"
import type { ListedEvent, Received } from "./History.ts"

/** An older message has no event, in milliseconds. */
const maxAge = 30 * day

/** Checks that each message of a customer has one `message.received`. `isComplete`: whether a missing event counts. */
export const checkReceipts = (
  received: ReadonlyArray<Received>,
  listed: ReadonlyMap<string, ListedEvent>,
  isComplete: boolean,
  clockError: number,
  blame: Blame
): void => {
  const events = grouped(
    [...listed.values()].filter(({ event }) => event.type === "message.received"),
    ({ event }) => String(event.data["provider_message_id"])
  )
  const mustCount = ({ at, ended }: Received) => ended !== null && at > ended - maxAge + clockError
  const named = received.filter(({ provider_message_id: id }) => id !== undefined)
  for (const [id, posts] of grouped(named, (post) => post.provider_message_id!)) {
    const own = events.get(id) ?? []
    // a message is known by its number too: the same id at another number is another message
    const numbers = new Set(posts.map(({ to }) => to)).size
    const expected = new Set(posts.filter(mustCount).map(({ to }) => to)).size
    if (isComplete && own.length < expected) {
      blame("received-once", "message.received is missing", posts, own)
    }
    if (own.length > numbers) blame("received-once", "message.received more than once", posts, own)
  }
}
