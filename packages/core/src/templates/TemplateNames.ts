/**
 * The forms of a template's name and language. The same for the service and its pages, so it imports nothing. Pure.
 */

/** A form, and the words for a text that does not have it. */
interface Form {
  readonly pattern: RegExp
  readonly message: string
  /** In characters. */
  readonly maxLength: number
}

/** A template's own name, as the provider has it. */
export const name: Form = {
  pattern: /^[a-z0-9_]{1,512}$/u,
  message: "must have 1 to 512 lower-case letters, digits and underscores",
  maxLength: 512
}

/** `<ll>_<CC>` as specified, or the language alone, since the provider has such templates. */
export const language: Form = {
  pattern: /^[a-z]{2,3}(_[A-Z]{2})?$/u,
  message: "must have the shape <ll>_<CC> or <ll>, such as en_US",
  maxLength: "fil_PH".length
}
