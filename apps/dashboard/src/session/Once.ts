/** The requests of forms, which are carried out once even if a person presses the button again. */
import { WacError } from "@wac/client/internal"
import { useRef } from "react"

/** Statuses of refusals that do not bind the idempotency key, or whose request the service may still carry out. */
const open: ReadonlyArray<number | undefined> = [401, 408, 429]

/** Whether a request was refused for good: under its idempotency key, the service would always repeat the refusal. */
export const isRefused = (error: unknown): boolean =>
  error instanceof WacError && error.status !== undefined && error.status >= 400 && error.status < 500 &&
  !open.includes(error.status)

/** Whether the service does not know whether it carried out a request. */
export const isUnknown = (error: unknown): boolean => error instanceof WacError && error.reason === "outcome_unknown"

/** Whether a request that failed may have been carried out: its response was lost, or reported a failure of the service. */
export const mayBeDone = (error: unknown): boolean =>
  error instanceof WacError &&
  (error.code === "no_response" || error.status === undefined || error.status === 408 || error.status >= 500)

/** Whether the service will never know whether it sent a message. */
const isUnknownForGood = (error: unknown): boolean => error instanceof WacError && error.reason === "delivery_unknown"

/** A request of a form, which is repeated as it is. */
interface Sent<Request> {
  readonly request: Request
  readonly idempotencyKey: string
  /** Whether the outcome was unknown when the request was sent before. */
  readonly isUnknown: boolean
  readonly isDone: boolean
}

/**
 * Returns a function that sends a form's request once for each content of the form: if it is called again with the same
 * content, for example after a lost response, it sends the same request with the same idempotency key, whatever other
 * content it was called with in between. It makes a new request after a refusal for good, if the outcome stays unknown,
 * after a success if `isRepeatable`, and otherwise after a success with other content.
 */
export const useOnce = <Request>(
  { isMessage = false, isRepeatable = false }: {
    readonly isRepeatable?: boolean
    /** Whether the request sends a message: the service then learns an unknown outcome itself, or says that it never will. */
    readonly isMessage?: boolean
  } = {}
) => {
  const sent = useRef(new Map<string, Sent<Request>>())
  return async <A>(
    form: ReadonlyArray<unknown>,
    make: () => Request,
    send: (request: Request, key: { readonly idempotencyKey: string }) => Promise<A>
  ): Promise<A> => {
    const kept = sent.current
    const text = JSON.stringify(form)
    for (const [other, { isDone }] of kept) if (isDone && other !== text) kept.delete(other)
    const one = kept.get(text) ??
      { request: make(), idempotencyKey: crypto.randomUUID(), isUnknown: false, isDone: false }
    kept.set(text, one)
    const { idempotencyKey, request } = one
    try {
      const answer = await send(request, { idempotencyKey })
      if (isRepeatable) kept.delete(text)
      else kept.set(text, { ...one, isDone: true })
      return answer
    } catch (error) {
      // what was lost with its server stays so: under this key, the service would never do it
      const isLost = isUnknown(error) && !isMessage
      if (isRefused(error) || isUnknownForGood(error) || (isLost && one.isUnknown)) kept.delete(text)
      else kept.set(text, { ...one, isUnknown: isLost || one.isUnknown })
      throw error
    }
  }
}
