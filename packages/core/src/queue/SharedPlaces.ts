/**
 * Places that several parties share, each for one piece of work at a time. A place that becomes free goes to the
 * waiting parties in turn, so that one with much work delays no other.
 */
import { Effect } from "effect"

/** Runs an effect in a place, as a party with this name. */
export type Occupy = (party: string) => <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Shares so many places. */
export const make = (count: number): Occupy => {
  let free = count
  /** Who waits, by party, in the order of their turns. */
  const waiting = new Map<string, Array<() => void>>()

  const give = Effect.sync(() => {
    const [next] = waiting
    if (next === undefined) {
      free++
      return
    }
    const [party, line] = next
    const enter = line.shift()!
    // behind the other parties
    waiting.delete(party)
    if (line.length > 0) waiting.set(party, line)
    enter()
  })

  const take = (party: string): Effect.Effect<void> =>
    Effect.callback((resume) => {
      if (free > 0) {
        free--
        return resume(Effect.void)
      }
      const line = waiting.get(party) ?? []
      // resuming runs the fiber immediately: who gives a place goes on first
      const enter = () => resume(Effect.yieldNow)
      line.push(enter)
      waiting.set(party, line)
      return Effect.suspend(() => {
        const place = line.indexOf(enter)
        // it was given a place, in which it does not begin
        if (place < 0) return give
        line.splice(place, 1)
        if (line.length === 0) waiting.delete(party)
        return Effect.void
      })
    })

  return (party) => (work) =>
    Effect.uninterruptibleMask((restore) => Effect.andThen(restore(take(party)), Effect.ensuring(restore(work), give)))
}
