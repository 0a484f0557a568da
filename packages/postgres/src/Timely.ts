/**
 * Ends that come in time, or are not waited for.
 */
import type { Exit, Fiber } from "effect"

/**
 * Tells once how a fiber ended, or that it takes longer than `deadline` (milliseconds of real time, whatever the clock
 * of a test shows). One that is late is interrupted behind the back of who is told, since the server's word for that
 * may take as long again. What is answered makes it tell nothing any more.
 */
export const watch = <A, E>(
  fiber: Fiber.Fiber<A, E>,
  deadline: number,
  tell: (end: Exit.Exit<A, E> | "late") => void
): () => void => {
  const timer = setTimeout(() => {
    leave()
    tell("late")
    fiber.interruptUnsafe()
  }, deadline)
  const leave = fiber.addObserver((exit) => {
    clearTimeout(timer)
    tell(exit)
  })
  return () => {
    clearTimeout(timer)
    leave()
  }
}
