import { Effect } from "effect"

/**
 * Tells claimers that something may have become due. All who wait are woken; a change that nobody waited for is kept
 * for the next who does, until a claim has left nothing behind.
 */
export class Hint {
  readonly #waiting = new Set<() => void>()
  #changed = false

  readonly notify = (): void => {
    this.#changed = true
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  /** After a claim: whatever changed before it has been seen, or is left for others. */
  readonly claimed = (leftSome: boolean): void => {
    if (leftSome) this.notify()
    else this.#changed = false
  }

  readonly wait: Effect.Effect<void> = Effect.callback<void>((resume) => {
    if (this.#changed) {
      this.#changed = false
      return resume(Effect.void)
    }
    // resuming runs the fiber at once, in the middle of the step that notifies: it must yield first
    const wake = () => resume(Effect.yieldNow)
    this.#waiting.add(wake)
    return Effect.sync(() => this.#waiting.delete(wake))
  })
}
