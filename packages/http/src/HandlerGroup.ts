/**
 * Groups of handlers with a small context. When `HttpApiBuilder` makes a group, it copies every service that it sees
 * into the context of every request, which took a sixteenth of a send's time in Node.
 */
import { Caller } from "@wac/api"
import { Context, Effect, Layer, Scope } from "effect"

/** The services that `HttpApiBuilder` itself needs. */
type Own = Caller.ErrorBoundary | Caller.ApiKeyAuthentication | Caller.SessionAuthentication | Scope.Scope

const own = (context: Context.Context<Own>): Context.Context<Own> =>
  Context.pick(Caller.ErrorBoundary, Caller.ApiKeyAuthentication, Caller.SessionAuthentication, Scope.Scope)(context)

/**
 * The layer of a group whose handlers hold the services that they need. The context of a request then contains only the
 * request's services, and none of the process.
 */
export const layer = <A, E, R extends Own, E2, R2>(group: Effect.Effect<Layer.Layer<A, E, R>, E2, R2>) =>
  Layer.effectContext(
    Effect.flatMap(
      group,
      (handlers) => Effect.updateContext<Context.Context<A>, E, Own, Own>(Layer.build(handlers), own)
    )
  )
