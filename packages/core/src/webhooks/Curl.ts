/**
 * A request as a command that a person can paste into a POSIX shell.
 */

/** Quotes any text for a POSIX shell: nothing in it is expanded. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/**
 * The curl command that posts exactly these headers and this body to this URL, follows no redirect, and shows what is
 * answered. With signature headers it is as secret as they are, for as long as receivers accept them.
 */
export const command = (request: {
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  /** In seconds. */
  readonly timeout: number
}): string =>
  [
    // --globoff: brackets and braces in the URL mean themselves
    `curl --include --globoff --max-time ${request.timeout} --request POST ${quote(request.url)}`,
    ...Object.entries(request.headers).map(([name, value]) => `--header ${quote(`${name}: ${value}`)}`),
    // --data-raw: a leading @ names no file
    `--data-raw ${quote(request.body)}`
  ].join(" \\\n  ")
