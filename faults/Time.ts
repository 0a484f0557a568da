import { setTimeout } from "node:timers/promises"

/** Whole milliseconds since 1970. */
export const now = (): number => Math.round(performance.timeOrigin + performance.now())

/** Waits so many milliseconds. */
export const pass = async (millis: number): Promise<void> => void await setTimeout(millis)

/** Rejects if something does not end within so many milliseconds. */
export const within = (millis: number, act: Promise<void> | void): Promise<void> =>
  Promise.race([
    Promise.resolve(act),
    // does not keep the process from ending
    setTimeout(millis, undefined, { ref: false }).then(() => Promise.reject(new Error(`no end after ${millis} ms`)))
  ])

/** Looks until a condition holds or so many milliseconds have passed; returns whether it holds. */
export const holds = async (within: number, condition: () => Promise<boolean> | boolean): Promise<boolean> => {
  const begun = performance.now()
  while (!(await condition())) {
    if (performance.now() - begun > within) return false
    await pass(100)
  }
  return true
}

/** Does a thing again and again. The function that it returns lets the last time end, and rejects if one failed. */
export const repeatedly = (act: () => Promise<void>): () => Promise<void> => {
  const over = new AbortController()
  const running = (async () => {
    while (!over.signal.aborted) await act()
  })()
  // the caller learns of it at the end
  running.catch(() => {})
  return () => {
    over.abort()
    return running
  }
}
