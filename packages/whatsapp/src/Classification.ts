/**
 * The outcome of an error of Meta's: the same whether it answered a send or was reported of the message later.
 */
import { Errors, Message, type Provider } from "@wac/core"
import { Duration } from "effect"
import * as ErrorCodes from "./ErrorCodes.ts"
import type { GraphError } from "./GraphError.ts"

type DecidedError = Errors.InvalidBody | Errors.Forbidden | Errors.RateLimited | Errors.ServerError

/** The meaning of an error. `status`: the status of its response; a report has none. */
export const meaningOf = (error: GraphError, status: number | undefined): ErrorCodes.ErrorCode =>
  ErrorCodes.of(error) ?? ErrorCodes.undocumented({ status, isTransient: error.isTransient })

/** The error in our own words. `regainAfter`: what the answer says of when calls will be taken again. */
const decide = (
  error: GraphError,
  { title, verdict }: Pick<ErrorCodes.ErrorCode, "title" | "verdict">,
  regainAfter: Duration.Duration = Duration.zero
): DecidedError => {
  const described = { message: title, provider: { code: String(error.code), message: error.message } }
  switch (verdict.code) {
    case "invalid_body":
      return new Errors.InvalidBody({ ...described, reason: verdict.reason, ...paramOf(verdict) })
    case "forbidden":
      return new Errors.Forbidden({ ...described, reason: verdict.reason })
    case "rate_limited":
      return new Errors.RateLimited({
        ...described,
        reason: verdict.reason,
        retryAfter: Duration.min(Duration.max(verdict.retryAfter, regainAfter), ErrorCodes.longestRetryAfter)
      })
    case "server_error":
      return new Errors.ServerError({
        ...described,
        reason: verdict.reason,
        ...(verdict.retryAfter === undefined ? {} : { retryAfter: verdict.retryAfter })
      })
  }
}

const paramOf = ({ param }: { readonly param?: string }) => param === undefined ? {} : { param }

/** The stored error of a message that failed with it. */
export const messageErrorOf = (error: GraphError): Message.MessageError =>
  Message.errorOf(decide(error, meaningOf(error, undefined)))

/** An answer that holds an error. */
export interface RefusedAnswer {
  readonly status: number
  readonly error: GraphError
  readonly regainAfter?: Duration.Duration | undefined
}

/**
 * The outcome of a send that was answered with an error. One that is not documented has an unknown outcome when the
 * status does not say that the request was not taken, so that nothing is sent twice for what we do not understand.
 */
export const outcomeOf = ({ error, regainAfter, status }: RefusedAnswer): Provider.ProviderOutcome => {
  const isKnown = ErrorCodes.of(error) !== undefined
  if (!isKnown && (status < 400 || status > 499)) return { _tag: "Unknown" }
  const decided = decide(error, meaningOf(error, status), regainAfter)
  return decided._tag === "InvalidBody" || decided._tag === "Forbidden"
    ? { _tag: "Refused", error: decided }
    : { _tag: "NotSent", error: decided }
}

/** The error of an upload that was answered with one. Nothing is sent by an upload, so it always says what to do. */
export const uploadErrorOf = ({ error, regainAfter, status }: RefusedAnswer): DecidedError => {
  const { inUpload, title, verdict } = meaningOf(error, status)
  return decide(error, { title, verdict: inUpload ?? verdict }, regainAfter)
}
