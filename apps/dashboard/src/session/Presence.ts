/**
 * Requests that wait until the person has proved their presence (contract §17). `PresenceDialog` asks for the proof.
 */
import { WacError } from "@wac/client/internal"

/** Called with whether the person has proved their presence. */
type Waiting = (isProven: boolean) => void

let waiting: ReadonlyArray<Waiting> = []
const listeners = new Set<() => void>()

const setWaiting = (next: ReadonlyArray<Waiting>): void => {
  waiting = next
  for (const listener of listeners) listener()
}

/** Whether a request waits for a proof. */
export const isAwaited = (): boolean => waiting.length > 0

/** Calls a listener when {@link isAwaited} may have changed; returns the function that unsubscribes. */
export const subscribe = (listener: () => void): () => void => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Ends the wait of all requests: repeats them if the presence was proved, else lets them fail. */
export const endWait = (isProven: boolean): void => {
  const all = waiting
  setWaiting([])
  for (const each of all) each(isProven)
}

const proof = (): Promise<boolean> => new Promise((resolve) => setWaiting([...waiting, resolve]))

const needsProof = (error: unknown): boolean =>
  error instanceof WacError && error.status === 403 && error.reason === "fresh_session_required"

/**
 * The result of a call, which is repeated after each proof that it needs. Without a proof, it fails with the service's
 * error.
 */
const proven = async (first: Promise<unknown>, again: () => unknown): Promise<unknown> => {
  let answer: unknown = first
  while (true) {
    try {
      return await answer
    } catch (error) {
      // the service refused the call before it did anything, so the call can be repeated
      if (!needsProof(error) || !(await proof())) throw error
    }
    answer = again()
  }
}

/** A client whose calls, if the service requires a proof of presence, wait for it and are then repeated. */
export const withProof = <Client extends object>(client: Client): Client =>
  new Proxy(client, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value === "object" && value !== null) return withProof(value)
      if (typeof value !== "function") return value
      return (...given: ReadonlyArray<unknown>) => {
        const call = (): unknown => Reflect.apply(value, target, given)
        const first = call()
        return first instanceof Promise ? proven(first, call) : first
      }
    }
  })
