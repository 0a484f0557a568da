/**
 * Counts work in flight, which must finish before an instance is closed.
 */
import { Stopping } from "@wac/core"
import { Duration } from "effect"

/** How long closing waits, in milliseconds: as long as a server's stop. Sends finish within the provider's 8 s. */
const patience = Duration.toMillis(Stopping.timeout)

export class InFlight {
  #count = 0
  /** How many of them are functions of the host. */
  #hosted = 0
  #isStopped = false
  #isOver = false
  #ended: (() => void) | undefined

  /** Whether nothing new is begun: no request, and no call of a function of the host. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Whether operations are refused: while functions of the host are running, they may need some to finish. */
  get isRefusing(): boolean {
    return this.#isOver || this.#isStopped && this.#hosted === 0
  }

  readonly begin = (): void => {
    this.#count++
  }

  readonly end = (): void => {
    if (--this.#count === 0) this.#ended?.()
  }

  /** Counts a function of the host, until its promise has settled. */
  readonly hosted = async <A>(run: () => A | Promise<A>): Promise<A> => {
    this.begin()
    this.#hosted++
    try {
      return await run()
    } finally {
      this.#hosted--
      this.end()
    }
  }

  /** Refuses new work, and waits for work in flight. */
  readonly stop = async (): Promise<void> => {
    this.#isStopped = true
    if (this.#count > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, patience)
        this.#ended = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#isOver = true
  }
}
