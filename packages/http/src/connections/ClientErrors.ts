/**
 * Errors that Node raises before there is a request: malformed HTTP, headers that are too large or too slow,
 * unsupported expectations. They also have the form of contract §2.
 */
import { Errors } from "@wac/core"
import { type Server, type ServerResponse, STATUS_CODES } from "node:http"
import * as ErrorResponse from "../ErrorResponse.ts"

const refusals: { readonly [code: string]: readonly [status: number, message: string] } = {
  HPE_HEADER_OVERFLOW: [431, "the headers are too large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "the request did not arrive in time"]
}

const unexpected = new Errors.InvalidBody({
  reason: "invalid_field",
  param: "Expect",
  message: "the only supported Expect value is 100-continue"
})

interface ParseError extends NodeJS.ErrnoException {
  /** The received bytes, from the position where the parser failed. */
  readonly rawPacket?: Buffer
}

/** A response after which nothing more is read from the client. */
const last = (error: Errors.DomainError) => {
  const { body, headers, status } = ErrorResponse.outside(error)
  return {
    status,
    body,
    headers: { ...headers, "content-length": `${Buffer.byteLength(body)}`, "connection": "close" }
  }
}

/** Responds to a request with an error, after which the connection ends. */
export const end = (response: ServerResponse, error: Errors.DomainError): void => {
  const { body, headers, status } = last(error)
  response.writeHead(status, headers).end(body)
}

/** Makes a server respond to these errors. */
export const answer = <S extends Server>(server: S): S => {
  server.on("clientError", (error: ParseError, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) return socket.destroy()
    const [status, message] = refusals[error.code ?? ""] ?? [400, "the request is not valid HTTP"]
    const { body, headers } = last(
      new Errors.InvalidBody({ reason: status === 431 ? "too_large" : "invalid_field", message })
    )
    socket.end(
      [
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        "",
        // a response to HEAD has no body, or the client would lose track of the connection
        error.rawPacket?.subarray(0, 5).toString() === "HEAD " ? "" : body
      ].join("\r\n")
    )
  })
  server.on("checkExpectation", (_, response) => {
    const { body, headers } = last(unexpected)
    response.writeHead(417, headers).end(body)
  })
  return server
}
