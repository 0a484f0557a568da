/** Markets of prices in words. */

const countries = new Intl.DisplayNames("en", { type: "region" })

/** A market in words. */
export const marketName = (market: string): string =>
  market === "ZZ" ? "Unknown country" : countries.of(market) ?? market
