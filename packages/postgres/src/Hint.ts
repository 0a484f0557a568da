import { Effect } from "effect"

/**
 * Tells claimers that something may have become due. All who wait are woken; what nobody waited for is kept for the
 * next who does, unless a claim that began later has seen it.
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
    // resuming runs the fiber at once: whoever tells must be through first
    const wake = () => resume(Effect.yieldNow)
    this.#waiting.add(wake)
    return Effect.sync(() => this.#waiting.delete(wake))
  })
}
