/**
 * The result of a tool call (contract §18): the API's response in the protocol's form. An error of the API is a result
 * with `isError`, so that the model reads it and can act on it. Pure.
 */
import { Schema } from "effect"
import { ErrorBody } from "../ErrorBody.ts"
import { items } from "../ErrorReference.ts"

/** A result of a tool call: the same JSON as text and as structure, for models and for programs. */
export interface Result {
  readonly content: readonly [{ readonly type: "text"; readonly text: string }]
  readonly structuredContent: object
  readonly isError: boolean
}

const result = (structuredContent: object, isError: boolean): Result => ({
  content: [{ type: "text", text: JSON.stringify(structuredContent) }],
  structuredContent,
  isError
})

const remedies: ReadonlyMap<string, string> = new Map(
  items.map((
    { code, entry, reason }
  ) => [`${code}/${reason}`, `${entry.remedy} Can the same call succeed: ${entry.retry}`])
)

/** The remedy of `idempotency_conflict`: the one in the reference is to change a header, which a model cannot do. */
const ofChangedContent = "Nothing was sent now. Under this intent, a message with other content was sent to this " +
  "recipient, or tried. If you only wanted to repeat that send, repeat the call with exactly the same message, or " +
  "leave it: it is done. If the user asked for a further or a corrected message, use a new intent."

/** The addition to a remedy that names the Idempotency-Key, for tools that send. */
const ofKey =
  " The Idempotency-Key is made from `intent` and the recipient: to keep it, repeat the call exactly; for a " +
  "new one, use a new intent."

const whatToDo = ({ error: { code, reason } }: ErrorBody, sends: boolean): string => {
  if (code === "idempotency_conflict") return ofChangedContent
  const remedy = remedies.get(`${code}/${reason}`) ?? "Do not repeat the call; tell the user."
  return sends && remedy.includes("Idempotency-Key") ? remedy + ofKey : remedy
}

/** The result for an error, with what the model can do about it. */
export const failed = (
  body: ErrorBody,
  options: { readonly sends: boolean; readonly retryAfter?: string | undefined }
): Result =>
  result({
    error: {
      ...body.error,
      ...(options.retryAfter === undefined ? {} : { retry_after_seconds: Number(options.retryAfter) }),
      what_to_do: whatToDo(body, options.sends)
    }
  }, true)

/** Whether a body is an error of the API. */
export const isErrorBody = Schema.is(ErrorBody)

/** The result of a call whose response was lost, although the request may have been carried out. */
export const lost = (why: string): Result =>
  result({
    error: {
      code: "no_response",
      message: why,
      what_to_do: "Repeat the call exactly as it was. A send with the same intent and the same message is done once, " +
        "even if this call has done it. If that does not help, tell the user."
    }
  }, true)

/** The result for a successful response; `replayed` is whether a send was done by an earlier call. */
export const succeeded = (body: object, options: { readonly sends: boolean; readonly replayed: boolean }): Result =>
  result(options.sends ? { ...body, already_sent: options.replayed } : body, false)
