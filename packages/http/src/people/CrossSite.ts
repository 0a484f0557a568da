/**
 * Keeps other sites from acting through a signed-in person's browser (contract §5 *Unsafe methods*).
 */
import { Errors } from "@wac/core"
import { Context, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { IncomingMessage } from "node:http"
import * as HostName from "../connections/HostName.ts"
import { IsGiven, PublicUrl } from "../PublicUrl.ts"

const safe = new Set(["GET", "HEAD", "OPTIONS"])

/** The origin that a request declares. */
export interface Claims {
  /** `Sec-Fetch-Site`, with which a browser reports the relation between the page and the address. */
  readonly site: string | undefined
  readonly origin: string | undefined
  /** The request's own scheme, if it is known from the connection or from a trusted proxy. */
  readonly scheme: "http" | "https"
  readonly host: string | undefined
}

/** The settings that decide which pages are our own. */
export interface Own {
  /** The origin of the public address. */
  readonly origin: string
  /** Whether the operator or the host configured that address; then no other origin is accepted. */
  readonly isGiven: boolean
}

/**
 * Whether an origin is the request's own address. A name is not enough, because its owner can make it resolve to this
 * machine.
 */
const isOfRequest = ({ host, scheme }: Claims, origin: string): boolean => {
  const name = HostName.of(host)
  return name !== undefined && HostName.isUnclaimable(name) && URL.canParse(`${scheme}://${host}`) &&
    new URL(`${scheme}://${host}`).origin === origin
}

/**
 * The header that proves that a request is cross-site, or that fails to prove that it comes from our own pages;
 * `undefined` if the request is accepted. If both headers are present, both must be right: neither overrides the other.
 */
export const refused = (claims: Claims, own: Own): "Origin" | "Sec-Fetch-Site" | undefined => {
  const { origin, site } = claims
  const isSameOrigin = site === "same-origin"
  if (origin !== undefined && origin !== own.origin) {
    // the browser has compared the two itself
    const isOurs = !own.isGiven && (isSameOrigin || isOfRequest(claims, origin))
    if (!isOurs) return "Origin"
  }
  return isSameOrigin || (site === undefined && origin !== undefined) ? undefined : "Sec-Fetch-Site"
}

const schemeOf = ({ protocol, source }: HttpServerRequest.HttpServerRequest): Claims["scheme"] => {
  if (protocol !== undefined) return protocol
  if (source instanceof IncomingMessage) return "encrypted" in source.socket ? "https" : "http"
  return "url" in source && typeof source.url === "string" && source.url.startsWith("https:") ? "https" : "http"
}

const claimsOf = (request: HttpServerRequest.HttpServerRequest): Claims => ({
  site: request.headers["sec-fetch-site"],
  origin: request.headers["origin"],
  scheme: schemeOf(request),
  host: request.headers["host"]
})

/** The checks of a request's origin. */
export class CrossSite extends Context.Service<CrossSite, {
  /** Refuses an unsafe `/internal` request that does not prove that it comes from our own pages. */
  readonly check: (
    endpoint: HttpApiEndpoint.Top
  ) => Effect.Effect<void, Errors.Forbidden, HttpServerRequest.HttpServerRequest>
  /** Refuses a request with an `Origin` that is not ours. Programs outside a browser send none. */
  readonly checkOrigin: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<void, Errors.Forbidden>
}>()("@wac/http/people/CrossSite") {
  static readonly layer = Layer.effect(
    CrossSite,
    Effect.gen(function*() {
      const own = { origin: (yield* PublicUrl).origin, isGiven: yield* IsGiven }
      const foreign = (param: "Origin" | "Sec-Fetch-Site", advice: string) =>
        new Errors.Forbidden({
          reason: "cross_site",
          param,
          message: "the request does not come from this service's own pages" +
            (own.isGiven ? ` at ${own.origin}` : "") + advice
        })
      return CrossSite.of({
        check: Effect.fnUntraced(function*(endpoint) {
          if (safe.has(endpoint.method)) return
          const param = refused(claimsOf(yield* HttpServerRequest.HttpServerRequest), own)
          if (param === undefined) return
          return yield* foreign(param, "; outside a browser, send Sec-Fetch-Site: same-origin")
        }),
        checkOrigin: (request) =>
          refused(claimsOf(request), own) === "Origin"
            ? Effect.fail(foreign("Origin", "; outside a browser, omit Origin"))
            : Effect.void
      })
    })
  )
}
