/**
 * The answer to a send.
 */
import { PlainText, type Provider } from "@wac/core"
import { Option, Predicate, Schema } from "effect"
import * as Classification from "./Classification.ts"
import type { Answer } from "./CloudApi.ts"
import * as GraphError from "./GraphError.ts"

/** Meta's name of a message is opaque, and shorter than this. */
const maxNameLength = 512

/** The status of a message that waits until Meta has assessed its template's quality (template pacing). */
const held = "held_for_quality_assessment"

const Accepted = Schema.Struct({
  messages: Schema.NonEmptyArray(
    Schema.Struct({ id: PlainText.between(1, maxNameLength), message_status: Schema.optionalKey(Schema.Unknown) })
  )
})
const accepted = Schema.decodeUnknownOption(Accepted)

/** The error in an answer's body. The texts `hidden` are kept out of its words. */
export const errorOf = (json: unknown, hidden: ReadonlyArray<string>): GraphError.GraphError | undefined => {
  if (Predicate.hasProperty(json, "error")) return GraphError.read(json.error, hidden)
  return Predicate.hasProperty(json, "errors") && Array.isArray(json.errors)
    ? GraphError.read(json.errors[0], hidden)
    : undefined
}

/** How a send that was answered came out; unknown where the answer does not say. */
export const outcomeOf = (
  { json, regainAfter, status }: Extract<Answer, { readonly _tag: "Answered" }>,
  error: GraphError.GraphError | undefined
): Provider.ProviderOutcome => {
  const named = status >= 200 && status <= 299 ? accepted(json) : Option.none()
  if (Option.isSome(named)) {
    const { id, message_status } = named.value.messages[0]
    return { _tag: "Accepted", providerMessageId: id, ...(message_status === held ? { isHeld: true } : {}) }
  }
  return error === undefined
    ? { _tag: "Unknown" }
    : Classification.outcomeOf({ status, error, ...(regainAfter === undefined ? {} : { regainAfter }) })
}
