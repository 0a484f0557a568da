/** What the address of the page contains after `#`, which browsers do not send to the service. */

/** The one-time token in the link that opened the page; empty if it has none. */
export const tokenOfLink = (): string => new URLSearchParams(location.hash.slice(1)).get("token") ?? ""

/**
 * The id of the portal's link that opened the page, which is that of its session's visitor; empty if the address has
 * none, as links of earlier versions do.
 */
export const idOfLink = (): string => new URLSearchParams(location.hash.slice(1)).get("id") ?? ""

/**
 * Why signing in at the issuer failed, and the id of the refused request; `undefined` if the address has no failure.
 */
export const refusalOfLink = (): { readonly reason: string; readonly requestId: string } | undefined => {
  const fragment = new URLSearchParams(location.hash.slice(1))
  const reason = fragment.get("refused")
  return reason === null ? undefined : { reason, requestId: fragment.get("request") ?? "" }
}
