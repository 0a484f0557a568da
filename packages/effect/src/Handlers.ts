/**
 * The HTTP API inside the host's own server: the same routes as the standalone server's, behind a fetch handler and a
 * `node:http` handler.
 */
import { Errors } from "@wac/core"
import { ErrorResponse, HttpApp, MountPath } from "@wac/http"
import { Context, Duration, Effect, Layer, type Scope } from "effect"
import { HttpEffect, HttpRouter, HttpServer, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { IncomingMessage, type ServerResponse } from "node:http"
import type { InFlight } from "./InFlight.ts"
import * as NodeExchange from "./NodeExchange.ts"
import * as OptionValue from "./OptionValue.ts"
import { badOption } from "./WacError.ts"

/** Handles a request of the Fetch API. */
export type Handler = (request: Request) => Promise<Response>

/**
 * Handles a request of `node:http`. Express and Connect accept it directly, even mounted at a path, which they remove
 * from the request themselves. If something has already read the body, the response is 500 `body_already_parsed`.
 */
export type NodeHandler = NodeExchange.NodeHandler

/**
 * Handles a request of the Fetch API, and calls `over` once its response has ended: when the last piece of a stream was
 * taken, or the stream was cancelled. Other bodies are complete when the promise resolves, which may be after the call.
 */
type Exchange = (request: Request, over: () => void) => Promise<Response>

/** Called when the response has ended. */
class Over extends Context.Service<Over, () => void>()("@wac/effect/Handlers/Over") {}

/** A path that has no route. */
const nowhere = "//"

type App<R> = Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, R>

const before = (target: string, url: string): string | undefined =>
  target.endsWith(url) ? target.slice(0, target.length - url.length) : undefined

/** Splits a request's target into the mount path and our own path. Outside of the prefix, the path has no route. */
const split = (target: string, url: string, prefix: string): readonly [mount: string, path: string] => {
  if (prefix === "") {
    // Express and Connect remove their mount path from `url`, and keep the whole target as `originalUrl`. If the path
    // ends with the mount, they add the slash with which `url` begins.
    return [before(target, url) ?? before(target.replace(/\?|$/, "/$&"), url) ?? "", url]
  }
  if (!target.startsWith(prefix)) return ["", nowhere]
  const rest = target.slice(prefix.length)
  return rest === "" || rest[0] === "?" ? [prefix, `/${rest}`] : rest[0] === "/" ? [prefix, rest] : ["", nowhere]
}

/** Removes the mount path from each request. */
const mounted = <R>(app: App<R>, prefix: string): App<R | HttpServerRequest.HttpServerRequest> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const { originalUrl: target = request.url } = request.source as { readonly originalUrl?: string }
    const [mount, url] = split(target, request.url, prefix)
    return mount === "" && url === request.url ? app : Effect.updateContext(
      app,
      (context: Context.Context<R>) =>
        context.pipe(
          Context.add(MountPath, mount),
          Context.add(HttpServerRequest.HttpServerRequest, request.modify({ url }))
        )
    )
  })

/** Validates the option `prefix`: `/messaging`, or empty. */
export const prefixOf = (prefix: string = ""): string => {
  OptionValue.checkText("prefix", prefix)
  const path = prefix.replace(/\/$/, "")
  if (!/^(\/[A-Za-z0-9._~-]+)*$/.test(path)) throw badOption("prefix", "prefix must be a path such as /messaging")
  return path
}

/** The error for a parsed body. It cannot be restored, but signatures and idempotency need the original bytes. */
const wasRead = new Errors.ServerError({
  reason: "body_already_parsed",
  message: "the request's body was read before it reached wac: mount wac before any body parser (Express: above " +
    "express.json(); Fastify: in an onRequest hook; node:http: before anything reads the request)"
})

const stopping = new Errors.ServerError({
  reason: "overloaded",
  message: "the service is being stopped; repeat the request",
  retryAfter: Duration.seconds(1)
})

