/** The names of markets, the countries by which the provider sets prices. */

const countries = new Intl.DisplayNames("en", { type: "region" })

/** The English name of a market, which is a country's two-letter code, or `ZZ` if unknown. */
export const marketName = (market: string): string =>
  market === "ZZ" ? "Unknown country" : countries.of(market) ?? market
