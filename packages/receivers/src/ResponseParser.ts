/**
 * Parses a receiver's response (RFC 9112). It is strict where the RFC leaves a choice: line ends are CR LF, and a
 * response whose length is given twice is refused. Pure.
 */
import { Data } from "effect"

/** The response breaks HTTP's rules. The message describes how, and quotes nothing of the response. */
export class Malformed extends Data.TaggedError("Malformed")<{ readonly message: string }> {}

/** What a parser reports of the final response; informational ones (1xx) are skipped, except 101. */
export interface Listener {
  /**
   * Called once, with the headers by their lower-case names. The values of a repeated header are joined by commas,
   * except if it can have only one; then the first counts.
   */
  readonly head: (statusCode: number, headers: ReadonlyMap<string, string>) => void
  /** Called with each piece of the body, which shares its memory with the bytes that were taken. */
  readonly body: (piece: Buffer) => void
}

/** The limit on a status line with its headers, on a chunk's first line, and on trailers, in bytes. */
const maxHeadBytes = 16 * 1024

const malformed = (how: string) => new Malformed({ message: `answered with ${how}` })

const malformedHeader = "a malformed header"

const malformedChunk = "a malformed chunk"

const lineFeed = 10

const begins = "HTTP/"

/** Whether a line, or the beginning of a line, can be a status line or an empty line. */
const mayBeHttp = (line: string): boolean => line.startsWith(begins) || begins.startsWith(line) || line === "\r"

const versions: ReadonlySet<string> = new Set(["0.9", "1.0", "1.1", "2.0"])

const statusLine = /^HTTP\/(\d\.\d) ([1-9]\d\d)(?: [\t -~\u0080-\u00FF]*)?$/

const headerName = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/

const headerValue = /^[\t -~\u0080-\u00FF]*$/

const chunkLine = /^([0-9A-Fa-f]{1,13})(?:;[\t -~\u0080-\u00FF]*)?$/

const isClosing = /(?:^|[\t ,])close(?:$|[\t ,])/i

const isKeeping = /(?:^|[\t ,])keep-alive(?:$|[\t ,])/i

/** Whether the last coding is `chunked`; any other ends with the connection. */
const isChunked = /(?:^|[\t ,])chunked$/i

/** The response headers that can have only one value. */
const singular: ReadonlySet<string> = new Set([
  "age",
  "content-type",
  "etag",
  "expires",
  "last-modified",
  "location",
  "retry-after",
  "server"
])

const isBlank = (text: string, at: number): boolean => text[at] === " " || text[at] === "\t"

/** The text from `start` on, without blanks around it. A regular expression would be slow with many blanks. */
const trimmed = (text: string, start: number): string => {
  let end = text.length
  while (start < end && isBlank(text, start)) start++
  while (start < end && isBlank(text, end - 1)) end--
  return text.slice(start, end)
}

/** Parses one response. */
export class ResponseParser {
  readonly #listener: Listener
  #part: "status" | "header" | "body" | "untilClose" | "chunkLine" | "chunk" | "chunkEnd" | "trailer" | "over" =
    "status"
  /** The beginning of a line whose end has not arrived. */
  #line = ""
  /** The number of bytes that count towards {@link maxHeadBytes}. */
  #headBytes = 0
  /** The number of bytes that are missing from the body or chunk. */
  #left = 0
  #version = ""
  #statusCode = 0
  #headers = new Map<string, string>()
  #keepsOpen = false

  constructor(listener: Listener) {
    this.#listener = listener
  }

  /** Whether the response is complete. */
  get isOver(): boolean {
    return this.#part === "over"
  }

  /** Whether the receiver keeps the connection open after the response; known once it is complete. */
  get keepsOpen(): boolean {
    return this.#keepsOpen
  }

  /** Takes the next bytes, and returns how many of them belong to the response. Throws {@link Malformed}. */
  take(bytes: Buffer): number {
    let at = 0
    while (at < bytes.length && this.#part !== "over") {
      at = this.#part === "body" || this.#part === "chunk" || this.#part === "untilClose"
        ? this.#takePiece(bytes, at)
        : this.#takeLine(bytes, at)
    }
    return at
  }

