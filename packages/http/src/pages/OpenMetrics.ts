/**
 * Metrics in OpenMetrics' text format 1.0, which differs from Prometheus' in the names of counters, in how bounds are
 * written, and in that buckets have exemplars.
 */
import type { LatencyHistogram } from "@wac/core"

/** The media type that a scraper of this format accepts. */
export const mediaType = "application/openmetrics-text"

/** The media type of the result of {@link of}. */
export const contentType = `${mediaType}; version=1.0.0; charset=utf-8`

/** The comment of a counter, whose name has its suffix only in samples. */
const counterComment = /^(# (?:HELP|TYPE) \S+?)_total /

/** A bucket's sample: its series without the bound, the bound, and its count. */
const bucket = /^(\w+)_bucket\{(.*?),?le="([^"]+)"\} (\d+)$/

/** A bound of a bucket as the format writes it: with a decimal point. */
const boundOf = (text: string): string => /^\d+$/.test(text) ? `${text}.0` : text

const exemplarOf = ({ at, seconds, spanId, traceId }: LatencyHistogram.Exemplar): string =>
  ` # {trace_id="${traceId}",span_id="${spanId}"} ${seconds} ${at / 1000}`

/** Translates metrics in Prometheus' text format, with the exemplars of their series. */
export const of = (text: string, exemplars: ReadonlyMap<string, LatencyHistogram.Exemplars>): string => {
  const lines = text.split("\n").filter((line) => line !== "").map((line) => {
    if (line.startsWith("#")) return line.replace(counterComment, "$1 ")
    const found = bucket.exec(line)
    if (found === null) return line
    const [, name, labels, le, count] = found
    const series = labels === "" ? name! : `${name}{${labels}}`
    const exemplar = exemplars.get(series)?.get(le === "+Inf" ? Infinity : Number(le))
    return `${name}_bucket{${labels}${labels === "" ? "" : ","}le="${boundOf(le!)}"} ${count}` +
      (exemplar === undefined ? "" : exemplarOf(exemplar))
  })
  return `${lines.join("\n")}\n# EOF\n`
}
