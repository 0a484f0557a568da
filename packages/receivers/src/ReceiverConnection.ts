/**
 * A connection to a receiver. It carries one exchange at a time: it writes the request and reads the response.
 */
import type { WebhookTransport } from "@wac/core"
import { validateHeaderName, validateHeaderValue } from "node:http"
import type { Socket } from "node:net"
import { EarlyAnswer, HungUp, Upgraded } from "./AttemptDiagnosis.ts"
import type { Connecting, Connector } from "./ReceiverConnector.ts"
import type { ReceiverExchange } from "./ReceiverExchange.ts"
import { type Listener, ResponseParser } from "./ResponseParser.ts"

/** Some firewalls refuse requests without a user agent. */
const userAgent = "wac"

/** The text of the HTTP request. Throws if a header is invalid. */
export const written = (
  url: URL,
  { body, headers }: Pick<WebhookTransport.WebhookRequest, "headers" | "body">
): string => {
  let head = `POST ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\nuser-agent: ${userAgent}\r\n` +
    `content-length: ${Buffer.byteLength(body)}\r\nconnection: keep-alive\r\n`
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    head += `${name}: ${value}\r\n`
  }
  return `${head}\r\n${body}`
}

/** Called once when an exchange ends: with its error or `null`, and whether the connection can carry another. */
type Ended = (error: Error | null, isReusable: boolean) => void

/** An exchange in progress: it passes the received bytes to the parser, and reports the end once. */
class Running implements Listener {
  readonly exchange: ReceiverExchange
  readonly parser = new ResponseParser(this)
  /** Whether the request was written, and whether all of it was passed to the system. */
  isWritten = false
  isPassed = false
  readonly #ended: Ended
  #isOver = false
  #isReusable = true

  constructor(exchange: ReceiverExchange, ended: Ended) {
    this.exchange = exchange
    this.#ended = ended
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** From now on nothing is recorded or reported. */
  abandon(): void {
    this.#isOver = true
  }

  end(error: Error | null, isReusable: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    this.exchange.leave()
    this.#ended(error, isReusable)
  }

  /** Ends the exchange with its response, which counts only if the receiver can have got the whole request. */
  answered(isReusable: boolean): void {
    if (!isReusable) this.#isReusable = false
    if (this.isPassed) return this.end(null, this.#isReusable)
    // TLS reports what it has written only after it has read
    setImmediate(() => this.isPassed ? this.end(null, this.#isReusable) : this.end(new EarlyAnswer(), false))
  }

  head(statusCode: number, headers: ReadonlyMap<string, string>): void {
    if (statusCode === 101) return this.end(new Upgraded(), false)
    this.exchange.enter("body")
    this.exchange.statusCode = statusCode
    this.exchange.headers = headers
    if (!this.isWritten) this.end(new EarlyAnswer(), false)
  }

  body(piece: Buffer): void {
    if (!this.#isOver && !this.exchange.take(piece)) this.answered(false)
  }

  take(bytes: Buffer): void {
    // bytes before the request are left over from an earlier exchange
    if (this.exchange.isKept && !this.isWritten) return this.end(new EarlyAnswer(), false)
    try {
      const taken = this.parser.take(bytes)
      if (this.parser.isOver) this.answered(this.parser.keepsOpen && taken === bytes.length)
    } catch (error) {
      this.end(error as Error, false)
    }
  }

  /** The receiver sends no more. */
  cut(): void {
    if (this.parser.close()) this.answered(false)
    else this.end(new HungUp(), false)
  }

  /** The connection is broken. */
  fail(error: Error): void {
    if (this.parser.isOver) this.answered(false)
    else this.end(error, false)
  }
}

/** A connection, or the attempt at one. */
export class ReceiverConnection {
  readonly origin: string
  /** On the monotonic clock, in nanoseconds. */
  readonly openedAt: bigint
  readonly #closed: () => void
  #connecting: Connecting | undefined
  #socket: Socket | undefined
  /** The exchange in progress, or the last one if there is none. */
  #running: Running | undefined
  #isClosed = false

  /** `closed` is called once when either side has closed the connection. */
  constructor(origin: string, openedAt: bigint, closed: () => void) {
    this.origin = origin
    this.openedAt = openedAt
    this.#closed = closed
  }

  /**
   * Connects if necessary, and sends the request, which {@link written} makes. `ended` is called at most once, perhaps
   * before this returns. It must call {@link rest} or {@link close}.
   */
  post(request: string, exchange: ReceiverExchange, connector: Connector, ended: Ended): void {
    const last = this.#running
    const running = new Running(exchange, ended)
    this.#running = running
    if (this.#socket !== undefined) {
      exchange.isKept = true
      exchange.address = last?.exchange.address ?? null
      this.#socket.setTimeout(0)
      return this.#send(this.#socket, request, running)
    }
    this.#connecting = connector(new URL(this.origin), (error, socket) => {
      if (error !== null) return running.end(error, false)
      if (this.#isClosed) return void socket.destroy()
      this.#socket = socket
      this.#listen(socket)
      this.#send(socket, request, running)
    }, exchange)
  }

  #send(socket: Socket, request: string, running: Running): void {
    running.exchange.enter("firstByte")
    // bytes that have arrived before the request is written are no response to it, so the event loop reads them first
    setImmediate(() =>
      setImmediate(() => {
        if (running.isOver) return
        running.isWritten = true
        socket.write(request, (error) => {
          running.isPassed = error == null
        })
      })
    )
  }

  #listen(socket: Socket): void {
    // a connection on which something arrives while it is unused cannot carry another exchange
    const heard = (tell: (running: Running) => void) => {
      if (this.#running === undefined || this.#running.isOver) this.close()
      else tell(this.#running)
    }
    socket.on("data", (bytes: Buffer) => heard((running) => running.take(bytes)))
    socket.on("end", () => heard((running) => running.cut()))
    socket.on("error", (error) => heard((running) => running.fail(error)))
    socket.on("close", () => heard((running) => running.fail(new HungUp())))
    socket.on("timeout", () => this.close())
  }

  /** Keeps the unused connection open for so many milliseconds. */
  rest(milliseconds: number): void {
    this.#socket?.setTimeout(milliseconds)
  }

  /** Closes the connection without reporting an end to the exchange in progress. */
  breakOff(): void {
    this.#running?.abandon()
    this.close()
  }

  /** Closes the connection. An exchange in progress ends with an error. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#connecting?.destroy()
    this.#socket?.destroy()
    this.#closed()
    this.#running?.end(new HungUp(), false)
  }
}
