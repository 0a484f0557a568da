/**
 * Classifies Meta's errors: decides the error of this service and the outcome of the send. An error means the same in
 * the response to a send and in a later report about the message.
 */
import { Errors, Message, type Provider } from "@wac/core"
import { Duration } from "effect"
import * as ErrorCodes from "./ErrorCodes.ts"
import type { GraphError } from "./GraphError.ts"

type DecidedError = Errors.InvalidBody | Errors.Forbidden | Errors.RateLimited | Errors.ServerError

/** The meaning of an error. `status` is the HTTP status of its response; a report has none. */
export const meaningOf = (error: GraphError, status: number | undefined): ErrorCodes.ErrorCode =>
  ErrorCodes.of(error) ?? ErrorCodes.undocumented({ status, isTransient: error.isTransient })

/** Makes this service's error. `regainAfter`: when calls will be accepted again, if the response reports it. */
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

/** The error to store for a message that Meta reports as failed. */
export const messageErrorOf = (error: GraphError): Message.MessageError =>
  Message.errorOf(decide(error, meaningOf(error, undefined)))

/** A response with an error. */
export interface RefusedAnswer {
  readonly status: number
  readonly error: GraphError
  readonly regainAfter?: Duration.Duration | undefined
}

/**
 * The outcome of a send whose response is an error. With an undocumented error and a status other than 4xx, the outcome
 * is unknown: Meta may have accepted the message, so it must not be sent again.
 */
export const outcomeOf = ({ error, regainAfter, status }: RefusedAnswer): Provider.ProviderOutcome => {
  const isKnown = ErrorCodes.of(error) !== undefined
  if (!isKnown && (status < 400 || status > 499)) return { _tag: "Unknown" }
  const meaning = meaningOf(error, status)
  const decided = decide(error, meaning, regainAfter)
  return decided._tag === "InvalidBody" || decided._tag === "Forbidden"
    ? { _tag: "Refused", error: decided, ...(meaning.effect?._tag === "Block" ? { ofSender: true } : {}) }
    : { _tag: "NotSent", error: decided }
}

/** The codes that Meta gives, among other problems, to a send with the id of a file that it does not have. */
const ofFiles = new Set([100, 131009])

/**
 * Whether Meta no longer has an uploaded file of the send. Only its words show this:
 * `Param image['id'] is not a valid whatsapp business account media attachment ID`.
 */
export const isFileGone = ({ code, message }: GraphError): boolean =>
  ofFiles.has(code) && /media attachment id/i.test(message)

/** The outcome of a send of which Meta no longer has a file. */
export const fileGone = (error: GraphError): Provider.ProviderOutcome => ({
  _tag: "NotSent",
  lacksFiles: true,
  error: new Errors.ServerError({
    reason: "provider_error",
    message: "the provider no longer has a file of the message; the next try uploads the file again",
    provider: { code: String(error.code), message: error.message }
  })
})

/** The error of an upload whose response is an error. It is never unknown, because an upload sends no message. */
export const uploadErrorOf = ({ error, regainAfter, status }: RefusedAnswer): DecidedError => {
  const { inUpload, title, verdict } = meaningOf(error, status)
  return decide(error, { title, verdict: inUpload ?? verdict }, regainAfter)
}
