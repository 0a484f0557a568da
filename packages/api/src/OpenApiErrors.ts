/**
 * The errors in the OpenAPI document: those that requests to an endpoint can get, with an example of each. Endpoints
 * share lists of statuses, so the document omits errors that an endpoint cannot return. Pure.
 */
import { Context, SchemaAST } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { Access, NeedsFreshSession } from "./Access.ts"
import * as EndpointAnnotations from "./EndpointAnnotations.ts"
import * as ErrorAddress from "./ErrorAddress.ts"
import type { ErrorBody } from "./ErrorBody.ts"
import { anchorOf, type Item, items } from "./ErrorReference.ts"
import * as ExampleValues from "./ExampleValues.ts"

type Endpoint = HttpApiEndpoint.Top

/** Whether the query of a request has a parameter that must be given. */
const needsQuery = ({ query }: Endpoint): boolean =>
  query !== undefined && SchemaAST.isObjects(query.ast) &&
  query.ast.propertySignatures.some(({ type }) => !SchemaAST.isOptional(type))

/** Whether requests to an endpoint can get an error, given that the endpoint has the error's status. */
const meets = (endpoint: Endpoint, { code, reason, status }: Item): boolean => {
  const caller = Context.getOrUndefined(endpoint.annotations, Access)?._tag
  const hasBody = endpoint.payload.size > 0
  const useOfKey = EndpointAnnotations.useOfKey(endpoint)
  const sends = EndpointAnnotations.has(endpoint, EndpointAnnotations.Sends)
  const signsIn = EndpointAnnotations.has(endpoint, EndpointAnnotations.SignsIn)
  const checksSecret = signsIn || EndpointAnnotations.has(endpoint, EndpointAnnotations.ChecksSecret)
  const refusals = Context.get(endpoint.annotations, EndpointAnnotations.ProviderRefuses)
  if (reason !== undefined && refusals.includes(reason)) return true
  switch (code) {
    case "invalid_body":
      switch (reason) {
        case "missing_idempotency_key":
          return EndpointAnnotations.has(endpoint, EndpointAnnotations.NeedsIdempotencyKey)
        case "invalid_idempotency_key":
          return useOfKey !== "none"
        case "template_params_mismatch":
        case "undeliverable":
          return sends
        case "invalid_field":
        case "unknown_field":
          return hasBody || caller !== "Public"
        case "missing_field":
          return hasBody || needsQuery(endpoint)
        default:
          return hasBody
      }
    case "unauthorized":
      switch (reason) {
        case "missing_session":
          return caller === "Session"
        case "invalid_credentials":
          return checksSecret
        case "second_factor_required":
          return EndpointAnnotations.has(endpoint, EndpointAnnotations.DemandsFactor)
        case "invalid_code":
          return EndpointAnnotations.has(endpoint, EndpointAnnotations.ChecksCode)
        case "invalid_passkey":
          return EndpointAnnotations.has(endpoint, EndpointAnnotations.ChecksPasskey)
        case "challenge_ended":
          return EndpointAnnotations.has(endpoint, EndpointAnnotations.ChallengesFactor)
        case "invalid_signature":
        case "stale_signature":
        case "missing_signature":
          return EndpointAnnotations.takesSignature(endpoint)
        default:
          return caller === "ApiKey"
      }
    case "forbidden":
      switch (reason) {
        case "missing_scope":
          return caller === "ApiKey"
        case "role_not_allowed":
          return caller === "Session" || EndpointAnnotations.has(endpoint, EndpointAnnotations.NeedsMembership)
        case "fresh_session_required":
          return EndpointAnnotations.has(endpoint, NeedsFreshSession)
        case "cross_site":
          return (caller === "Session" || checksSecret) && EndpointAnnotations.mutates(endpoint)
        case "campaign_state":
          return EndpointAnnotations.has(endpoint, EndpointAnnotations.ActsOnCampaign) &&
            EndpointAnnotations.mutates(endpoint)
        case "already_sent":
        case "not_queued":
          return EndpointAnnotations.has(endpoint, EndpointAnnotations.CancelsMessage)
        case "sender_not_available":
          // a key may be bound to other numbers than that of the message or campaign
          return sends || (caller === "ApiKey" && (
            EndpointAnnotations.has(endpoint, EndpointAnnotations.ActsOnCampaign) ||
            EndpointAnnotations.has(endpoint, EndpointAnnotations.CancelsMessage)
          ))
        case "media_quota":
          return EndpointAnnotations.has(endpoint, EndpointAnnotations.Uploads) ||
            EndpointAnnotations.has(endpoint, EndpointAnnotations.ServesFile)
        default:
          return sends
      }
    case "rate_limited":
      return sends
        ? reason !== "login"
        : reason === "workspace"
        ? caller === "ApiKey"
        : reason === "login" && checksSecret
    case "server_error":
      // a request with a key waits for an earlier request with the same key, and may not learn its outcome
      if (useOfKey === "kept") {
        if (reason === "in_progress") return true
        if (reason === "outcome_unknown") return !EndpointAnnotations.has(endpoint, EndpointAnnotations.IsRepeatable)
      }
      // a message that is just being queued
      if (reason === "in_progress" && EndpointAnnotations.has(endpoint, EndpointAnnotations.CancelsMessage)) return true
      if (status === 504) return sends
      // only a send is refused before it starts
      return status !== 503 || reason === "storage_unavailable" || sends ||
        (reason === "overloaded" && EndpointAnnotations.has(endpoint, EndpointAnnotations.Streams))
    case "idempotency_conflict":
      return useOfKey !== "none"
    case "not_found":
      if (reason === "media_expired") return EndpointAnnotations.has(endpoint, EndpointAnnotations.ServesFile)
      return endpoint.path.includes(":") || EndpointAnnotations.has(endpoint, EndpointAnnotations.NeedsWebhook) ||
        EndpointAnnotations.has(endpoint, EndpointAnnotations.ChecksSecret) ||
        EndpointAnnotations.has(endpoint, EndpointAnnotations.NamesThing)
  }
}

