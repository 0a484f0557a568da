/**
 * Authentication of the public API: key, limits of the body, signature, scope, rate limit, Idempotency-Key, in the
 * order of contract §3.
 */
import { Access, Caller, EndpointAnnotations } from "@wac/api"
import { ApiKeys, ApiScope, Errors, Signature, StoreError } from "@wac/core"
import { Clock, Context, Effect, Layer, Option } from "effect"
import { Digest } from "effect/crypto"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import * as AuditTrail from "../audit/AuditTrail.ts"
import * as RequestBody from "../bodies/RequestBody.ts"
import * as KnownCallers from "../connections/KnownCallers.ts"
import { Exchange } from "../Exchange.ts"
import * as WorkspaceLimit from "../limits/WorkspaceLimit.ts"
import * as UploadBody from "../media/UploadBody.ts"
import * as IdempotencyHeader from "../messages/IdempotencyHeader.ts"
import { MountPath } from "../MountPath.ts"
import * as KeptAnswers from "../requests/KeptAnswers.ts"

/** The token of `Authorization: Bearer …`; a header in any other form counts as an invalid key. */
export const tokenOf = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : /^Bearer +([^\s]+)$/i.exec(authorization)?.[1] ?? ""

const signatureOf = ({ headers }: HttpServerRequest.HttpServerRequest): string | undefined =>
  headers["x-service-signature"]

/** The signature, and the values that it covers besides the body. */
const signedPartOf = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.map(MountPath, (mount) => ({
    method: request.method,
    target: mount + request.url,
    idempotencyKey: request.headers["idempotency-key"],
    signature: signatureOf(request)
  }))

export const layer = Layer.effect(
  Caller.ApiKeyAuthentication,
  Effect.gen(function*() {
    const keys = yield* ApiKeys.ApiKeys
    const spend = yield* WorkspaceLimit.spender
    const readBody = yield* RequestBody.reader
    const audited = yield* AuditTrail.make
    const around = yield* KeptAnswers.make
    const digest = yield* Digest.Digest

    const kept = <E, R>(
      endpoint: HttpApiEndpoint.Top,
      { key, workspace }: ApiKeys.Principal,
      request: HttpServerRequest.HttpServerRequest,
      handled: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
    ) =>
      Effect.flatMap(
        KeptAnswers.programOf(digest, key),
        (caller) => around(endpoint, { workspaceId: workspace.id, caller }, request, handled)
      )

    const checkSignature = Effect.fnUntraced(function*(
      request: HttpServerRequest.HttpServerRequest,
      { key }: ApiKeys.Principal,
      body: Uint8Array
    ) {
      const refusal = yield* Signature.requestRefusal(
        { ...yield* signedPartOf(request), body },
        yield* keys.signingSecret(key),
        { required: key.requireSignature, now: yield* Clock.currentTimeMillis }
      )
      if (refusal !== undefined) return yield* refusal
    })

    /** A request whose body is streamed: its signature is checked at the end, and refused at once if it is missing. */
    const passing = Effect.fnUntraced(function*(
      endpoint: HttpApiEndpoint.Top,
      request: HttpServerRequest.HttpServerRequest,
      principal: ApiKeys.Principal,
      isSigned: boolean
    ) {
      const isForm = EndpointAnnotations.has(endpoint, EndpointAnnotations.Uploads)
      const types = Context.get(endpoint.annotations, EndpointAnnotations.TakesFile)
      const refusal = isForm ? UploadBody.refusal(request) : RequestBody.fileRefusal(types, request)
      if (refusal !== undefined) return yield* refusal
      if (!isSigned) return request
      if (signatureOf(request) === undefined) yield* checkSignature(request, principal, new Uint8Array())
      const mac = UploadBody.macOf(yield* keys.signingSecret(principal.key))
      const signature = Signature.passing(yield* signedPartOf(request), mac, yield* Clock.currentTimeMillis)
      const exchange = yield* Exchange
      exchange.confirm = Effect.suspend(() => {
        const refusal = signature.end()
        return refusal === undefined ? Effect.void : Effect.fail(refusal)
      })
      return UploadBody.passing(request, signature.take)
    })

    const authenticate = Effect.fnUntraced(function*(endpoint: HttpApiEndpoint.Top) {
      const request = yield* HttpServerRequest.HttpServerRequest
      const principal = yield* keys.authenticate(
        tokenOf(request.headers["authorization"]),
        Option.getOrUndefined(request.remoteAddress)
      )
      KnownCallers.note(request)
      const isSigned = EndpointAnnotations.takesSignature(endpoint) &&
        (principal.key.requireSignature || signatureOf(request) !== undefined)
      const read = Context.get(endpoint.annotations, EndpointAnnotations.TakesFile).length > 0
        ? { request: yield* passing(endpoint, request, principal, isSigned) }
        : yield* readBody(endpoint, request)
      if (isSigned && "bytes" in read) yield* checkSignature(request, principal, read.bytes)
      const access = Context.getOrUndefined(endpoint.annotations, Access.Access)
      const missing = access?._tag === "ApiKey"
        ? ApiScope.missing(principal.key.scopes, access.scope)
        : new Errors.Forbidden({ reason: "missing_scope", message: "no API key may call this endpoint" })
      if (missing !== undefined) return yield* missing
      if (!EndpointAnnotations.has(endpoint, EndpointAnnotations.Sends)) yield* spend(principal)
      const keyless = IdempotencyHeader.refusal(endpoint, request.headers)
      if (keyless !== undefined) return yield* keyless
      if ("bytes" in read) yield* RequestBody.onlyOnce(read.bytes)
      const { key, workspace } = principal
      const exchange = yield* Exchange
      exchange.actors = [{ apiKeyId: key.id, name: key.name, workspaceId: workspace.id }]
      return { principal, request: read.request }
    })

    return Caller.ApiKeyAuthentication.of({
      apiKey: (httpEffect, { endpoint }) =>
        Effect.flatMap(
          StoreError.orUnavailable(authenticate(endpoint)),
          ({ principal, request }) =>
            Effect.updateContext(
              EndpointAnnotations.useOfKey(endpoint) === "kept"
                ? kept(endpoint, principal, request, audited(endpoint, httpEffect))
                : audited(endpoint, httpEffect),
              (context: Context.Context<never>) =>
                context.pipe(
                  Context.add(Caller.Caller, principal),
                  Context.add(HttpServerRequest.HttpServerRequest, request)
                )
            )
        )
    })
  })
)
