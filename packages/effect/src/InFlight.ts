/**
 * Counts work in flight, which must finish before an instance is closed.
 */
import { Stopping } from "@wac/core"
import { Duration } from "effect"

/** How long `stop` waits, in milliseconds: as long as a server's stop. Sends finish within the provider's 8 s. */
const timeLimit = Duration.toMillis(Stopping.timeout)

/** The interval of a timer that does nothing but keep the process alive: the longest that there is. */
const interval = 2 ** 31 - 1

const keepAlive = () => setInterval(() => {}, interval)

/** The work in flight of one instance: requests, operations, and functions of the host that it calls. */
export class InFlight {
  readonly #keepsAlive: boolean
  #alive: NodeJS.Timeout | undefined

  /** `keepsAlive` is whether work in flight must keep the process alive, because nothing else does. */
  constructor(keepsAlive = false) {
    this.#keepsAlive = keepsAlive
  }

  #count = 0
  /** How much of it keeps the process alive. */
  #holding = 0
  /** How many functions of the host are in flight. */
  #hosted = 0
  #isStopped = false
  #isOver = false
  #ended: (() => void) | undefined

  /** Whether nothing new may begin: no request, and no call of a function of the host. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Whether operations are refused: while functions of the host are running, they may need some to finish. */
  get isRefusing(): boolean {
    return this.#isOver || this.#isStopped && this.#hosted === 0
  }

  readonly begin = (): void => {
    this.#count++
    if (this.#holding++ === 0 && this.#keepsAlive) this.#alive = keepAlive()
  }

  /** Has work in flight no longer keep the process alive, since the host has it now. It ends by {@link endPassedOn}. */
  readonly passOn = (): void => {
    if (--this.#holding === 0) clearInterval(this.#alive)
  }

  readonly endPassedOn = (): void => {
    if (--this.#count === 0) this.#ended?.()
  }

  readonly end = (): void => {
    this.passOn()
    this.endPassedOn()
  }

  /** Keeps the process alive until a promise has settled. */
  readonly alive = async <A>(promise: Promise<A>): Promise<A> => {
    const timer = keepAlive()
    try {
      return await promise
    } finally {
      clearInterval(timer)
    }
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
        const timer = setTimeout(resolve, timeLimit)
        this.#ended = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#isOver = true
  }
}
