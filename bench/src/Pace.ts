/**
 * The pace of messages, from the times at which they came to the provider.
 */

/** A stretch of time, in milliseconds. */
export interface Span {
  readonly from: number
  readonly to: number
}

export interface Pace {
  /** The most messages in any second, wherever it begins. */
  readonly most: number
  /** The mean per second. */
  readonly mean: number
}

/** The pace within some spans, each of which is a second long at least. */
export const of = (times: ReadonlyArray<number>, spans: ReadonlyArray<Span>): Pace => {
  let most = 0
  let messages = 0
  let millis = 0
  for (const { from, to } of spans) {
    const within = times.filter((at) => at >= from && at < to).sort((a, b) => a - b)
    let first = 0
    for (const [last, at] of within.entries()) {
      while (within[first]! <= at - 1000) first++
      most = Math.max(most, last - first + 1)
    }
    messages += within.length
    millis += to - from
  }
  return { most, mean: messages / (millis / 1000) }
}
