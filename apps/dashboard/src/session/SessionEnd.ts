/**
 * Whether the session has ended: whether a call has failed because nobody is signed in, since the last sign-in.
 */
import { useSyncExternalStore } from "react"
import { isSignedOut } from "./Service.ts"

let isOver = false
const listeners = new Set<() => void>()

const setOver = (value: boolean): void => {
  if (isOver === value) return
  isOver = value
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Whether the session has ended. */
export const hasEnded = (): boolean => isOver

/** {@link hasEnded}, for a component, which follows it. */
export const useHasEnded = (): boolean => useSyncExternalStore(subscribe, hasEnded)

/** Notes that a call failed, which shows the end of the session if nobody is signed in. */
export const noteFailure = (error: unknown): void => {
  // a repetition may have told it of a request whose first outcome is unknown
  if (isSignedOut(error) || error instanceof Error && isSignedOut(error.cause)) setOver(true)
}

/** Notes that a person signed in. */
export const noteSignIn = (): void => setOver(false)
