/** The one-time token of a mailed or copied link: it is behind `#`, which browsers send to nobody. */
export const tokenOfLink = (): string => new URLSearchParams(location.hash.slice(1)).get("token") ?? ""
