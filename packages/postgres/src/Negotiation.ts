/**
 * Connections whose encryption is negotiated with the server (`sslmode=prefer` and `allow`): encrypted and plain
 * connections are tried in turn, the second if the server refuses the first. The client gets a decrypted stream.
 */
import type { Socket } from "node:net"
import { Duplex } from "node:stream"
import * as tls from "node:tls"

type Way = "encrypted" | "plain"

const other = (way: Way): Way => way === "plain" ? "encrypted" : "plain"

/** The message with which a client asks for encryption. */
const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])

/** The server's responses to {@link sslRequest}. */
const willing = 0x53
const unwilling = 0x4e

/** The first byte of an error's message. */
const isError = 0x45

/** The options of {@link make}. */
export interface Options {
  /** Begins to connect. */
  readonly open: () => Socket
  readonly encryption: () => tls.ConnectionOptions
  readonly first: Way
}

/** Makes streams. With `first` plain, a stream begins with the way by which the server last accepted a connection. */
export const make = ({ encryption, first, open }: Options): () => Duplex => {
  let known = first
  const accepted = (way: Way) => {
    // if encryption is preferred, it is always tried first: a single failure must not make all later connections plain
    if (first === "plain") known = way
  }
  return () => new Negotiated(open, encryption, known, accepted)
}

class Negotiated extends Duplex {
  readonly #open: () => Socket
  readonly #encryption: () => tls.ConnectionOptions
  readonly #accepted: (way: Way) => void
  #socket: Socket | undefined
  /** What the client sent before the server's first message: sent again the other way if that message is a refusal. */
  #sent: Array<Uint8Array> = []
  /** The write that waits for the negotiation. */
  #waiting: ((error?: Error | null) => void) | undefined
  #isSettled = false
  #isAccepted = false

  constructor(
    open: () => Socket,
    encryption: () => tls.ConnectionOptions,
    first: Way,
    accepted: (way: Way) => void
  ) {
    super({ allowHalfOpen: false })
    this.#open = open
    this.#encryption = encryption
    this.#accepted = accepted
    this.#try(first, true)
  }

  #try(way: Way, isFirst: boolean): void {
    const raw = this.#open()
    this.#socket = raw
    const fail = (error: Error) => {
      if (this.#socket === raw) this.destroy(error)
    }
    const close = () => {
      if (this.#socket === raw) this.destroy()
    }
    raw.on("error", fail).on("close", close)
    const again = () => {
      this.#socket = undefined
      raw.destroy()
      this.#try(other(way), false)
    }
    const orElse = isFirst ? again : undefined
    if (way === "plain") return this.#settle(raw, way, orElse)
    raw.once("connect", () => raw.write(sslRequest))
    raw.once("data", (answer) => {
      if (answer[0] === willing && answer.length === 1) {
        raw.off("error", fail).off("close", close)
        this.#encrypt(raw, orElse)
      } else if (isFirst && answer[0] === unwilling && answer.length === 1) {
        this.#settle(raw, "plain", undefined)
      } else if (isFirst && answer[0] === isError) {
        again()
      } else {
        this.destroy(new Error("The server does not support TLS"))
      }
    })
  }

  #encrypt(raw: Socket, orElse: (() => void) | undefined): void {
    const socket = tls.connect({ ...this.#encryption(), socket: raw })
    this.#socket = socket
    let isSecure = false
    socket.once("secureConnect", () => {
      isSecure = true
      this.#settle(socket, "encrypted", orElse)
    })
    socket.on("error", (error) => {
      if (this.#socket !== socket) return
      if (isSecure || orElse === undefined) this.destroy(error)
      else {
        socket.destroy()
        orElse()
      }
    })
    socket.on("close", () => {
      if (this.#socket === socket) this.destroy()
    })
  }

  /** Passes on what the client sends. The server's first message may still be a refusal. */
  #settle(socket: Socket, way: Way, orElse: (() => void) | undefined): void {
    this.#socket = socket
    this.#isSettled = true
    for (const chunk of this.#sent) socket.write(chunk)
    socket.on("data", (chunk) => {
      if (this.#socket !== socket) return
      if (!this.#isAccepted) {
        if (orElse !== undefined && chunk[0] === isError) {
          this.#isSettled = false
          socket.destroy()
          return orElse()
        }
        this.#isAccepted = true
        this.#sent = []
        if (chunk[0] !== isError) this.#accepted(way)
      }
      if (!this.push(chunk)) socket.pause()
    })
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.()
  }

  override _read(): void {
    this.#socket?.resume()
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (!this.#isAccepted) this.#sent.push(chunk)
    if (!this.#isSettled) this.#waiting = done
    else if (this.#isAccepted) this.#socket!.write(chunk, done)
    else {
      this.#socket!.write(chunk)
      done()
    }
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket?.end()
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const socket = this.#socket
    this.#socket = undefined
    // nobody reads what the socket still receives
    socket?.on("error", () => undefined).destroy()
    this.#waiting?.(error)
    this.#waiting = undefined
    done(error)
  }
}
