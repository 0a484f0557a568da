/**
 * Counts work in flight, which must finish before an instance is closed.
 */
import { Stopping } from "@wac/core"
import { Duration } from "effect"

/** How long closing waits, in milliseconds: as long as a server's stop. Sends finish within the provider's 8 s. */
const patience = Duration.toMillis(Stopping.timeout)

export class InFlight {
  #count = 0
  #isStopped = false
  #ended: (() => void) | undefined

  /** Whether new work is refused. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  readonly begin = (): void => {
    this.#count++
  }

  readonly end = (): void => {
    if (--this.#count === 0) this.#ended?.()
  }

  /** Refuses new work, and waits for work in flight. */
  readonly stop = async (): Promise<void> => {
    this.#isStopped = true
    if (this.#count === 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, patience)
      this.#ended = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
