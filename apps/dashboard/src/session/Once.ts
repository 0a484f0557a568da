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

/**
 * Returns a function that sends a form's request once for each content of the form: if it is called again, for example
 * after a lost response, it sends the same request with the same idempotency key. It makes a new request if the form
 * has changed, after a refusal for good, if the outcome stays unknown, and after a success if `isRepeatable`.
 */
export const useOnce = <Request>(
  { isMessage = false, isRepeatable = false }: {
    readonly isRepeatable?: boolean
    /** Whether the request sends a message: the service then learns an unknown outcome itself, or says that it never will. */
    readonly isMessage?: boolean
  } = {}
) => {
  const last = useRef<{
    readonly form: string
    readonly request: Request
    readonly idempotencyKey: string
    /** Whether the outcome was unknown when the request was sent before. */
    readonly isUnknown?: boolean
  }>(undefined)
  return async <A>(
    form: ReadonlyArray<unknown>,
    make: () => Request,
    send: (request: Request, key: { readonly idempotencyKey: string }) => Promise<A>
  ): Promise<A> => {
    const text = JSON.stringify(form)
    if (last.current?.form !== text) {
      last.current = { form: text, request: make(), idempotencyKey: crypto.randomUUID() }
    }
    const sent = last.current
    const { idempotencyKey, request } = sent
    try {
      const answer = await send(request, { idempotencyKey })
      if (isRepeatable) last.current = undefined
      return answer
    } catch (error) {
      // what was lost with its server stays so: under this key, the service would never do it
      const isLost = isUnknown(error) && !isMessage
      last.current = isRefused(error) || isUnknownForGood(error) || (isLost && sent.isUnknown === true)
        ? undefined
        : { ...sent, isUnknown: isLost || sent.isUnknown === true }
      throw error
    }
  }
}
