/**
 * How much of a foreign body is read between two turns of the event loop. Amounts are counted and no time, so that a
 * test holds on a machine of any speed.
 */
import { Effect, Stream } from "effect"

/** Counts the turns of the event loop while an effect runs, and passes on what counts in the present one. */
const counting = async <A>(run: (turn: () => number) => Promise<A>): Promise<A> => {
  let turns = 0
  let isRunning = true
  const next = () => {
    turns++
    if (isRunning) setImmediate(next)
  }
  setImmediate(next)
  try {
    return await run(() => turns)
  } finally {
    isRunning = false
  }
}

/** The most records that come between two turns of the event loop, and the most bytes of them that are read. */
export const mostAtOnce = <A, E>(
  read: (body: Stream.Stream<Uint8Array>) => Stream.Stream<A, E>,
  file: Uint8Array
) =>
  Effect.promise(() =>
    counting(async (turn) => {
      const counts = new Map<number, { rows: number; bytes: number }>()
      const at = () => {
        const count = counts.get(turn()) ?? { rows: 0, bytes: 0 }
        counts.set(turn(), count)
        return count
      }
      // a piece that counts when it is taken out of the body, as one that the parser reads
      const subarray = Uint8Array.prototype.subarray
      const body = Object.assign(file, {
        subarray: function(this: Uint8Array, from?: number, to?: number) {
          const piece = subarray.call(this, from, to)
          at().bytes += piece.length
          return piece
        }
      })
      await Effect.runPromise(Stream.runForEach(read(Stream.make(body)), () => Effect.sync(() => void at().rows++)))
      const all = [...counts.values()]
      return {
        total: all.reduce((sum, { rows }) => sum + rows, 0),
        rows: Math.max(...all.map(({ rows }) => rows)),
        bytes: Math.max(...all.map(({ bytes }) => bytes))
      }
    })
  )

/** The most steps that an effect takes between two turns of the event loop. `step` is called at each. */
export const mostSteps = <A, E>(run: (step: (size: number) => void) => Effect.Effect<A, E>) =>
  Effect.promise(() =>
    counting(async (turn) => {
      const sums = new Map<number, number>()
      await Effect.runPromise(run((size) => void sums.set(turn(), (sums.get(turn()) ?? 0) + size)))
      return Math.max(...sums.values())
    })
  )
