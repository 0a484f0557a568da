/**
 * The patterns of a template's name and language. The service and the dashboard's pages share this file, so it imports
 * nothing. Pure.
 */

/** A pattern, and the error message for a text that does not match it. */
interface Form {
  readonly pattern: RegExp
  readonly message: string
  /** In characters. */
  readonly maxLength: number
}

/** A template's name at the provider. */
export const name: Form = {
  pattern: /^[a-z0-9_]{1,512}$/u,
  message: "must have 1 to 512 lower-case letters, digits and underscores",
  maxLength: 512
}

/** A template's language: `<ll>_<CC>` as specified, or `<ll>` alone, since the provider has such templates. */
export const language: Form = {
  pattern: /^[a-z]{2,3}(_[A-Z]{2})?$/u,
  message: "must have the shape <ll>_<CC> or <ll>, such as en_US",
  maxLength: "fil_PH".length
}
