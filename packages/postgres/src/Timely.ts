/**
 * Ends that come in time, or are not waited for.
 */
import type { Exit, Fiber } from "effect"

/**
 * A timer that goes off later than this part of its length shows that the process stood still: it was stopped, or its
 * machine was. What was answered meanwhile has not been read yet.
 */
const stalled = 0.1

/**
 * Tells once how a fiber ended, or that it takes longer than `deadline` (milliseconds of real time, whatever the clock
 * of a test shows). Time in which the process stood still does not count: else a step that was committed would be told
 * as failed, with its answer unread. One that is late is interrupted behind the back of who is told, since the server's word for that
 * may take as long again. What is answered makes it tell nothing any more.
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
