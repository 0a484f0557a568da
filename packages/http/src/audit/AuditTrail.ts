/**
 * Records what a person or an API key changed with a request (contract §12 *Audit*), once the request succeeded, or
 * failed although it has changed something, and notifies the people whom it concerns (contract §17).
 */
import { Audited, EndpointAnnotations } from "@wac/api"
import { Audit, type AuditEntry, Notices } from "@wac/core"
import { Context, Effect, Exit, Fiber, Option } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { type Changed, Exchange } from "../Exchange.ts"

/** The value of `:id` in a path. */
const idIn = ({ path }: HttpApiEndpoint.Top, url: string): string | undefined => {
  const place = path.split("/").indexOf(":id")
  const segment = place === -1 ? undefined : url.split("?", 1)[0]!.split("/")[place]
  return segment === undefined ? undefined : decodeURIComponent(segment)
}

/** The action as which the audit records requests to an endpoint; `null` if it does not record them. */
const actionOf = (endpoint: HttpApiEndpoint.Top) =>
  Context.getOrUndefined(endpoint.annotations, Audited.Audited) ?? null

/** Whether an endpoint's handler reads the body while it arrives, so that its work ends with the connection. */
const readsBody = (endpoint: HttpApiEndpoint.Top): boolean =>
  Context.get(endpoint.annotations, EndpointAnnotations.TakesFile).length > 0

/**
 * Returns the function that does the work of a request to an endpoint, and records and notifies of it. Audited work that
 * has begun continues with its record even if its caller disconnects, until the scope closes: otherwise a caller who
 * hangs up once the change is stored would hide it. An upload ends with its connection, unless its handler is done.
 */
export const make = Effect.gen(function*() {
  const audit = yield* Audit.Audit
  const notices = yield* Notices.Notices
  const scope = yield* Effect.scope

  const record = Effect.fnUntraced(function*(
    endpoint: HttpApiEndpoint.Top,
    action: AuditEntry.Action,
    changed: Changed | undefined
  ) {
    const { actors, isReplayed, ownId, person } = yield* Exchange
    if (isReplayed || changed === undefined) return
    const { remoteAddress, url } = yield* HttpServerRequest.HttpServerRequest
    const change = {
      action,
      target: changed.target ?? idIn(endpoint, url),
      detail: changed.detail,
      address: Option.getOrUndefined(remoteAddress),
      requestId: ownId
    }
    if (actors.length > 0) yield* audit.record(actors, change)
    yield* notices.ofChange(actors, change, person)
  })

  return <E, R>(
    endpoint: HttpApiEndpoint.Top,
    work: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest> => {
    const action = actionOf(endpoint)
    if (action === null) return work
    const recorded = Effect.uninterruptibleMask((restore) =>
      Effect.onExit(restore(work), (exit) =>
        Effect.flatMap(Exchange, ({ changed, changedAnyway }) =>
          record(
            endpoint,
            action,
            Exit.isSuccess(exit) && exit.value.status < 400 ? changed : changedAnyway
          )))
    )
    return readsBody(endpoint) ? recorded : Effect.flatMap(Effect.forkIn(recorded, scope), Fiber.join)
  }
})
