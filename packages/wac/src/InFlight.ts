/**
 * What is under way and must end before an instance is closed.
 */
import { Stopping } from "@wac/core"
import { Duration } from "effect"

/** How long closing waits (milliseconds), as a server's stop does; sends end within the provider's 8 s. */
const patience = Duration.toMillis(Stopping.timeout)

export class InFlight {
  #count = 0
  #isStopped = false
  #ended: (() => void) | undefined

  /** Whether nothing may begin any more. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  readonly begin = (): void => {
    this.#count++
  }

  readonly end = (): void => {
    if (--this.#count === 0) this.#ended?.()
  }

  /** Lets nothing begin any more, and waits for what has begun. */
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
