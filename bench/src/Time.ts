/**
 * Milliseconds of a monotonic clock that all processes of the machine share.
 */
export const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6

/** Whole milliseconds since 1970. */
export const now = (): number => Math.round(performance.timeOrigin + performance.now())
