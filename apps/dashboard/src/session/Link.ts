/** The one-time token of a mailed or copied link: it is behind `#`, which browsers send to nobody. */
export const tokenOfLink = (): string => new URLSearchParams(location.hash.slice(1)).get("token") ?? ""

/** Why the issuer's sign-in came to nothing, if the address says so, and the request that was refused. */
export const refusalOfLink = (): { readonly reason: string; readonly requestId: string } | undefined => {
  const fragment = new URLSearchParams(location.hash.slice(1))
  const reason = fragment.get("refused")
  return reason === null ? undefined : { reason, requestId: fragment.get("request") ?? "" }
}
