/**
 * Connections to receivers: kept open for a moment between requests, closed when nobody wants them.
 */
import { WebhookScheduler, type WebhookTransport } from "@wac/core"
import { type Clock, Duration, Effect, type Scope } from "effect"
import { Agent, request as makeRequest } from "node:http"
import { EarlyAnswer, Upgraded } from "./AttemptDiagnosis.ts"
import type { Connecting, Connector } from "./ReceiverConnector.ts"
import type { ReceiverExchange } from "./ReceiverExchange.ts"

/** Common firewall rules refuse requests that name no agent. */
const userAgent = "wac"

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
const announcedIdleMs = (header: unknown): number | undefined => {
  const seconds = typeof header === "string" ? /(?:^|[\s,;])timeout=(\d{1,6})/i.exec(header)?.[1] : undefined
  return seconds === undefined ? undefined : Number(seconds) * 1000
}

/** A connection, or the attempt at one; it serves one exchange at a time. */
interface Connection {
  readonly origin: string
  /** Its pool is this one connection, or the one made in its place when it turns out to be closed. */
  readonly agent: Agent
  readonly openedAt: bigint
  /** Whom it serves, or served last. */
  exchange: ReceiverExchange
  socket: Connecting | undefined
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
  readonly #idle = new Map<string, Array<Connection>>()
  /** The same, the one unused longest first. */
  readonly #resting = new Set<Connection>()
  readonly #open = new Set<Connection>()
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
    const kept = options.fresh ? undefined : this.#take(url.origin)
    const connection = kept ?? this.#connect(url.origin, exchange)
    if (kept !== undefined) exchange.isKept = true
    exchange.address = connection.exchange.address
    connection.exchange = exchange
    let isOver = false
    let isBrokenOff = false
    const end = (error: Error | null, isReusable: boolean) => {
      if (isOver) return
      isOver = true
      exchange.leave()
      if (isReusable) this.#giveBack(connection)
      else this.#close(connection)
      // not before the parser has left its own call: whatever comes next may run in this one
      queueMicrotask(() => {
        if (!isBrokenOff) options.ended(error)
      })
    }
    const broken = this.#request(connection, url, request, exchange, end)
    return () => {
      isBrokenOff = true
      if (isOver) return
      isOver = true
      broken()
      this.#close(connection)
    }
  }

  /** Sends the request over the connection, and gives the way to break it off. */
  #request(
    connection: Connection,
    url: URL,
    { body, headers }: Pick<WebhookTransport.WebhookRequest, "headers" | "body">,
    exchange: ReceiverExchange,
    end: (error: Error | null, isReusable: boolean) => void
  ): () => void {
    let request
    try {
      request = makeRequest({
        agent: connection.agent,
        host: url.hostname,
        port: url.port,
        path: `${url.pathname}${url.search}`,
        method: "POST",
        headers: { host: url.host, "user-agent": userAgent, "content-length": Buffer.byteLength(body), ...headers },
        insecureHTTPParser: false
      })
    } catch (error) {
      end(error instanceof Error ? error : new Error("no request"), false)
      return () => {}
    }
    request.on("error", (error) => end(error, false))
    request.once("socket", () => {
      exchange.enter("firstByte")
      // what has already arrived when the request is written cannot be the answer to it, so the event loop looks first
      setImmediate(() => setImmediate(() => request.end(body)))
    })
    request.on("upgrade", (_response, socket) => {
      socket.destroy()
      end(new Upgraded(), false)
    })
    request.on("response", (response) => {
      exchange.enter("body")
      exchange.statusCode = response.statusCode ?? 0
      exchange.headers = response.headers
      if (!request.writableEnded) end(new EarlyAnswer(), false)
      response.on("data", (chunk: Buffer) => {
        if (!exchange.take(chunk)) end(null, false)
      })
      response.on("end", () => {
        if (request.writableFinished) return end(null, request.shouldKeepAlive)
        // TLS reports what it has written only after it has read
        setImmediate(() => end(request.writableFinished ? null : new EarlyAnswer(), false))
      })
      response.on("error", (error) => end(error, false))
    })
    return () => void request.destroy()
  }

  #connect(origin: string, exchange: ReceiverExchange): Connection {
    const { hostname, port, protocol } = new URL(origin)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    agent.createConnection = (_options, callback) => {
      // a kept connection that has just been closed is made again, for another exchange
      const { exchange } = connection
      exchange.isKept = false
      exchange.address = null
      const made = this.#connector({ hostname: hostname.replace(/^\[|\]$/g, ""), port, protocol }, (error, socket) => {
        if (error !== null) return callback?.(error, undefined!)
        connection.socket = socket
        socket.once("close", () => {
          if (this.#resting.has(connection) && connection.socket === socket) this.#close(connection)
        })
        callback?.(null, socket)
      }, exchange)
      connection.socket = made
      return undefined
    }
    agent.keepSocketAlive = (socket) => {
      const announced = announcedIdleMs(connection.exchange.headers["keep-alive"])
      const idleMs = announced === undefined
        ? this.#idleTimeoutMs
        : Math.min(announced - announcedMarginMs, Duration.toMillis(maxIdleTimeout))
      if (idleMs <= 0) return false
      // the agent closes an unused socket whose time is over
      if ("setTimeout" in socket && typeof socket.setTimeout === "function") socket.setTimeout(idleMs)
      return true
    }
    const reuse = agent.reuseSocket.bind(agent)
    agent.reuseSocket = (socket, request) => {
      if ("setTimeout" in socket && typeof socket.setTimeout === "function") socket.setTimeout(0)
      reuse(socket, request)
    }
    const connection: Connection = {
      origin,
      agent,
      openedAt: this.#clock.monotonicTimeNanosUnsafe(),
      exchange,
      socket: undefined
    }
    this.#open.add(connection)
    return connection
  }

  #take(origin: string): Connection | undefined {
    const connection = this.#idle.get(origin)?.at(-1)
    if (connection !== undefined) this.#wake(connection)
    return connection
  }

  #giveBack(connection: Connection): void {
    if (this.#clock.monotonicTimeNanosUnsafe() - connection.openedAt >= Duration.toNanosUnsafe(maxAge)) {
      return this.#close(connection)
    }
    const siblings = this.#idle.get(connection.origin)
    if ((siblings?.length ?? 0) >= this.#maxIdlePerOrigin) return this.#close(connection)
    if (siblings === undefined) this.#idle.set(connection.origin, [connection])
    else siblings.push(connection)
    this.#resting.add(connection)
    if (this.#resting.size <= this.#maxIdle) return
    const [oldest] = this.#resting
    this.#close(oldest!)
  }

  /** Takes it out of the unused ones. */
  #wake(connection: Connection): void {
    if (!this.#resting.delete(connection)) return
    const siblings = this.#idle.get(connection.origin)!
    siblings.splice(siblings.lastIndexOf(connection), 1)
    if (siblings.length === 0) this.#idle.delete(connection.origin)
  }

  #close(connection: Connection): void {
    this.#wake(connection)
    this.#open.delete(connection)
    // the agent knows nothing of a connection that is being made
    connection.socket?.destroy()
    connection.agent.destroy()
  }

  /** Closes all connections; exchanges under way end with an error. */
  readonly destroy = (): void => {
    for (const connection of this.#open) this.#close(connection)
  }
}

/** Connections that end with the scope. */
export const make = (connector: Connector, options?: Options): Effect.Effect<ReceiverConnections, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.clockWith((clock) => Effect.sync(() => new ReceiverConnections(connector, clock, options))),
    (connections) => Effect.sync(connections.destroy)
  )