/** The body of a response with this error. */
const bodyOf = ({ code, entry, reason }: Item): ErrorBody => ({
  error: {
    code,
    message: entry.example.message,
    ...(reason === undefined ? {} : { reason }),
    ...(entry.example.param === undefined ? {} : { param: entry.example.param }),
    ...(entry.example.challenge === undefined ? {} : { challenge: entry.example.challenge }),
    request_id: ExampleValues.request,
    doc_url: ErrorAddress.of(`https://wac.example.com${ErrorAddress.path}`, { code, reason }),
    ...(entry.example.provider === undefined ? {} : { provider: entry.example.provider })
  }
})

/**
 * Reasons that no operation of the document returns: the address for provider posts is not part of it, and recipients
 * of campaigns are not requests.
 */
const elsewhere = new Set(["failed_handshake", "frequency_cap", "holdout"])

const documented = items.filter(({ reason }) => reason === undefined || !elsewhere.has(reason))

/** An example of each documented error, by the error's anchor on the page of errors. */
export const examples = Object.fromEntries(
  documented.map((
    item
  ) => [anchorOf(item), { summary: item.entry.when, description: item.entry.remedy, value: bodyOf(item) }])
)

const metWith = (endpoint: Endpoint, status: number) =>
  documented.filter((item) => item.status === status && meets(endpoint, item))

/** The reasons of the errors that requests to an endpoint can get with a status that the endpoint has. */
export const reasonsOf = (endpoint: Endpoint, status: number): ReadonlyArray<string> =>
  metWith(endpoint, status).flatMap(({ reason }) => reason ?? [])

/** The response with a status, without its headers; `undefined` if the endpoint has no such error. */
export const answerOf = (endpoint: Endpoint, status: number) => {
  const met = metWith(endpoint, status)
  const [first] = met
  return first === undefined ? undefined : {
    description: `\`${first.code}\`` +
      (first.reason === undefined ? "" : `, by reason: ${met.map(({ reason }) => `\`${reason}\``).join(", ")}`) +
      `. [What to do](${ErrorAddress.path.slice(1)}#${first.code})`,
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/Error" },
        examples: Object.fromEntries(
          met.map((item) => [item.reason ?? item.code, { $ref: `#/components/examples/${anchorOf(item)}` }])
        )
      }
    }
  }
}
