/**
 * The pool of connections to receivers. Unused connections are kept open for some seconds, for the next request.
 */
import { WebhookScheduler, type WebhookTransport } from "@wac/core"
import { type Clock, Duration, Effect, type Scope } from "effect"
import { ReceiverConnection, written } from "./ReceiverConnection.ts"
import type { Connector } from "./ReceiverConnector.ts"
import type { ReceiverExchange } from "./ReceiverExchange.ts"

const { doubtful, healthy } = WebhookScheduler.maxInFlight

/**
 * The maximum number of unused connections; beyond it, the one that is unused longest is closed. It is the maximum
 * number of the scheduler's attempts in flight, so that a steady load reuses its connections.
 */
const maxIdle = healthy + doubtful

/**
 * The maximum number of unused connections to one host: the maximum number of attempts in flight to healthy webhooks.
 * Thousands of webhooks may belong to one platform, which may limit connections. Connections in use have no limit of
 * their own, because no attempt waits for one.
 */
const maxIdlePerOrigin = healthy

/** An unused connection is closed after this: common servers close theirs after 5 s, and a request then gets lost. */
const idleTimeout = Duration.seconds(4)

/** The limit on a longer time that a receiver announces in `Keep-Alive`. */
const maxIdleTimeout = Duration.seconds(10)

/** No connection is used again at this age, so that a change of the name's addresses is noticed. */
const maxAge = Duration.minutes(1)

/** If a receiver announces when it closes, the connection is closed this much earlier. */
const announcedMarginMs = 2000

/** The time that a receiver's `Keep-Alive` header announces, in milliseconds; `undefined` if it announces nothing. */
const announcedIdleMs = (header: string | undefined): number | undefined => {
  const seconds = header === undefined ? undefined : /(?:^|[\s,;])timeout=(\d{1,6})/i.exec(header)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1000
}

export interface Options {
  /** How long an unused connection is kept; defaults to {@link idleTimeout}. */
  readonly idleTimeout?: Duration.Duration
  /** How many unused connections are kept; defaults to {@link maxIdle}. */
  readonly maxIdle?: number
  /** How many of them to one origin; defaults to {@link maxIdlePerOrigin}. */
  readonly maxIdlePerOrigin?: number
}

/**
 * The pool. Each exchange has a connection to itself, so that no exchange waits for another. There are at most as many
 * connections as exchanges in progress, plus {@link maxIdle}. Nothing is stored about a host without connections.
 */
export class ReceiverConnections {
  /** The unused connections by origin, the one used last at the end. */
  readonly #idle = new Map<string, Array<ReceiverConnection>>()
  /** The unused connections of all origins, the one unused longest first. */
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

  /** The numbers of all connections (also those being made), of unused ones, and of origins with unused ones. */
  get size(): { readonly open: number; readonly idle: number; readonly idleOrigins: number } {
    return { open: this.#open.size, idle: this.#resting.size, idleOrigins: this.#idle.size }
  }

  /**
   * Posts a request and records in `exchange` what happens. `ended` is called once, after this has returned: with
   * `null` when the response is complete or enough of it has arrived, else with the error. Returns a function that
   * breaks the exchange off: it closes the connection, and `ended` is then not called.
   */
  readonly post = (
    url: URL,
    request: Pick<WebhookTransport.WebhookRequest, "headers" | "body">,
    exchange: ReceiverExchange,
    options: { readonly fresh: boolean; readonly ended: (error: Error | null) => void }
  ): () => void => {
    let isBrokenOff = false
    // called only after the parser's call has returned, because `ended` may start the next exchange
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

  /** Removes a connection from the unused ones. */
  #wake(connection: ReceiverConnection): void {
    if (!this.#resting.delete(connection)) return
    const siblings = this.#idle.get(connection.origin)!
    siblings.splice(siblings.lastIndexOf(connection), 1)
    if (siblings.length === 0) this.#idle.delete(connection.origin)
  }

  /** Closes all connections. Exchanges in progress end with an error. */
  readonly destroy = (): void => {
    for (const connection of this.#open) connection.close()
  }
}

/** Makes a pool, whose connections close with the scope. */
export const make = (connector: Connector, options?: Options): Effect.Effect<ReceiverConnections, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.clockWith((clock) => Effect.sync(() => new ReceiverConnections(connector, clock, options))),
    (connections) => Effect.sync(connections.destroy)
  )
