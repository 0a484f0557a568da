/**
 * Checks at run time that a provider's adapter returned a valid outcome of a send, because adapters also come from
 * hosts, whose code the type checker has not seen. Pure.
 */
import { Duration, Predicate, Schema } from "effect"
import { Forbidden, InvalidBody, RateLimited, ServerError } from "../Errors.ts"
import * as PlainText from "../PlainText.ts"
import type { ProviderOutcome } from "./Provider.ts"

/** A provider's identifier of a message, number or file. An index of PostgreSQL cannot hold much longer text. */
export const ProviderId = PlainText.between(1, 512)

const isProviderId = Schema.is(ProviderId)

/** The longest time after which a provider can ask for a retry. */
export const longestRetryAfter = Duration.days(1)

/** Whether a value is a valid wait before a retry, in milliseconds: at most {@link longestRetryAfter}. */
export const isRetryAfter = (millis: unknown): millis is number =>
  typeof millis === "number" && millis >= 0 && millis <= Duration.toMillis(longestRetryAfter)

const isRecipient = (recipient: unknown): boolean =>
  Predicate.isObject(recipient) &&
  [recipient["phone"], recipient["userId"]].every((name) => name === null || typeof name === "string")

/**
 * Why a value is not an outcome of a send; `undefined` if it is one. Throws what a getter of the value throws.
 */
export const issueOf = (outcome: unknown): string | undefined => {
  if (!Predicate.isObject(outcome)) return "the provider's result must be an object"
  const { _tag, error, isHeld, lacksFiles, ofSender, providerMessageId, recipient } = outcome
  switch (_tag) {
    case "Accepted":
      return !isProviderId(providerMessageId)
        ? "providerMessageId must be text of 1 to 512 characters"
        : isHeld !== undefined && typeof isHeld !== "boolean"
        ? "isHeld must be true or false"
        : recipient !== undefined && !isRecipient(recipient)
        ? "recipient must have a phone and a userId"
        : undefined
    case "Refused":
      return !(error instanceof InvalidBody || error instanceof Forbidden)
        ? "the error of a refused message must be InvalidBody or Forbidden"
        : ofSender !== undefined && typeof ofSender !== "boolean"
        ? "ofSender must be true or false"
        : undefined
    case "NotSent":
      return !(error instanceof RateLimited || error instanceof ServerError)
        ? "the error of a message that was not sent must be RateLimited or ServerError"
        : error.retryAfter !== undefined && !isRetryAfter(Duration.toMillis(error.retryAfter))
        ? "retryAfter must be a time from 0 to 24 hours"
        : lacksFiles !== undefined && typeof lacksFiles !== "boolean"
        ? "lacksFiles must be true or false"
        : undefined
    case "Unknown":
      return undefined
    default:
      return "the provider's result has an unknown status"
  }
}

/** Returns the value if it is an outcome of a send. Throws a `TypeError` that names the fault if not. */
export const outcomeOf = (outcome: unknown): ProviderOutcome => {
  const issue = issueOf(outcome)
  if (issue !== undefined) throw new TypeError(issue)
  return outcome as ProviderOutcome
}
