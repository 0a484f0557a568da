/** Requests that must not be made twice by pressing a button again. */
import { WacError } from "@wac/client/internal"
import { useRef } from "react"

/** Statuses of refusals that bind no key, or whose request the service may still carry out. */
const open: ReadonlyArray<number | undefined> = [401, 408, 429]

/** Whether a request was refused for good: the service would answer the same under its key, whatever has changed. */
export const isRefused = (error: unknown): boolean =>
  error instanceof WacError && error.status !== undefined && error.status >= 400 && error.status < 500 &&
  !open.includes(error.status)

/**
 * Makes the request of a form, once for what the form holds: after a lost response the same request goes out under the
 * same idempotency key. A changed form is another request, and so is the same form after a refusal for good; after a
 * success only if `isRepeatable`.
 */
export const useOnce = <Request>({ isRepeatable = false }: { readonly isRepeatable?: boolean } = {}) => {
  const last = useRef<{ readonly form: string; readonly request: Request; readonly idempotencyKey: string }>(undefined)
  return async <A>(
    form: ReadonlyArray<unknown>,
    make: () => Request,
    send: (request: Request, key: { readonly idempotencyKey: string }) => Promise<A>
  ): Promise<A> => {
    const text = JSON.stringify(form)
    if (last.current?.form !== text) {
      last.current = { form: text, request: make(), idempotencyKey: crypto.randomUUID() }
    }
    const { idempotencyKey, request } = last.current
    try {
      const answer = await send(request, { idempotencyKey })
      if (isRepeatable) last.current = undefined
      return answer
    } catch (error) {
      if (isRefused(error)) last.current = undefined
      throw error
    }
  }
}
