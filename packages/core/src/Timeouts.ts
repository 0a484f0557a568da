/**
 * Timeouts for many short operations. One timer and one fiber per operation would cost a noticeable part of a send or
 * an attempt, so operations with the same timeout share a fiber.
 */
import { Clock, Duration, Effect, FiberSet, type Scope } from "effect"
import * as Elapsed from "./Elapsed.ts"

/**
 * A deadline, linked to the deadlines with the same timeout that were set before and after it. This is a linked list
 * and not a `Set`, because a set's tables would keep deadlines until a major collection (docs/decisions/0028-wac.md).
 */
interface Deadline {
  readonly at: number
  readonly miss: () => void
  before: Deadline | undefined
  after: Deadline | undefined
}

/** The open deadlines with the same timeout, in the order in which they pass. */
class Line {
  first: Deadline | undefined
  last: Deadline | undefined

  add(at: number, miss: () => void): Deadline {
    const deadline: Deadline = { at, miss, before: this.last, after: undefined }
    if (this.last === undefined) this.first = deadline
    else this.last.after = deadline
    this.last = deadline
    return deadline
  }

  /** Removes a deadline. Does nothing if it was removed before. */
  remove(deadline: Deadline): void {
    const { after, before } = deadline
    if (before === undefined) {
      if (this.first !== deadline) return
      this.first = after
    } else before.after = after
    if (after === undefined) this.last = before
    else after.before = before
    deadline.before = undefined
    deadline.after = undefined
  }
}

/** Sets deadlines for operations. */
export interface Timeouts {
  /** Calls `miss` once `timeout` has passed, never earlier. Returns a function that cancels the deadline. */
  readonly set: (timeout: Duration.Duration, miss: () => void) => () => void
}

/**
 * Runs one fiber for each distinct timeout while it has deadlines. When the scope ends, so do the fibers, and open
 * deadlines are never missed.
 */
export const make: Effect.Effect<Timeouts, never, Scope.Scope> = Effect.gen(function*() {
  const clock = yield* Clock.Clock
  const fork = yield* FiberSet.makeRuntime<never>()
  /** The deadlines by timeout in milliseconds. */
  const lines = new Map<number, Line>()

  const now = () => Elapsed.of(clock)

  const watch = (milliseconds: number, line: Line): Effect.Effect<void> =>
    Effect.suspend(() => {
      for (let { first } = line; first !== undefined; first = line.first) {
        const left = first.at - now()
        if (left > 0) return Effect.andThen(Effect.sleep(Math.ceil(left)), watch(milliseconds, line))
        line.remove(first)
        first.miss()
      }
      lines.delete(milliseconds)
      return Effect.void
    })

  return {
    set: (timeout, miss) => {
      const milliseconds = Duration.toMillis(timeout)
      const known = lines.get(milliseconds)
      const line = known ?? new Line()
      const deadline = line.add(now() + milliseconds, miss)
      if (known === undefined) {
        lines.set(milliseconds, line)
        fork(watch(milliseconds, line))
      }
      return () => line.remove(deadline)
    }
  }
})
