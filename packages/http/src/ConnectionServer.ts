/**
 * The HTTP server's connections: how much one may ask for before it has taken its answers, how long it may take, and how
 * all of them end when the service stops (contract §8 *SIGTERM*).
 *
 * A connection's requests are begun one at a time, in their order: whatever it asks for at once, it costs one answer, and
 * an answer that says that the connection ends is the last thing that is done for it.
 */
import { Errors } from "@wac/core"
import { Duration } from "effect"
import { type IncomingMessage, Server, type ServerOptions, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import * as ClientErrors from "./ClientErrors.ts"
import * as RequestHead from "./RequestHead.ts"

/** How long a server waits. */
export interface Times {
  /** For the headers of a request. */
  readonly headers: Duration.Duration
  /** For all of a request; a route that reads a body has a deadline of its own. */
  readonly request: Duration.Duration
  /** For a caller to take any of what is written to it. */
  readonly taking: Duration.Duration
  /** How often the first two are looked at. */
  readonly every: Duration.Duration
}

export const standardTimes: Times = {
  headers: Duration.seconds(15),
  request: Duration.seconds(50),
  taking: Duration.seconds(30),
  every: Duration.seconds(1)
}

/** Stopping, from its beginning. */
export interface StopTimes {
  /** Until then connections without a request stay open: what is on its way to us comes in time. */
  readonly idle: Duration.Duration
  /** Until then a request is begun; later there is no time left for the provider's 8 s. */
  readonly late: Duration.Duration
  /** Whatever has no answer by then is told so. */
  readonly answer: Duration.Duration
  /** Then every connection ends. */
  readonly end: Duration.Duration
}

export const standardStopTimes: StopTimes = {
  idle: Duration.millis(50),
  late: Duration.seconds(1),
  answer: Duration.millis(9200),
  end: Duration.millis(9500)
}

/** Requests that may wait on each connection; beyond them nothing more is read of it. */
const waitingPerConnection = 16

/**
 * Requests that may wait beside those, in one process. One read can bring two thousand at once on one connection, which
 * take some 4 kB each: a caller that pipelines by the thousand is served, a hundred of them are not.
 */
const waitingInProcess = 2048

/** How Node tells of a request; all with the same arguments. */
type RequestEvent = "request" | "checkContinue" | "checkExpectation"

interface Turn {
  readonly begin: () => void
}

/** A connection's requests. */
class Line {
  /** The answer under way. */
  current: ServerResponse | undefined
  waiting: Array<Turn> = []
  /** The request that came last. */
  last: IncomingMessage | undefined
  /** Nothing that comes now is begun. */
  isClosed = false
  isWatched = false
}

/** How many wait on a connection beyond its own. */
const overIn = ({ waiting }: Line): number => Math.max(0, waiting.length - waitingPerConnection)

const stopped = () =>
  new Errors.ServerError({
    reason: "overloaded",
    message: "the service is being stopped; repeat the request",
    retryAfter: Duration.seconds(1)
  })

/**
 * Ends the reading of what has come already: a thousand requests more are made of it otherwise, for nobody. Node has no
 * name for this; without it they are made.
 */
const readNoFurther = (socket: Socket & { readonly parser?: { readonly pause?: () => void } | null }): void =>
  socket.parser?.pause?.()

/** A server that does all that. */
export class ConnectionServer extends Server {
  readonly #lines = new Map<Socket, Line>()
  /** Waiting ones beyond each connection's own. */
  #waiting = 0
  #isLate = false
  #keepsIdle = false
  #ended: (() => void) | undefined

  constructor(options: ServerOptions = {}, times: Times = standardTimes) {
    super({
      ...options,
      headersTimeout: Duration.toMillis(times.headers),
      requestTimeout: Duration.toMillis(times.request),
      connectionsCheckingInterval: Duration.toMillis(times.every),
      // refused by us, with a body
      requireHostHeader: false
    })
    this.setTimeout(Duration.toMillis(times.taking), (socket) => {
      // one that waits for our answer is no idler
      if (socket.writableLength > 0 || this.#lines.get(socket)?.current === undefined) socket.destroy()
    })
  }

  // what Node tells of requests goes through the connection's line first
  // oxlint-disable-next-line typescript/no-explicit-any
  override emit(event: string | symbol, ...args: Array<any>): boolean {
    switch (event) {
      case "connection":
        this.#open(args[0])
        break
      case "request":
      case "checkContinue":
      case "checkExpectation":
        return this.#take(event as RequestEvent, args[0], args[1])
      case "clientError":
        return this.#fail(args[0], args[1])
    }
    return super.emit(event as string, ...args)
  }

  #open(socket: Socket): void {
    this.#lines.set(socket, new Line())
    socket.once("close", () => {
      this.#lines.delete(socket)
      if (this.#lines.size === 0) this.#ended?.()
    })
  }

  #take(event: RequestEvent, request: IncomingMessage, response: ServerResponse): boolean {
    const line = this.#lines.get(request.socket)
    // one that waited for its handler comes again
    if (line === undefined || line.current === response) return super.emit(event as "request", request, response)
    if (line.isClosed) return true
    line.last = request
    const begin = () => this.#begin(line, event, request, response)
    if (line.current === undefined) begin()
    else this.#wait(line, request.socket, { begin })
    return true
  }

  #begin(line: Line, event: RequestEvent, request: IncomingMessage, response: ServerResponse): void {
    line.current = response
    response.once("close", () => this.#next(line, request.socket))
    const refusal = RequestHead.refusal(request) ?? (this.#isLate ? stopped() : undefined)
    if (refusal === undefined) return void super.emit(event as "request", request, response)
    line.isClosed = true
    ClientErrors.end(response, refusal)
  }

  #wait(line: Line, socket: Socket, turn: Turn): void {
    this.#watch(line, socket)
    this.#counting(line, () => line.waiting.push(turn))
    if (line.waiting.length <= waitingPerConnection) return
    socket.pause()
    if (this.#waiting > waitingInProcess) this.#drop(line, socket)
  }

  #counting<A>(line: Line, change: () => A): A {
    const before = overIn(line)
    const value = change()
    this.#waiting += overIn(line) - before
    return value
  }

  /** Whoever reads a body has the connection read on: not while so many wait. */
  #watch(line: Line, socket: Socket): void {
    if (line.isWatched) return
    line.isWatched = true
    socket.on("resume", () => {
      if (line.waiting.length > waitingPerConnection) socket.pause()
    })
  }

  #drop(line: Line, socket: Socket): void {
    line.isClosed = true
    readNoFurther(socket)
    this.#forget(line)
    socket.destroy()
  }

  #forget(line: Line): void {
    this.#counting(line, () => {
      line.waiting = []
    })
  }

  #next(line: Line, socket: Socket): void {
    line.current = undefined
    if (!socket.writable) {
      line.isClosed = true
      return this.#forget(line)
    }
    const turn = this.#counting(line, () => line.waiting.shift())
    if (turn === undefined) {
      if (this.listening || this.#keepsIdle) return
      return void socket.end()
    }
    if (line.waiting.length === waitingPerConnection) socket.resume()
    turn.begin()
  }

  /** What is no HTTP is answered after what came before it, and never beside an answer. */
  #fail(error: Error, socket: Socket): boolean {
    const line = this.#lines.get(socket)
    const answer = () => super.emit("clientError", error, socket)
    if (line === undefined || !socket.writable) return answer()
    if (line.isClosed) return true
    line.isClosed = true
    if (line.current === undefined) return answer()
    const isInBody = line.last?.complete === false
    if (isInBody && line.last === line.current.req) {
      // its answer is on the way, or done
      if (line.current.headersSent) socket.destroy()
      else answer()
      return true
    }
    this.#counting(line, () => {
      if (isInBody) line.waiting.pop()
      line.waiting.push({ begin: answer })
    })
    return true
  }

  /** Of ours, also those that have sent nothing yet. */
  override closeIdleConnections(): void {
    if (this.#keepsIdle) return
    super.closeIdleConnections()
    for (const [socket, { current }] of this.#lines) {
      if (current === undefined && socket.bytesRead === 0) socket.destroy()
    }
  }

  /**
   * Ends all connections: takes no more, ends those without a request, has what is under way answered, and answers with
   * 503 what comes too late or takes too long. Done when none is left.
   */
  async stop(times: StopTimes = standardStopTimes): Promise<void> {
    const after = (duration: Duration.Duration, act: () => void) => setTimeout(act, Duration.toMillis(duration))
    this.#keepsIdle = true
    this.close()
    const timers = [
      after(times.idle, () => {
        this.#keepsIdle = false
        this.closeIdleConnections()
      }),
      after(times.late, () => {
        this.#isLate = true
      }),
      after(times.answer, () => this.#answerRest()),
      after(times.end, () => this.closeAllConnections())
    ]
    if (this.#lines.size > 0) {
      await new Promise<void>((resolve) => {
        this.#ended = resolve
      })
    }
    for (const timer of timers) clearTimeout(timer)
  }

  #answerRest(): void {
    for (const [socket, line] of this.#lines) {
      line.isClosed = true
      this.#forget(line)
      if (line.current === undefined) socket.destroy()
      else if (!line.current.headersSent) ClientErrors.end(line.current, stopped())
    }
  }
}
