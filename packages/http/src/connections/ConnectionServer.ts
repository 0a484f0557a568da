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
import * as KnownCallers from "./KnownCallers.ts"
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

/** What a server keeps to, unless told otherwise (contract §2). */
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

/** How a server stops, unless told otherwise (contract §8 `SIGTERM`). */
export const standardStopTimes: StopTimes = {
  idle: Duration.millis(50),
  late: Duration.seconds(1),
  answer: Duration.millis(9200),
  end: Duration.millis(9500)
}

/** Requests that may wait on a connection; while they do, nothing more is read of it. */
const mostWaiting = 16

/**
 * What Node's parser is given at once, in bytes. It makes every request that is in there, some 2 kB each: of the 64 KiB
 * that one read brings these may be two thousand, of this forty. A body is no request, and comes in larger pieces.
 */
const pieceOfHeads = 1024
const pieceOfBody = 16 * 1024

/**
 * Milliseconds of each turn of the event loop in which requests are begun of callers who have not shown who they are:
 * hundreds of them at once, each a fraction of one, would otherwise stand before everybody else's.
 */
const strangersShare = 5

/**
 * How many of their requests are begun in a turn, at most. Most of what a request costs comes in later turns, once its
 * body is there and its handler goes on: only a few at each of these steps leave a turn short.
 */
const strangersATurn = 4

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
  /** Whether so many wait that nothing is read. */
  isFull = false
}

const stopped = () =>
  new Errors.ServerError({
    reason: "overloaded",
    message: "the service is being stopped; repeat the request",
    retryAfter: Duration.seconds(1)
  })

/** Whether Node itself reads no more until what was written is taken; it goes on by itself then, and must be given nothing before. */
const isHeldBack = (socket: Socket & { readonly _paused?: boolean }): boolean => socket._paused === true

/** A server that does all that. */
export class ConnectionServer extends Server {
  readonly #lines = new Map<Socket, Line>()
  /** Requests of strangers that are to be begun, and how long those of the present turn took. */
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

  /** Has Node's parser given what comes in pieces, and none while it or the line is full. */
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
      // with every request that has come whole Node has the connection read on
      if (line.isFull) socket.pause()
      if (from < chunk.length && !socket.destroyed) socket.unshift(chunk.subarray(from))
    })
    socket.on("resume", () => {
      if (line.isFull) socket.pause()
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
    if (refusal === undefined) {
      return this.#admit(request.socket, () => {
        // it may have ended, or been answered by a stop, while it waited
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
      begin()
      this.#strangersTook += performance.now() - from
      this.#strangersBegun++
      this.#strangers.shift()
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
    if (isInBody) line.waiting.pop()
    line.waiting.push({ begin: answer })
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
      line.waiting = []
      if (line.current === undefined) socket.destroy()
      else if (!line.current.headersSent) ClientErrors.end(line.current, stopped())
    }
  }
}
