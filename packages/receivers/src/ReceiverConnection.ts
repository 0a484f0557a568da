/**
 * A connection to a receiver, over which one exchange goes at a time: it writes the request and reads the response.
 */
import type { WebhookTransport } from "@wac/core"
import { validateHeaderName, validateHeaderValue } from "node:http"
import type { Socket } from "node:net"
import { EarlyAnswer, HungUp, Upgraded } from "./AttemptDiagnosis.ts"
import type { Connecting, Connector } from "./ReceiverConnector.ts"
import type { ReceiverExchange } from "./ReceiverExchange.ts"
import { type Listener, ResponseParser } from "./ResponseParser.ts"

/** Common firewall rules refuse requests that name no agent. */
const userAgent = "wac"

/** The request as it is sent. Throws if a header is impossible. */
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

/** Called once with an exchange's end: `null`, or what went wrong, and whether the connection can serve another. */
type Ended = (error: Error | null, isReusable: boolean) => void

/** An exchange under way. */
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

  /** Nothing is noted or reported from here on. */
  abandon(): void {
    this.#isOver = true
  }

  end(error: Error | null, isReusable: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    this.exchange.leave()
    this.#ended(error, isReusable)
  }

  /** Ends it with its response, which counts only if the receiver can have got the whole request. */
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
    // nobody knows what is left over from an earlier exchange
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
  /** The exchange under way; the last one while unused. */
  #running: Running | undefined
  #isClosed = false

  /** `closed` is called once when either side has closed it. */
  constructor(origin: string, openedAt: bigint, closed: () => void) {
    this.origin = origin
    this.openedAt = openedAt
    this.#closed = closed
  }

  /**
   * Sends the request, which {@link written} gives, once it is connected. `ended` is called at most once, perhaps from
   * within. It has to call {@link rest} or {@link close}.
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
    // what has already arrived when the request is written cannot be the answer to it, so the event loop looks first
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
    // whatever comes over an unused connection, it can serve no other exchange
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

  /** Keeps it unused for so many milliseconds. */
  rest(milliseconds: number): void {
    this.#socket?.setTimeout(milliseconds)
  }

  /** Closes it, without a word to the exchange under way. */
  breakOff(): void {
    this.#running?.abandon()
    this.close()
  }

  /** Closes it. An exchange under way ends with an error. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#connecting?.destroy()
    this.#socket?.destroy()
    this.#closed()
    this.#running?.end(new HungUp(), false)
  }
}
