/**
 * What an exchange with a receiver means, in one plain sentence (contract §6 *Attempt*). The words are our own: an
 * error's text may hold what was sent, and a URL's query is often a secret.
 */
import type { Delivery, WebhookTransport } from "@wac/core"
import { DateTime, Duration, Option } from "effect"
import type { IncomingHttpHeaders } from "node:http"
import { errors } from "undici"
import { NotConnected } from "./ReceiverConnector.ts"
import { maxBodyBytes, type ReceiverExchange } from "./ReceiverExchange.ts"

type Answer = WebhookTransport.WebhookAnswer

/** So much of an answer's headers is kept. */
const maxHeaders = 64
const maxHeaderLength = 1024

/** A longer `Retry-After` counts as this; the schedule heeds far less. */
const maxRetryAfter = Duration.hours(24)

/** A redirect's target is told up to here. */
const maxLocationLength = 200

/** An attempt that ended before anything was tried. */
export const refused = (outcome: Delivery.AttemptOutcome, message: string): Answer => ({
  outcome,
  statusCode: null,
  message,
  address: null,
  timings: null,
  response: null,
  retryAfter: null
})

const unanswered = (exchange: ReceiverExchange, outcome: Delivery.AttemptOutcome, message: string): Answer => ({
  ...refused(outcome, message),
  address: exchange.address,
  timings: exchange.phase === null ? null : exchange.timings
})

const certificates: { readonly [code: string]: string } = {
  CERT_HAS_EXPIRED: "has an expired certificate",
  CERT_NOT_YET_VALID: "has a certificate that is not valid yet",
  CERT_REVOKED: "has a revoked certificate",
  DEPTH_ZERO_SELF_SIGNED_CERT: "has a self-signed certificate",
  ERR_TLS_CERT_ALTNAME_INVALID: "has a certificate for another host name",
  SELF_SIGNED_CERT_IN_CHAIN: "has a certificate of an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "has a certificate of an unknown authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "has a certificate of an unknown authority, or sends an incomplete chain"
}

/** The codes of node:tls: its own, OpenSSL's, and those of X.509 verification. */
const tlsCode =
  /^(ERR_TLS|ERR_SSL|ERR_OSSL|EPROTO$|CERT_|CRL_|UNABLE_TO_|ERROR_IN_|DEPTH_ZERO|SELF_SIGNED|INVALID_|HOSTNAME_|PATH_LENGTH)/

const closed = "closed the connection without answering"

const connections: { readonly [code: string]: string } = {
  ECONNREFUSED: "refused the connection",
  EHOSTUNREACH: "could not be reached",
  ENETUNREACH: "could not be reached",
  ETIMEDOUT: "did not accept the connection in time",
  ECONNRESET: closed,
  EPIPE: closed,
  UND_ERR_SOCKET: closed,
  UND_ERR_HEADERS_OVERFLOW: "answered with headers that are too large"
}

/** What undici says of answers that it takes for broken, under the code of a closed connection. */
const broken: { readonly [message: string]: string } = {
  "bad response": "answered 100, which it was not asked for",
  "bad upgrade": "answered 101 and wanted another protocol"
}

const codeOf = (error: Error): string => "code" in error && typeof error.code === "string" ? error.code : ""

/** Whether a kept connection was closed, as may happen at any time, before it brought anything of an answer. */
export const isStale = (exchange: ReceiverExchange, error: Error): boolean =>
  exchange.isKept && exchange.statusCode === null && broken[error.message] === undefined &&
  connections[codeOf(error)] === closed

const afterError = (exchange: ReceiverExchange, error: Error): Answer => {
  if (error instanceof NotConnected) return unanswered(exchange, error.outcome, error.message)
  const code = codeOf(error)
  if (tlsCode.test(code)) {
    const known = certificates[code]
    const message = known === undefined
      ? `failed the TLS handshake (${code})`
      : exchange.certificate === null
      ? known
      : `${known}: it is ${exchange.certificate}`
    return unanswered(exchange, "tls", message)
  }
  if (exchange.phase === "tls") return unanswered(exchange, "tls", "closed the connection during the TLS handshake")
  if (error instanceof errors.HTTPParserError) return unanswered(exchange, "connect", "did not answer in HTTP")
  const message = broken[error.message] ?? connections[code] ?? `could not be sent the request (${code})`
  return unanswered(exchange, code === "ETIMEDOUT" ? "timeout" : "connect", message)
}

