/**
 * Formats a request as a curl command for a POSIX shell. Pure.
 */

/** Quotes any text for a POSIX shell; nothing in it is expanded. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/**
 * Builds a curl command that posts exactly these headers and this body to this URL, follows no redirect, and prints the
 * response. With signature headers it is as secret as they are, for as long as receivers accept them.
 */
export const command = (request: {
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  /** In seconds. */
  readonly timeout: number
}): string =>
  [
    // --globoff: curl would expand brackets and braces in the URL
    `curl --include --globoff --max-time ${request.timeout} --request POST ${quote(request.url)}`,
    ...Object.entries(request.headers).map(([name, value]) => `--header ${quote(`${name}: ${value}`)}`),
    // --data-raw: curl would read a leading @ as a file name
    `--data-raw ${quote(request.body)}`
  ].join(" \\\n  ")