const refuseWeb = (error: Errors.DomainError): Promise<Response> => {
  const { body, ...head } = ErrorResponse.outside(error)
  return Promise.resolve(new Response(body, head))
}

const refuseNode = (error: Errors.DomainError, response: ServerResponse): void => {
  const { body, headers, status } = ErrorResponse.outside(error)
  response.writeHead(status, headers).end(body)
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0

/** The services that the routes require from the composition. */
export type Needs = Exclude<
  HttpRouter.Request.Without<Layer.Services<typeof HttpApp.layer>>,
  HttpRouter.HttpRouter | Layer.Success<typeof HttpServer.layerServices>
>

/**
 * Builds both handlers in the current scope, which ends requests in flight when it closes. `context` holds services for
 * every request, as in `Running.make`.
 */
export const make = Effect.fnUntraced(function*(
  context: Context.Context<never>,
  prefix: string,
  yieldToEventLoop: Effect.Effect<void>
): Effect.fn.Return<{ readonly web: Exchange; readonly node: NodeHandler }, never, Needs | Scope.Scope> {
  const built = yield* Layer.build(
    HttpApp.layer.pipe(
      Layer.provideMerge(HttpRouter.layer),
      Layer.provide(Layer.succeed(HttpRouter.RouterConfig, HttpApp.routerConfig)),
      Layer.provide(HttpServer.layerServices)
    )
  )
  const app = mounted(Context.get(built, HttpRouter.HttpRouter).asHttpEffect(), prefix)
  const web = HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest | Scope.Scope | Over>(context)(
    // the request's scope ends with the stream, if the body is one
    Effect.flatMap(Over, (over) => Effect.addFinalizer(() => Effect.sync(over))).pipe(
      Effect.andThen(yieldToEventLoop),
      Effect.andThen(app)
    )
  )
  const node = yield* Effect.updateContext(
    NodeExchange.makeHandler(app, yield* Effect.scope),
    (_: Context.Context<never>) => context
  )
  const logWasRead = () => void Effect.runForkWith(context)(Effect.logError(wasRead.message))
  return {
    web: (request, over) => {
      if (request instanceof IncomingMessage) {
        over()
        return Promise.reject(new TypeError("handler takes a Fetch API Request; for node:http use nodeHandler"))
      }
      if (!request.bodyUsed) return web(request, Context.make(Over, over))
      over()
      logWasRead()
      return refuseWeb(wasRead)
    },
    node: (request, response) => {
      if (!request.readableDidRead || !hasBody(request)) return node(request, response)
      logWasRead()
      refuseNode(wasRead, response)
    }
  }
})

/**
 * Counts requests of both handlers as work in flight, until the response has ended and then `settled` has resolved.
 * Once `inFlight` is stopped, requests are refused.
 */
export const counted = (
  handlers: { readonly web: Exchange; readonly node: NodeHandler },
  inFlight: InFlight,
  settled: () => Promise<void> = () => Promise.resolve()
): { readonly web: Handler; readonly node: NodeHandler } => ({
  web: (request) => {
    if (inFlight.isStopped) return refuseWeb(stopping)
    inFlight.begin()
    // `settled` also resolves before the host gets the response, since the host may stop the process after it
    let [isOver, isPassedOn] = [false, false]
    const over = () => {
      isOver = true
      if (isPassedOn) void settled().finally(inFlight.endPassedOn)
    }
    return handlers.web(request, over).finally(settled).finally(() => {
      isPassedOn = true
      if (isOver) inFlight.end()
      // the host may drop a stream without cancelling it
      else inFlight.passOn()
    })
  },
  node: (request, response) => {
    // the client left before the host passed the request on, and `close` was emitted
    if (response.destroyed) return
    if (inFlight.isStopped) return refuseNode(stopping, response)
    inFlight.begin()
    response.once("close", () => void settled().finally(inFlight.end))
    handlers.node(request, response)
  }
})
