import { Effect } from "effect"

/**
 * Wakes claimers when something may have become due. A notification wakes all that wait. If none waits, it is kept for
 * the next one, until a claim leaves nothing behind.
 */
export class Hint {
  readonly #waiting = new Set<() => void>()
  #changed = false

  readonly notify = (): void => {
    this.#changed = true
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  /** Call after a claim: every change before it has been seen, or is left for other claimers. */
  readonly claimed = (leftSome: boolean): void => {
    if (leftSome) this.notify()
    else this.#changed = false
  }

  readonly wait: Effect.Effect<void> = Effect.callback<void>((resume) => {
    if (this.#changed) {
      this.#changed = false
      return resume(Effect.void)
    }
    // resuming runs a fiber immediately, in the middle of the notifying step, so it must yield first
    const wake = () => resume(Effect.yieldNow)
    this.#waiting.add(wake)
    return Effect.sync(() => this.#waiting.delete(wake))
  })
}
