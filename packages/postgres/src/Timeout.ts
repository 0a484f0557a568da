/**
 * Waits for a fiber up to a deadline in real time.
 */
import type { Exit, Fiber } from "effect"

/**
 * If a timer fires later than by this fraction of its length, the process was suspended, or its machine was. Responses
 * that arrived meanwhile have not been read yet.
 */
const stalled = 0.1

/**
 * Calls `tell` once with a fiber's exit, or with `late` once it has taken longer than `deadline` (milliseconds of real
 * time, whatever a test's clock shows). Time during which the process was suspended does not count: otherwise a
 * committed step would be reported as failed while its response is unread. A late fiber is interrupted in the
 * background, since the server's response to that may take as long again. The returned function cancels the call.
 */
export const watch = <A, E>(
  fiber: Fiber.Fiber<A, E>,
  deadline: number,
  tell: (end: Exit.Exit<A, E> | "late") => void
): () => void => {
  let timer: NodeJS.Timeout
  const wait = () => {
    const due = performance.now() + deadline
    timer = setTimeout(() => {
      if (performance.now() - due > deadline * stalled) return wait()
      leave()
      tell("late")
      fiber.interruptUnsafe()
    }, deadline)
  }
  wait()
  const leave = fiber.addObserver((exit) => {
    clearTimeout(timer)
    tell(exit)
  })
  return () => {
    clearTimeout(timer)
    leave()
  }
}
