/**
 * The routes as a handler of the Fetch API. `HttpEffect.toWebHandlerWith` is the same with more steps: it makes `Headers` of
 * those of an answer, which `Response` then reads, checks and copies once more.
 */
import { Context, Effect, type Scope } from "effect"
import { Cookies, HttpEffect, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"

/** Answers a request of the Fetch API. */
export type Handler = (request: Request) => Promise<Response>

const answer = Symbol("answer")

/** A request, and what takes its answer. */
interface Asked extends HttpServerRequest.HttpServerRequest {
  readonly source: Request
  [answer]: (response: Response) => void
}

/**
 * Runs the routes for each request, in a fiber that knows what is in `context`; it is interrupted when the request is
 * aborted.
 */
export const make = <E>(
  context: Context.Context<never>,
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, HttpServerRequest.HttpServerRequest | Scope.Scope>
): Handler => {
  const toWeb = (response: HttpServerResponse.HttpServerResponse, { method, signal }: Request): Response => {
    const { body, headers, status, statusText = "" } = response
    const withoutBody = method === "HEAD"
    const hasNone = HttpServerResponse.omitsBody(response, withoutBody)
    if (body._tag === "Uint8Array" && body.text !== undefined && Cookies.isEmpty(response.cookies) && !hasNone) {
      return new Response(body.text, { status, statusText, headers })
    }
    const whole = hasNone ? response : HttpEffect.scopeTransferToStream(response)
    return HttpServerResponse.toWeb(whole, { withoutBody, context, signal })
  }
  const handled = HttpEffect.toHandled(app, (request, response) => {
    const asked = request as Asked
    asked[answer](toWeb(response, asked.source))
    return Effect.void
  })
  return (request) =>
    new Promise((resolve) => {
      const asked = HttpServerRequest.fromWeb(request) as Asked
      asked[answer] = resolve
      const fiber = Effect.runForkWith(Context.add(context, HttpServerRequest.HttpServerRequest, asked))(handled)
      if (fiber.pollUnsafe() !== undefined) return
      const { signal } = request
      const abort = () => fiber.interruptUnsafe(undefined, HttpServerError.ClientAbort.annotation)
      if (signal.aborted) return abort()
      signal.addEventListener("abort", abort, { once: true })
      fiber.addObserver(() => signal.removeEventListener("abort", abort))
    })
}
