/**
 * Parses a base URL; returns `undefined` unless it is http or https, without query and fragment. `localhost:8080` is
 * refused, because its scheme is `localhost:`.
 */
export const addressOf = (baseUrl: string | URL): URL | undefined => {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  return base !== undefined && /^https?:$/.test(base.protocol) && base.search === "" && base.hash === ""
    ? base
    : undefined
}
