/**
 * Places that several parties share, each for one piece of work at a time. A place that becomes free goes to the
 * waiting parties in turn, so that one with much work delays no other.
 */
import { Effect } from "effect"

/** Runs an effect in a place, as a party with this name. */
export type Occupy = (party: string) => <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Shares so many places, of which one party has at most `most` at once. */
export const make = (count: number, most = count): Occupy => {
  let free = count
  /** How many places each party has. */
  const held = new Map<string, number>()
  /** Who waits, by party, in the order of their turns. */
  const waiting = new Map<string, Array<() => void>>()

  const mayEnter = (party: string): boolean => free > 0 && (held.get(party) ?? 0) < most

  const hold = (party: string): void => {
    free--
    held.set(party, (held.get(party) ?? 0) + 1)
  }

  const give = (party: string) =>
    Effect.sync(() => {
      free++
      const left = held.get(party)! - 1
      if (left === 0) held.delete(party)
      else held.set(party, left)
      const next = [...waiting].find(([party]) => mayEnter(party))
      if (next === undefined) return
      const [entering, line] = next
      const enter = line.shift()!
      // behind the other parties
      waiting.delete(entering)
      if (line.length > 0) waiting.set(entering, line)
      hold(entering)
      enter()
    })

  const take = (party: string): Effect.Effect<void> =>
    Effect.callback((resume) => {
      if (mayEnter(party)) {
        hold(party)
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
        if (place < 0) return give(party)
        line.splice(place, 1)
        if (line.length === 0) waiting.delete(party)
        return Effect.void
      })
    })

  return (party) => (work) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.andThen(restore(take(party)), Effect.ensuring(restore(work), give(party)))
    )
}
