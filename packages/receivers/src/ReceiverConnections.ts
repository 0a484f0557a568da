/**
 * Connections to receivers: kept open for a moment between requests, closed when nobody wants them.
 */
import { WebhookScheduler, type WebhookTransport } from "@wac/core"
import { type Clock, Duration, Effect, type Scope } from "effect"
import { ReceiverConnection, written } from "./ReceiverConnection.ts"
import type { Connector } from "./ReceiverConnector.ts"
import type { ReceiverExchange } from "./ReceiverExchange.ts"

const { doubtful, healthy } = WebhookScheduler.maxInFlight

/**
 * So many unused connections are kept; beyond it the one unused longest is closed. As many as the scheduler has
 * attempts in flight at most, so that a steady load connects to nobody twice.
 */
const maxIdle = healthy + doubtful

/**
 * Of them so many to one host, as many as healthy webhooks have attempts in flight; nobody waits for a connection, so
 * those in use are as many as the attempts. Thousands of webhooks may be one platform's, and it counts connections.
 */
const maxIdlePerOrigin = healthy

/** An unused connection is closed after this: common servers close theirs after 5 s, and then lose what is sent. */
const idleTimeout = Duration.seconds(4)

/** A receiver may ask for longer, up to this. */
const maxIdleTimeout = Duration.seconds(10)

/** No connection is used again at this age, so that a change of the name's addresses is noticed. */
const maxAge = Duration.minutes(1)

/** A receiver that announces when it closes gets the connection closed this much earlier. */
const announcedMarginMs = 2000

/** The time that a receiver's `Keep-Alive` header announces, in milliseconds; `undefined` if it announces nothing. */
const announcedIdleMs = (header: string | undefined): number | undefined => {
  const seconds = header === undefined ? undefined : /(?:^|[\s,;])timeout=(\d{1,6})/i.exec(header)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1000
}

export interface Options {
  /** How long an unused connection is kept; {@link idleTimeout} if left out. */
  readonly idleTimeout?: Duration.Duration
  /** How many unused ones are kept; {@link maxIdle} if left out. */
  readonly maxIdle?: number
  /** How many of them to one host; {@link maxIdlePerOrigin} if left out. */
  readonly maxIdlePerOrigin?: number
}

/**
 * Every exchange has a connection of its own while it lasts, so that nobody waits for another's receiver. How many
 * there are is bounded by the exchanges under way and by {@link maxIdle}; nothing is kept of a host without one.
 */
export class ReceiverConnections {
  /** Unused ones by origin, the one used last at the end. */
  readonly #idle = new Map<string, Array<ReceiverConnection>>()
  /** The same, the one unused longest first. */
  readonly #resting = new Set<ReceiverConnection>()
  readonly #open = new Set<ReceiverConnection>()
  readonly #connector: Connector
  readonly #clock: Clock.Clock
  readonly #idleTimeoutMs: number
  readonly #maxIdle: number
  readonly #maxIdlePerOrigin: number

  constructor(connector: Connector, clock: Clock.Clock, options: Options = {}) {
    this.#connector = connector
    this.#clock = clock
    this.#idleTimeoutMs = Duration.toMillis(options.idleTimeout ?? idleTimeout)
    this.#maxIdle = options.maxIdle ?? maxIdle
    this.#maxIdlePerOrigin = options.maxIdlePerOrigin ?? maxIdlePerOrigin
  }

  /** Connections that are used, kept or being made, and the hosts that anything is kept of. */
  get size(): { readonly open: number; readonly idle: number; readonly idleOrigins: number } {
    return { open: this.#open.size, idle: this.#resting.size, idleOrigins: this.#idle.size }
  }

  /**
   * Posts, and notes in `exchange` what comes. `ended` is called once, and never from within: at the answer's end, or
   * when enough of it is here, with `null`, else with what went wrong. Gives the way to break it off, which closes the
   * connection; then `ended` is not called any more.
   */
  readonly post = (
    url: URL,
    request: Pick<WebhookTransport.WebhookRequest, "headers" | "body">,
    exchange: ReceiverExchange,
    options: { readonly fresh: boolean; readonly ended: (error: Error | null) => void }
  ): () => void => {
    let isBrokenOff = false
    // not before the parser has left its own call: whatever comes next may run in this one
    const ended = (error: Error | null) =>
      queueMicrotask(() => {
        if (!isBrokenOff) options.ended(error)
      })
    let connection: ReceiverConnection | undefined
    let isOver = false
    try {
      const text = written(url, request)
      const used = (options.fresh ? undefined : this.#take(url.origin)) ?? this.#connect(url.origin)
      connection = used
      used.post(text, exchange, this.#connector, (error, isReusable) => {
        isOver = true
        if (isReusable) this.#giveBack(used, exchange)
        else used.close()
        ended(error)
      })
    } catch (error) {
      ended(error instanceof Error ? error : new Error("no request"))
    }
    return () => {
      isBrokenOff = true
      if (!isOver) connection?.breakOff()
    }
  }

  #connect(origin: string): ReceiverConnection {
    const connection = new ReceiverConnection(origin, this.#clock.monotonicTimeNanosUnsafe(), () => {
      this.#wake(connection)
      this.#open.delete(connection)
    })
    this.#open.add(connection)
    return connection
  }

  #take(origin: string): ReceiverConnection | undefined {
    const connection = this.#idle.get(origin)?.at(-1)
    if (connection !== undefined) this.#wake(connection)
    return connection
  }

  #giveBack(connection: ReceiverConnection, { headers }: ReceiverExchange): void {
    if (this.#clock.monotonicTimeNanosUnsafe() - connection.openedAt >= Duration.toNanosUnsafe(maxAge)) {
      return connection.close()
    }
    const announced = announcedIdleMs(headers.get("keep-alive"))
    const idleMs = announced === undefined
      ? this.#idleTimeoutMs
      : Math.min(announced - announcedMarginMs, Duration.toMillis(maxIdleTimeout))
    if (idleMs <= 0) return connection.close()
    const siblings = this.#idle.get(connection.origin)
    if ((siblings?.length ?? 0) >= this.#maxIdlePerOrigin) return connection.close()
    if (siblings === undefined) this.#idle.set(connection.origin, [connection])
    else siblings.push(connection)
    this.#resting.add(connection)
    connection.rest(idleMs)
    if (this.#resting.size <= this.#maxIdle) return
    const [oldest] = this.#resting
    oldest!.close()
  }

  /** Takes it out of the unused ones. */
  #wake(connection: ReceiverConnection): void {
    if (!this.#resting.delete(connection)) return
    const siblings = this.#idle.get(connection.origin)!
    siblings.splice(siblings.lastIndexOf(connection), 1)
    if (siblings.length === 0) this.#idle.delete(connection.origin)
  }

  /** Closes all connections; exchanges under way end with an error. */
  readonly destroy = (): void => {
    for (const connection of this.#open) connection.close()
  }
}

/** Connections that end with the scope. */
export const make = (connector: Connector, options?: Options): Effect.Effect<ReceiverConnections, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.clockWith((clock) => Effect.sync(() => new ReceiverConnections(connector, clock, options))),
    (connections) => Effect.sync(connections.destroy)
  )
