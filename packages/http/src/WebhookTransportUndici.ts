/**
 * `WebhookTransport` over undici (contract §6 *Attempt*, *Receiver addresses*): one POST, no redirect, no proxy, no
 * cookie, and a connection only to an address that was judged.
 */
import { type Delivery, WebhookTransport } from "@wac/core"
import { Clock, Data, DateTime, Duration, Effect, Layer, Option } from "effect"
import type { IncomingHttpHeaders } from "node:http"
import { isIP, type LookupFunction } from "node:net"
import { Agent, buildConnector, type Dispatcher, errors } from "undici"
import { judgeAll, judgeHost } from "./ReceiverAddress.ts"
import { lookup, type ReceiverRules } from "./ReceiverGuardDns.ts"

/** So much of an answer's body is read and kept (contract §6). */
export const maxBodyBytes = 16 * 1024

/** So much of an answer's headers is kept. */
const maxHeaders = 64
const maxHeaderLength = 1024

/** Connections to one origin at a time: many workspaces can share a host, so more than one webhook may use. */
const connectionsPerOrigin = 128

/** Connections nobody waits for any more end here; the attempt's own deadline is the caller's. */
const connectTimeout = Duration.seconds(5)

/** Each address of a name gets this long before the next is tried; the default is too short for another continent. */
const addressTimeout = Duration.seconds(1)

/** An unused connection is closed no later than this, so that a change of the name's addresses is noticed. */
const keepAliveTimeout = Duration.seconds(4)
const maxKeepAliveTimeout = Duration.seconds(10)

/** A longer `Retry-After` counts as this; the schedule heeds far less. */
const maxRetryAfter = Duration.hours(24)

/** Common firewall rules refuse requests that name no agent. */
const userAgent = "wac"

type Answer = WebhookTransport.WebhookAnswer

/** Why no connection was made, where it is ours to say. */
class NotConnected extends Data.TaggedError("NotConnected")<{
  readonly outcome: "dns" | "blocked_address"
  readonly message: string
}> {}

const blocked = (why: string) =>
  new NotConnected({ outcome: "blocked_address", message: `${why}; only public addresses are allowed` })

const notFound = new NotConnected({ outcome: "dns", message: "has a host name that could not be looked up" })

/**
 * Judges the host of every new connection. Names are looked up here and their addresses handed on, so that what was
 * judged is what is connected to; an address in the URL is never looked up, hence the first check.
 */
const guardedConnector = (rules: ReceiverRules): buildConnector.connector => {
  const find = lookup(rules)
  const guardedLookup: LookupFunction = (hostname, _options, callback) => {
    find(hostname).then((addresses) => {
      const verdict = judgeAll(addresses, rules.allowedCidrs)
      if (!verdict.allowed) callback(blocked(`has a host that leads to ${verdict.reason}`), [])
      else if (addresses.length === 0) callback(notFound, [])
      else callback(null, addresses.map((address) => ({ address, family: isIP(address) })))
    }, () => callback(notFound, []))
  }
  const connect = buildConnector({
    lookup: guardedLookup,
    // makes net ask for all addresses, the one form that guardedLookup answers
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: Duration.toMillis(addressTimeout),
    timeout: Duration.toMillis(connectTimeout),
    allowH2: false
  })
  return (options, callback) => {
    const verdict = judgeHost(options.hostname, rules.allowedCidrs)
    if (verdict.allowed) connect(options, callback)
    else callback(blocked(`has a host that is ${verdict.reason}`), null)
  }
}

/** What came over the connection until it ended, by itself or by us. */
interface Received {
  readonly statusCode: number | null
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** Why the answer is not whole; `null` when it is, or when enough of it was read. */
  readonly error: Error | null
}

const exchange = (agent: Agent, url: URL, request: WebhookTransport.WebhookRequest): Effect.Effect<Received> =>
  Effect.callback((resume) => {
    let controller: Dispatcher.DispatchController | undefined
    let interrupted = false
    let statusCode: number | null = null
    let headers: IncomingHttpHeaders = {}
    const chunks: Array<Buffer> = []
    let length = 0
    const end = (error: Error | null) => {
      const received = { statusCode, headers, body: Buffer.concat(chunks).subarray(0, maxBodyBytes), error }
      // not before undici has left its own call: `resume` runs whatever comes next
      queueMicrotask(() => resume(Effect.succeed(received)))
    }
    const abort = () => controller?.abort(new Error("no longer wanted"))

    agent.dispatch({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: "POST",
      headers: { "user-agent": userAgent, ...request.headers },
      body: request.body
    }, {
      onRequestStart(started) {
        controller = started
        if (interrupted) abort()
      },
      onResponseStart(_controller, status, responseHeaders) {
        if (status < 200) return
        statusCode = status
        headers = responseHeaders
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk)
        length += chunk.length
        if (length < maxBodyBytes) return
        end(null)
        abort()
      },
      onResponseEnd: () => end(null),
      onResponseError: (_controller, error) => end(error)
    })
    return Effect.sync(() => {
      interrupted = true
      abort()
    })
  })

const unanswered = (outcome: Delivery.AttemptOutcome, message: string): Answer => ({
  outcome,
  statusCode: null,
  message,
  address: null,
  timings: null,
  response: null,
  retryAfter: null
})

