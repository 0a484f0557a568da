/**
 * Keeps other sites from acting through a signed-in person's browser (contract §5 *Unsafe methods*).
 */
import { Errors } from "@wac/core"
import { Context, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { PublicUrl } from "./PublicUrl.ts"

const safe = new Set(["GET", "HEAD", "OPTIONS"])

/** Whether an origin is of the host that a request names: of none when that is missing, as `null` and `file://` have none. */
const isOf = (origin: string, host: string | undefined): boolean =>
  host !== undefined && host !== "" && URL.canParse(origin) && new URL(origin).host === host

export class CrossSite extends Context.Service<CrossSite, {
  /** Refuses an unsafe `/internal` request that does not say that it comes from our own pages. */
  readonly check: (
    endpoint: HttpApiEndpoint.Top
  ) => Effect.Effect<void, Errors.Forbidden, HttpServerRequest.HttpServerRequest>
}>()("@wac/http/CrossSite") {
  static readonly layer = Layer.effect(
    CrossSite,
    Effect.gen(function*() {
      const publicUrl = yield* PublicUrl
      return CrossSite.of({
        check: Effect.fnUntraced(function*(endpoint) {
          if (safe.has(endpoint.method)) return
          const { headers } = yield* HttpServerRequest.HttpServerRequest
          if (headers["sec-fetch-site"] === "same-origin") return
          const origin = headers["origin"]
          if (origin !== undefined && (origin === publicUrl.origin || isOf(origin, headers["host"]))) return
          return yield* new Errors.Forbidden({
            reason: "cross_site",
            param: origin === undefined ? "Sec-Fetch-Site" : "Origin",
            message: "the request does not come from this service's own pages; a program other than a browser says " +
              "Sec-Fetch-Site: same-origin"
          })
        })
      })
    })
  )
}
