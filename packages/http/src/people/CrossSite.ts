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

/** What a request says of where it comes from. */
export interface Claims {
  /** `Sec-Fetch-Site`, by which a browser tells how the page and the address are related. */
  readonly site: string | undefined
  readonly origin: string | undefined
  /** The request's own scheme, as far as it is known: by the connection, or by a proxy that is believed. */
  readonly scheme: "http" | "https"
  readonly host: string | undefined
}

/** Which pages are our own. */
export interface Own {
  /** The origin of the public address. */
  readonly origin: string
  /** Whether the operator or the host gave that address: no other is believed then. */
  readonly isGiven: boolean
}

/**
 * Whether an origin is the request's own address. A name is not enough for that: whoever owns it can have it mean this
 * machine.
 */
const isOfRequest = ({ host, scheme }: Claims, origin: string): boolean => {
  const name = HostName.of(host)
  return name !== undefined && HostName.isUnclaimable(name) && URL.canParse(`${scheme}://${host}`) &&
    new URL(`${scheme}://${host}`).origin === origin
}

/**
 * The header that says that a request comes from elsewhere, or that does not say that it comes from our own pages. What
 * both headers say must be right where both are there: neither overrules the other.
 */
export const refused = (claims: Claims, own: Own): "Origin" | "Sec-Fetch-Site" | undefined => {
  const { origin, site } = claims
  const isSameOrigin = site === "same-origin"
  if (origin !== undefined && origin !== own.origin) {
    // a browser that says so has compared the two itself
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

export class CrossSite extends Context.Service<CrossSite, {
  /** Refuses an unsafe `/internal` request that does not say that it comes from our own pages. */
  readonly check: (
    endpoint: HttpApiEndpoint.Top
  ) => Effect.Effect<void, Errors.Forbidden, HttpServerRequest.HttpServerRequest>
}>()("@wac/http/people/CrossSite") {
  static readonly layer = Layer.effect(
    CrossSite,
    Effect.gen(function*() {
      const own = { origin: (yield* PublicUrl).origin, isGiven: yield* IsGiven }
      return CrossSite.of({
        check: Effect.fnUntraced(function*(endpoint) {
          if (safe.has(endpoint.method)) return
          const request = yield* HttpServerRequest.HttpServerRequest
          const { headers } = request
          const param = refused({
            site: headers["sec-fetch-site"],
            origin: headers["origin"],
            scheme: schemeOf(request),
            host: headers["host"]
          }, own)
          if (param === undefined) return
          return yield* new Errors.Forbidden({
            reason: "cross_site",
            param,
            message: "the request does not come from this service's own pages" +
              (own.isGiven ? ` at ${own.origin}` : "") +
              "; outside a browser, send Sec-Fetch-Site: same-origin"
          })
        })
      })
    })
  )
}
