/** Requests that wait until the person has proved their presence (contract §17). Dialogs ask for the proof. */
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

/** Calls a listener when {@link isAwaited} may have changed; returns what ends that. */
export const subscribe = (listener: () => void): () => void => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Continues all requests that wait: repeats them, or lets them fail. */
export const settle = (isProven: boolean): void => {
  const all = waiting
  setWaiting([])
  for (const each of all) each(isProven)
}

const proof = (): Promise<boolean> => new Promise((resolve) => setWaiting([...waiting, resolve]))

const needsProof = (error: unknown): boolean =>
  error instanceof WacError && error.status === 403 && error.reason === "fresh_session_required"

/** The answer of a call, repeated after each proof that it needs. Without a proof, it fails as the service answered. */
const proven = async (first: Promise<unknown>, again: () => unknown): Promise<unknown> => {
  let answer: unknown = first
  while (true) {
    try {
      return await answer
    } catch (error) {
      // the service refuses it before it does anything
      if (!needsProof(error) || !(await proof())) throw error
    }
    answer = again()
  }
}

/** The client, whose calls wait for a proof where they need one, and are then repeated. */
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
