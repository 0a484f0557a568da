/**
 * The HTTP server's connections: how many requests a client may send before it has read the responses, the time limits,
 * and how all connections end when the service stops (contract §8 *SIGTERM*).
 *
 * A connection's requests start one at a time, in their order. So pipelined requests cost one response at a time, and
 * after a response that announces the end of the connection, no further request starts.
 */
import { Errors } from "@wac/core"
import { Duration } from "effect"
import { type IncomingMessage, Server, type ServerOptions, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import * as ClientErrors from "./ClientErrors.ts"
import * as KnownCallers from "./KnownCallers.ts"
import * as RequestHead from "./RequestHead.ts"

/** The time limits of a server. */
export interface Times {
  /** To receive the headers of a request. */
  readonly headers: Duration.Duration
  /** To receive a whole request: an upload. Every route that reads a body has its own, shorter deadline. */
  readonly request: Duration.Duration
  /** For a client to read any part of what is written to it. */
  readonly taking: Duration.Duration
  /** For a connection to stay open between two requests. */
  readonly idle: Duration.Duration
  /** How often the first two are checked. */
  readonly every: Duration.Duration
}

/** The default time limits (contract §2). */
export const standardTimes: Times = {
  headers: Duration.seconds(15),
  request: Duration.minutes(31),
  taking: Duration.seconds(30),
  // longer than load balancers keep theirs (60 s): if the server ends a connection first, a request that is on its way
  // gets no answer
  idle: Duration.seconds(72),
  every: Duration.seconds(1)
}

/** The phases of a shutdown, as times from its start. */
export interface StopTimes {
  /** Until then, connections without a request stay open, so that requests in transit arrive in time. */
  readonly idle: Duration.Duration
  /** Until then, requests start; later, no time is left for the provider's 8 s. */
  readonly late: Duration.Duration
  /** At that time, every request without a response gets 503. */
  readonly answer: Duration.Duration
  /** Then every connection ends. */
  readonly end: Duration.Duration
}

/** The default phases of a shutdown (contract §8 `SIGTERM`). */
export const standardStopTimes: StopTimes = {
  idle: Duration.millis(50),
  late: Duration.seconds(1),
  answer: Duration.millis(9200),
  end: Duration.millis(9500)
}

/** The maximum number of requests that wait on a connection; while they wait, nothing more is read from it. */
const mostWaiting = 16

/**
 * The size of the pieces that Node's parser gets, in bytes. The parser creates every request in a piece, of some 2 kB
 * each: the 64 KiB of one read may contain two thousand requests, and a piece of this size forty. Bodies come in larger
 * pieces.
 */
const pieceOfHeads = 1024
const pieceOfBody = 16 * 1024

/**
 * Milliseconds of each turn of the event loop for starting requests of unauthenticated callers. Otherwise hundreds of
 * such requests at once, each a fraction of a millisecond, would delay those of everyone else.
 */
const strangersShare = 5

/**
 * The maximum number of such requests that start in a turn. Most of a request's cost comes in later turns, once its
 * body has arrived and its handler continues: turns stay short only if few requests are at each of these steps.
 */
const strangersATurn = 4

/** The events with which Node reports a request; all have the same arguments. */
type RequestEvent = "request" | "checkContinue" | "checkExpectation"

interface Turn {
  readonly begin: () => void
}

/** A connection's requests. */
class Line {
  /** The current response. */
  current: ServerResponse | undefined
  waiting: Array<Turn> = []
  /** The latest request. */
  last: IncomingMessage | undefined
  /** Whether later requests no longer start. */
  isClosed = false
  /** Whether so many requests wait that nothing is read. */
  isFull = false
}

const stopped = () =>
  new Errors.ServerError({
    reason: "overloaded",
    message: "the service is being stopped; repeat the request",
    retryAfter: Duration.seconds(1)
  })

/**
 * Whether Node itself stops reading until the client reads its responses. It resumes automatically, and must get no
 * data before.
 */
const isHeldBack = (socket: Socket & { readonly _paused?: boolean }): boolean => socket._paused === true

/** An HTTP server with these limits. */
export class ConnectionServer extends Server {
  readonly #lines = new Map<Socket, Line>()
  /** Waiting requests of unauthenticated callers, and the time that the current turn has spent on them. */
  readonly #strangers: Array<() => void> = []
  #strangersTook = 0
  #strangersBegun = 0
  #isTurning = false
  #isLate = false
  #keepsIdle = false
  #ended: (() => void) | undefined

  constructor(options: ServerOptions = {}, times: Times = standardTimes) {
    super({
      ...options,
      headersTimeout: Duration.toMillis(times.headers),
      requestTimeout: Duration.toMillis(times.request),
      keepAliveTimeout: Duration.toMillis(times.idle),
      connectionsCheckingInterval: Duration.toMillis(times.every),
      // `RequestHead` refuses requests without `Host`, and its response has a body
      requireHostHeader: false
    })
    this.setTimeout(Duration.toMillis(times.taking), (socket) => {
      // a connection that waits for our response is not idle
      if (socket.writableLength > 0 || this.#lines.get(socket)?.current === undefined) socket.destroy()
    })
  }

  // Node's events for requests go through the connection's queue first
  // oxlint-disable-next-line typescript/no-explicit-any
  override emit(event: string | symbol, ...args: Array<any>): boolean {
    switch (event) {
      case "connection":
        return this.#open(args[0], super.emit(event, ...args))
      case "request":
      case "checkContinue":
      case "checkExpectation":
        return this.#take(event as RequestEvent, args[0], args[1])
      case "clientError":
        return this.#fail(args[0], args[1])
    }
    return super.emit(event as string, ...args)
  }

  #open(socket: Socket, isHeard: boolean): boolean {
    const line = new Line()
    this.#lines.set(socket, line)
    this.#divide(line, socket)
    socket.once("close", () => {
      this.#lines.delete(socket)
      if (this.#lines.size === 0) this.#ended?.()
    })
    return isHeard
  }

  /** Passes received bytes to Node's parser in pieces, and none while the parser or the queue is full. */
  #divide(line: Line, socket: Socket): void {
    const parsers = socket.listeners("data")
    const parse = (piece: Buffer) => {
      for (const parser of parsers) parser.call(socket, piece)
    }
    socket.removeAllListeners("data")
    socket.on("data", (chunk: Buffer) => {
      let from = 0
      while (from < chunk.length && !line.isFull && !isHeldBack(socket) && !socket.destroyed) {
        const to = from + (line.last?.complete === false ? pieceOfBody : pieceOfHeads)
        parse(from === 0 && to >= chunk.length ? chunk : chunk.subarray(from, to))
        from = to
      }
      // Node resumes reading after every complete request
      if (line.isFull) socket.pause()
      if (from < chunk.length && !socket.destroyed) socket.unshift(chunk.subarray(from))
    })
    socket.on("resume", () => {
      if (line.isFull) socket.pause()
    })
  }

  #take(event: RequestEvent, request: IncomingMessage, response: ServerResponse): boolean {
    const line = this.#lines.get(request.socket)
    // a request that waited for its handler is reported again
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
    if (refusal === undefined) {
      return this.#admit(request.socket, () => {
        // while it waited, it may have ended, or a shutdown may have responded to it
        if (!response.writableEnded && !request.socket.destroyed) super.emit(event as "request", request, response)
      })
    }
    line.isClosed = true
    ClientErrors.end(response, refusal)
  }

  #admit(socket: Socket, begin: () => void): void {
    if (KnownCallers.has(socket)) return begin()
    this.#strangers.push(begin)
    if (this.#strangers.length === 1) this.#beginStrangers()
  }

  #beginStrangers(): void {
    while (this.#strangersTook < strangersShare && this.#strangersBegun < strangersATurn) {
      const begin = this.#strangers[0]
      if (begin === undefined) break
      const from = performance.now()
      try {
        begin()
      } finally {
        this.#strangersTook += performance.now() - from
        this.#strangersBegun++
        this.#strangers.shift()
      }
    }
    if (this.#isTurning || this.#strangersBegun === 0) return
    this.#isTurning = true
    setImmediate(() => {
      this.#isTurning = false
      this.#strangersTook = 0
      this.#strangersBegun = 0
      this.#beginStrangers()
    })
  }

  #wait(line: Line, socket: Socket, turn: Turn): void {
    line.waiting.push(turn)
    if (line.waiting.length < mostWaiting) return
    line.isFull = true
    socket.pause()
  }

  #readOn(line: Line, socket: Socket): void {
    line.isFull = false
    if (!isHeldBack(socket)) socket.resume()
  }

  #next(line: Line, socket: Socket): void {
    line.current = undefined
    if (!socket.writable) {
      line.isClosed = true
      line.waiting = []
      return
    }
    const turn = line.waiting.shift()
    if (line.isFull && line.waiting.length <= mostWaiting / 2) this.#readOn(line, socket)
    if (turn === undefined) {
      if (this.listening || this.#keepsIdle) return
      return void socket.end()
    }
    turn.begin()
  }

  /** The response to invalid HTTP follows the earlier responses and never interrupts one. */
  #fail(error: Error, socket: Socket): boolean {
    const line = this.#lines.get(socket)
    const answer = () => super.emit("clientError", error, socket)
    if (line === undefined || !socket.writable) return answer()
    if (line.isClosed) return true
    line.isClosed = true
    if (line.current === undefined) return answer()
    const isInBody = line.last?.complete === false
    if (isInBody && line.last === line.current.req) {
      // its response is in progress, or done
      if (line.current.headersSent) socket.destroy()
      else answer()
      return true
    }
    if (isInBody) line.waiting.pop()
    line.waiting.push({ begin: answer })
    return true
  }

  /** Closes idle connections, and those that have not sent anything yet, except at the start of a shutdown. */
  override closeIdleConnections(): void {
    if (this.#keepsIdle) return
    super.closeIdleConnections()
    for (const [socket, { current }] of this.#lines) {
      if (current === undefined && socket.bytesRead === 0) socket.destroy()
    }
  }

  /**
   * Ends all connections: accepts no more, closes those without a request, completes requests in flight, and responds
   * with 503 to requests that come too late or take too long. Completes when no connection is left.
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
      after(times.end, () => {
        for (const socket of this.#lines.keys()) socket.destroy()
      })
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
      line.waiting = []
      if (line.current === undefined) socket.destroy()
      else if (!line.current.headersSent) ClientErrors.end(line.current, stopped())
    }
  }
}