const one = (value: string | ReadonlyArray<string> | undefined): string =>
  typeof value === "string" ? value : value?.join(", ") ?? ""

/** Names are lower case already. Cookies are not kept: they are the receiver's secrets, and never sent back. */
const keptHeaders = (headers: IncomingHttpHeaders): Delivery.AttemptResponse["headers"] => {
  const kept: Array<[name: string, value: string]> = []
  for (const [name, value] of Object.entries(headers)) {
    if (kept.length === maxHeaders) break
    if (name !== "set-cookie") kept.push([name.slice(0, maxHeaderLength), one(value).slice(0, maxHeaderLength)])
  }
  return Object.fromEntries(kept)
}

const utf8 = new TextDecoder()

/** As text that every storage can hold: no NUL, and no half character where it was cut. */
const keptBody = (body: Buffer): string =>
  (body.length < maxBodyBytes ? utf8.decode(body) : new TextDecoder().decode(body, { stream: true }))
    .replaceAll("\u0000", "\uFFFD")

const httpDate = /^[A-Z][a-z]{2,8},? .+ GMT$/

/** Reads `Retry-After`: seconds, or an HTTP date as of `now` (RFC 9110 §10.2.3). What is neither counts for nothing. */
const retryAfter = (value: string, now: number): Duration.Duration | null => {
  const wait = /^\d+$/.test(value)
    ? Option.some(Duration.seconds(Number(value)))
    : httpDate.test(value)
    ? Option.map(DateTime.make(value), (at) => Duration.millis(Math.max(0, DateTime.toEpochMillis(at) - now)))
    : Option.none()
  return Option.getOrNull(Option.map(wait, Duration.min(maxRetryAfter)))
}

/** Where a redirect leads, without what may be a secret. */
const target = (location: string, url: URL): string => {
  if (!URL.canParse(location, url.href)) return ""
  const { host, pathname, protocol } = new URL(location, url.href)
  // other schemes have no host, and keep everything in what looks like a path
  return host === ""
    ? ` to ${protocol}`.slice(0, maxLocationLength)
    : ` to ${protocol}//${host}${pathname}`.slice(0, maxLocationLength)
}

const seconds = (duration: Duration.Duration): string => `${Duration.toSeconds(duration)} seconds`

const waitedFor = (exchange: ReceiverExchange): string => {
  switch (exchange.phase) {
    case null:
    case "connect":
      return "did not accept the connection"
    case "lookup":
      return "has a host name whose look-up did not end"
    case "tls":
      return `accepted the connection after ${exchange.elapsedMs} ms, then did not complete the TLS handshake`
    case "firstByte":
      return exchange.isKept ? "did not answer" : `connected after ${exchange.elapsedMs} ms, then did not answer`
    case "body":
      return `answered ${exchange.statusCode} after ${exchange.elapsedMs} ms, then did not end its answer`
  }
}

/** What came when the time was over in the middle of it. */
export const timedOut = (exchange: ReceiverExchange, timeout: Duration.Duration): Answer => ({
  ...unanswered(exchange, "timeout", `${waitedFor(exchange)} within ${seconds(timeout)}`),
  statusCode: exchange.statusCode,
  response: responseOf(exchange)
})

const responseOf = ({ body, headers, statusCode }: ReceiverExchange): Delivery.AttemptResponse | null =>
  statusCode === null ? null : { headers: keptHeaders(headers), body: keptBody(body) }

/** What came of an exchange that ended by itself: with an answer, whole unless there is an error, or without. */
export const answer = (exchange: ReceiverExchange, error: Error | null, url: URL, now: number): Answer => {
  const { headers, statusCode } = exchange
  if (statusCode === null) return afterError(exchange, error ?? new Error("no answer"))
  const ended = (outcome: Delivery.AttemptOutcome, message: string): Answer => ({
    ...unanswered(exchange, outcome, message),
    statusCode,
    response: responseOf(exchange),
    retryAfter: statusCode === 429 || statusCode === 503 ? retryAfter(one(headers["retry-after"]).trim(), now) : null
  })
  if (statusCode >= 300 && statusCode < 400) {
    const where = headers.location === undefined ? "" : target(one(headers.location), url)
    return ended("redirect", `answered ${statusCode}${where}; redirects are not followed`)
  }
  if (statusCode !== 200) return ended("status", `answered ${statusCode}; only 200 counts`)
  return error === null
    ? ended("delivered", "answered 200")
    : ended("connect", "answered 200, but broke the connection before the answer's end")
}
