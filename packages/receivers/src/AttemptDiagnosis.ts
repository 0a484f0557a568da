/**
 * Describes an exchange with a receiver in one plain sentence (contract §6 *Attempt*). It never quotes errors: an
 * error's text may contain what was sent, and a URL's query is often a secret.
 */
import type { Delivery, WebhookTransport } from "@wac/core"
import { Data, DateTime, Duration, Option } from "effect"
import { NotConnected } from "./ReceiverConnector.ts"
import { maxBodyBytes, type ReceiverExchange } from "./ReceiverExchange.ts"
import { Malformed } from "./ResponseParser.ts"

/** The response began before the whole request was written, so it cannot be a response to this request. */
export class EarlyAnswer extends Data.TaggedError("EarlyAnswer") {}

/** The receiver responded with 101. */
export class Upgraded extends Data.TaggedError("Upgraded") {}

/** The connection was closed without an error before the response was complete. */
export class HungUp extends Data.TaggedError("HungUp") {}

type Answer = WebhookTransport.WebhookAnswer

/** The limits on the stored headers of a response. */
const maxHeaders = 64
const maxHeaderLength = 1024

/** The longest `Retry-After` that counts; the schedule's own limit is far lower. */
const maxRetryAfter = Duration.hours(24)

/** The maximum length of a redirect's target in the description. */
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

const noClientCertificate = "requires a client certificate, and none is sent"

/** The meanings of OpenSSL's codes, matched by their ends, because the beginnings differ between versions. */
const handshakes: ReadonlyArray<readonly [code: RegExp, message: string]> = [
  [/_(ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL)$/, "supports no secure version of TLS; 1.2 or 1.3 is required"],
  [/_ALERT_NO_APPLICATION_PROTOCOL$/, "refuses HTTP/1.1, as a server that speaks only HTTP/2 does; it is required"],
  [/_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/, "answered without TLS, which https requires: is this its port?"],
  [/_ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE)$/, noClientCertificate],
  [/_ALERT_HANDSHAKE_FAILURE$/, "refused the TLS handshake: it may support no cipher that is secure"],
  [/_UNRECOGNIZED_NAME$/, "does not serve this host name over TLS"],
  [/_ALERT_INTERNAL_ERROR$/, "failed the TLS handshake with an internal error"]
]

const failedHandshake = (code: string, exchange: ReceiverExchange): string => {
  const known = handshakes.find(([pattern]) => pattern.test(code))?.[1]
  if (known === undefined) return `failed the TLS handshake (${code})`
  // before TLS 1.3, this code means no common cipher or no client certificate; a server that has sent its certificate
  // has found a common cipher
  const isOfClient = code.endsWith("_ALERT_HANDSHAKE_FAILURE") && exchange.certificate !== null
  return isOfClient ? noClientCertificate : known
}

const closed = "closed the connection without a response"

const connections: { readonly [code: string]: string } = {
  ECONNREFUSED: "refused the connection",
  EHOSTUNREACH: "could not be reached",
  ENETUNREACH: "could not be reached",
  ETIMEDOUT: "did not accept the connection in time",
  ECONNRESET: closed,
  EPIPE: closed
}

const codeOf = (error: Error): string => "code" in error && typeof error.code === "string" ? error.code : ""

/**
 * Whether a kept connection brought nothing for this request: it was closed, as may happen at any time, or it brought
 * bytes that are left over from another request.
 */
export const isStale = (exchange: ReceiverExchange, error: Error): boolean =>
  exchange.isKept &&
  (error instanceof EarlyAnswer ||
    exchange.statusCode === null && (error instanceof HungUp || connections[codeOf(error)] === closed))

const afterError = (exchange: ReceiverExchange, error: Error): Answer => {
  if (error instanceof NotConnected) return unanswered(exchange, error.outcome, error.message)
  const code = codeOf(error)
  if (tlsCode.test(code)) {
    const known = certificates[code]
    const message = known === undefined
      ? failedHandshake(code, exchange)
      : exchange.certificate === null
      ? known
      : `${known}: it is ${exchange.certificate}`
    return unanswered(exchange, "tls", message)
  }
  if (exchange.phase === "tls") return unanswered(exchange, "tls", "closed the connection during the TLS handshake")
  if (error instanceof Upgraded) {
    return unanswered(exchange, "connect", "answered 101 to switch to another protocol")
  }
  if (error instanceof Malformed) return unanswered(exchange, "connect", error.message)
  if (error instanceof HungUp) return unanswered(exchange, "connect", closed)
  const message = connections[code] ?? `failed while the request was being sent (${code})`
  return unanswered(exchange, code === "ETIMEDOUT" ? "timeout" : "connect", message)
}