const certificates: { readonly [code: string]: string } = {
  CERT_HAS_EXPIRED: "has an expired certificate",
  CERT_NOT_YET_VALID: "has a certificate that is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "has a self-signed certificate",
  ERR_TLS_CERT_ALTNAME_INVALID: "has a certificate for another host name",
  SELF_SIGNED_CERT_IN_CHAIN: "has a certificate of an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "has a certificate of an unknown authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "has a certificate of an unknown authority, or sends an incomplete chain"
}

/** The codes of node:tls: its own, OpenSSL's, and those of X.509 verification. */
const tlsCode =
  /^(ERR_TLS|ERR_SSL|ERR_OSSL|EPROTO$|CERT_|CRL_|UNABLE_TO_|ERROR_IN_|DEPTH_ZERO|SELF_SIGNED|INVALID_|HOSTNAME_|PATH_LENGTH)/

const connections: { readonly [code: string]: string } = {
  ECONNREFUSED: "refused the connection",
  EHOSTUNREACH: "could not be reached",
  ENETUNREACH: "could not be reached",
  ETIMEDOUT: "did not accept the connection in time",
  ECONNRESET: "closed the connection without answering",
  EPIPE: "closed the connection without answering",
  UND_ERR_SOCKET: "closed the connection without answering",
  UND_ERR_HEADERS_OVERFLOW: "answered with headers that are too large"
}

/** Says in our own words what went wrong before an answer: an error's text may hold what was sent. */
const afterError = (error: Error): Answer => {
  if (error instanceof NotConnected) return unanswered(error.outcome, error.message)
  const code = "code" in error && typeof error.code === "string" ? error.code : ""
  if (tlsCode.test(code)) return unanswered("tls", certificates[code] ?? `failed the TLS handshake (${code})`)
  // node:tls gives this one the code of any reset
  if (error.message.includes("before secure TLS connection")) {
    return unanswered("tls", "closed the connection during the TLS handshake")
  }
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") {
    return unanswered("timeout", "did not answer in time")
  }
  if (error instanceof errors.HTTPParserError) return unanswered("connect", "did not answer in HTTP")
  return unanswered("connect", connections[code] ?? `could not be sent the request (${code})`)
}

const one = (value: string | ReadonlyArray<string> | undefined): string =>
  typeof value === "string" ? value : value?.join(", ") ?? ""

/** Names are lower case already. Cookies are not kept: they are the receiver's secrets, and never sent back. */
const keptHeaders = (headers: IncomingHttpHeaders): Delivery.AttemptResponse["headers"] =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name !== "set-cookie")
      .slice(0, maxHeaders)
      .map(([name, value]) => [name.slice(0, maxHeaderLength), one(value).slice(0, maxHeaderLength)])
  )

/** As text that every storage can hold: no NUL, and no half character where it was cut. */
const keptBody = (body: Buffer): string =>
  new TextDecoder().decode(body, { stream: body.length === maxBodyBytes }).replaceAll("\u0000", "\uFFFD")

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

const answer = (received: Received, now: number): Answer => {
  const { body, error, headers, statusCode } = received
  if (statusCode === null) return afterError(error ?? new Error("no answer"))
  const ended = {
    statusCode,
    address: null,
    timings: null,
    response: { headers: keptHeaders(headers), body: keptBody(body) },
    retryAfter: statusCode === 429 || statusCode === 503 ? retryAfter(one(headers["retry-after"]).trim(), now) : null
  }
  if (statusCode >= 300 && statusCode < 400) {
    return { ...ended, outcome: "redirect", message: `answered ${statusCode}; redirects are not followed` }
  }
  if (statusCode !== 200) return { ...ended, outcome: "status", message: `answered ${statusCode}; only 200 counts` }
  return error === null
    ? { ...ended, outcome: "delivered", message: "answered 200" }
    : { ...ended, outcome: "connect", message: "answered 200, but broke the connection before the answer's end" }
}

/**
 * The transport under these rules, with one pool of connections that ends with the layer. An answer counts once it
 * is whole or its first 16 KiB are here; until then its time runs.
 */
export const layer = (rules: ReceiverRules): Layer.Layer<WebhookTransport.WebhookTransport> =>
  Layer.effect(
    WebhookTransport.WebhookTransport,
    Effect.gen(function*() {
      const agent = yield* Effect.acquireRelease(
        Effect.sync(() =>
          new Agent({
            connect: guardedConnector(rules),
            connections: connectionsPerOrigin,
            allowH2: false,
            keepAliveTimeout: Duration.toMillis(keepAliveTimeout),
            keepAliveMaxTimeout: Duration.toMillis(maxKeepAliveTimeout)
          })
        ),
        (agent) => Effect.promise(() => agent.destroy())
      )
      return WebhookTransport.WebhookTransport.of({
        post: Effect.fn("WebhookTransport.post")(function*(request) {
          if (!URL.canParse(request.url)) return unanswered("connect", "has no URL")
          const url = new URL(request.url)
          if (url.protocol !== "https:" && !(url.protocol === "http:" && rules.allowInsecure)) {
            return unanswered("blocked_address", "has a URL that is not https; only https is allowed")
          }
          const received = yield* Effect.timeoutOption(exchange(agent, url, request), request.timeout)
          return Option.isSome(received)
            ? answer(received.value, yield* Clock.currentTimeMillis)
            : unanswered("timeout", `did not answer within ${Duration.toSeconds(request.timeout)} seconds`)
        })
      })
    })
  )