  /** The connection has ended. Returns whether that completes the response. */
  close(): boolean {
    if (this.#part === "untilClose") this.#part = "over"
    return this.isOver
  }

  #takePiece(bytes: Buffer, at: number): number {
    const end = this.#part === "untilClose" ? bytes.length : Math.min(bytes.length, at + this.#left)
    this.#left -= end - at
    this.#listener.body(bytes.subarray(at, end))
    if (this.#left === 0 && this.#part === "body") this.#part = "over"
    if (this.#left === 0 && this.#part === "chunk") this.#part = "chunkEnd"
    return end
  }

  #takeLine(bytes: Buffer, at: number): number {
    const found = bytes.indexOf(lineFeed, at)
    const end = found === -1 ? bytes.length : found
    this.#headBytes += end - at + 1
    if (this.#headBytes > maxHeadBytes) throw malformed("headers that are too large")
    this.#line += bytes.toString("latin1", at, end)
    // fails before the line is complete, because a server of another protocol may be waiting for the client
    if (this.#part === "status" && !mayBeHttp(this.#line)) throw new Malformed({ message: "did not answer in HTTP" })
    if (found === -1) return end
    const line = this.#line
    this.#line = ""
    if (!line.endsWith("\r")) throw malformed(this.#part === "status" ? "a malformed status line" : malformedHeader)
    this.#read(line.slice(0, -1))
    return end + 1
  }

  #read(line: string): void {
    switch (this.#part) {
      case "status":
        // an empty line may be left over from an earlier response
        if (line !== "") this.#status(line)
        return
      case "header":
        return line === "" ? this.#head() : this.#header(line)
      case "chunkLine":
        return this.#chunk(line)
      case "chunkEnd":
        if (line !== "") throw malformed(malformedChunk)
        this.#headBytes = 0
        this.#part = "chunkLine"
        return
      case "trailer":
        if (line === "") this.#part = "over"
        return
    }
  }

  #status(line: string): void {
    const [, version, statusCode] = statusLine.exec(line) ?? []
    if (version === undefined) throw malformed("a malformed status line")
    if (!versions.has(version)) throw new Malformed({ message: "answered in an unknown version of HTTP" })
    this.#version = version
    this.#statusCode = Number(statusCode)
    this.#part = "header"
  }

  #header(line: string): void {
    const colon = line.indexOf(":")
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase()
    const value = trimmed(line, colon + 1)
    if (!headerName.test(name) || !headerValue.test(value)) throw malformed(malformedHeader)
    const before = this.#headers.get(name)
    if (before === undefined) this.#headers.set(name, value)
    else if (name === "content-length") throw malformed("two Content-Length headers")
    else if (!singular.has(name)) this.#headers.set(name, `${before}, ${value}`)
  }

  #head(): void {
    const headers = this.#headers
    const statusCode = this.#statusCode
    const coding = headers.get("transfer-encoding")
    const length = headers.get("content-length")
    if (coding !== undefined && length !== undefined) throw malformed("both Content-Length and Transfer-Encoding")
    if (length !== undefined && !(/^\d+$/.test(length) && Number.isSafeInteger(Number(length)))) {
      throw malformed("a Content-Length that is not a number")
    }
    this.#headBytes = 0
    if (statusCode < 200 && statusCode !== 101) {
      this.#headers = new Map()
      this.#part = "status"
      return
    }
    const hasEnd = this.#frame(coding, length)
    const connection = headers.get("connection") ?? ""
    this.#keepsOpen = hasEnd && !isClosing.test(connection) && (this.#version === "1.1" || isKeeping.test(connection))
    this.#listener.head(statusCode, headers)
  }

  /** Determines where the body ends (RFC 9112 §6.3), and returns whether it ends before the connection. */
  #frame(coding: string | undefined, length: string | undefined): boolean {
    if (this.#statusCode === 101 || this.#statusCode === 204 || this.#statusCode === 304) this.#part = "over"
    else if (coding !== undefined) this.#part = isChunked.test(coding) ? "chunkLine" : "untilClose"
    else if (length === undefined) this.#part = "untilClose"
    else {
      this.#left = Number(length)
      this.#part = this.#left === 0 ? "over" : "body"
    }
    return this.#part !== "untilClose"
  }

  #chunk(line: string): void {
    const size = chunkLine.exec(line)?.[1]
    if (size === undefined) throw malformed(malformedChunk)
    this.#headBytes = 0
    this.#left = Number.parseInt(size, 16)
    this.#part = this.#left === 0 ? "trailer" : "chunk"
  }
}