/**
 * The response's headers to store, shortened; their names are lower case. Cookies are secrets, so they are left out.
 */
const keptHeaders = (headers: ReadonlyMap<string, string>): Delivery.AttemptResponse["headers"] => {
  const kept: Array<[name: string, value: string]> = []
  for (const [name, value] of headers) {
    if (kept.length === maxHeaders) break
    if (name !== "set-cookie") kept.push([name.slice(0, maxHeaderLength), value.slice(0, maxHeaderLength)])
  }
  return Object.fromEntries(kept)
}

const utf8 = new TextDecoder()

/** The body as text that every storage can hold: without NUL, and without half a character at the cut. */
const keptBody = (body: Buffer): string =>
  (body.length < maxBodyBytes ? utf8.decode(body) : new TextDecoder().decode(body, { stream: true }))
    .replaceAll("\u0000", "\uFFFD")

const httpDate = /^[A-Z][a-z]{2,8},? .+ GMT$/

/** Reads `Retry-After`: seconds, or an HTTP date relative to `now` (RFC 9110 §10.2.3). Anything else is ignored. */
const retryAfter = (value: string, now: number): Duration.Duration | null => {
  const wait = /^\d+$/.test(value)
    ? Option.some(Duration.seconds(Number(value)))
    : httpDate.test(value)
    ? Option.map(DateTime.make(value), (at) => Duration.millis(Math.max(0, DateTime.toEpochMillis(at) - now)))
    : Option.none()
  return Option.getOrNull(Option.map(wait, Duration.min(maxRetryAfter)))
}

/** The target of a redirect, without parts that may be secret. */
const target = (location: string, url: URL): string => {
  if (!URL.canParse(location, url.href)) return ""
  const { host, pathname, protocol } = new URL(location, url.href)
  // other schemes have no host, and keep everything in what looks like a path
  return host === ""
    ? ` to ${protocol}`.slice(0, maxLocationLength)
    : ` to ${protocol}//${host}${pathname}`.slice(0, maxLocationLength)
}

/** The statuses that redirect a request to a different address; 304 and 300 do not (RFC 9110 §15.4). */
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

const seconds = (duration: Duration.Duration): string => `${Duration.toSeconds(duration)} seconds`

const waitedFor = (exchange: ReceiverExchange): string => {
  switch (exchange.phase) {
    case null:
    case "connect":
      return "did not accept the connection"
    case "lookup":
      return "has a host name whose DNS lookup did not end"
    case "tls":
      return `accepted the connection after ${exchange.elapsedMs} ms, then did not complete the TLS handshake`
    case "firstByte":
      return exchange.isKept ? "did not answer" : `connected after ${exchange.elapsedMs} ms, then did not answer`
    case "body":
      return `answered ${exchange.statusCode} after ${exchange.elapsedMs} ms, then did not finish its response`
  }
}

/** The result of an exchange that timed out. */
export const timedOut = (exchange: ReceiverExchange, timeout: Duration.Duration): Answer => ({
  ...unanswered(exchange, "timeout", `${waitedFor(exchange)} within ${seconds(timeout)}`),
  statusCode: exchange.statusCode,
  response: responseOf(exchange)
})

const responseOf = ({ body, headers, statusCode }: ReceiverExchange): Delivery.AttemptResponse | null =>
  statusCode === null ? null : { headers: keptHeaders(headers), body: keptBody(body) }

/**
 * The result of an exchange that ended without a timeout. If a response has begun, it is complete unless there is an
 * error.
 */
export const answer = (exchange: ReceiverExchange, error: Error | null, url: URL, now: number): Answer => {
  const { headers, statusCode } = exchange
  if (statusCode === null) return afterError(exchange, error ?? new Error("no answer"))
  const ended = (outcome: Delivery.AttemptOutcome, message: string): Answer => ({
    ...unanswered(exchange, outcome, message),
    statusCode,
    response: responseOf(exchange),
    retryAfter: statusCode === 429 || statusCode === 503 ? retryAfter(headers.get("retry-after") ?? "", now) : null
  })
  if (redirects.has(statusCode)) {
    const location = headers.get("location")
    const where = location === undefined ? "" : target(location, url)
    return ended("redirect", `answered ${statusCode}${where}; redirects are not followed`)
  }
  if (statusCode !== 200) return ended("status", `answered ${statusCode}; only 200 counts`)
  if (error === null) return ended("delivered", "answered 200")
  const why = error instanceof EarlyAnswer
    ? "answered 200 before the request was sent; only a response to the whole request counts"
    : error instanceof Malformed
    ? "answered 200, but with a malformed body"
    : "answered 200, but closed the connection before the end of the response"
  return ended("connect", why)
}
