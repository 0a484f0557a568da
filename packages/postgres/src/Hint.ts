import { Effect } from "effect"

/**
 * Wakes claimers when something may have become due. A notification wakes all that wait. If none waits, it is kept for
 * the next one, unless a claim that began later has seen the change.
 */
export class Hint {
  readonly #waiting = new Set<() => void>()
  #told = false

  readonly tell = (): void => {
    this.#told = true
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  readonly claiming = (): void => {
    this.#told = false
  }

  readonly wait: Effect.Effect<void> = Effect.callback<void>((resume) => {
    if (this.#told) {
      this.#told = false
      return resume(Effect.void)
    }
    // resuming runs the fiber immediately, so it must yield until the notifying step is done
    const wake = () => resume(Effect.yieldNow)
    this.#waiting.add(wake)
    return Effect.sync(() => this.#waiting.delete(wake))
  })
}
