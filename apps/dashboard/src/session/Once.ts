/** Requests that must not be made twice by pressing a button again. */
import { useRef } from "react"

/**
 * Gives the request of a form, made once for what the form holds, with its idempotency key: after a lost response the
 * same request goes out under the same key, and a changed form is another request.
 */
export const useOnce = <Request>() => {
  const last = useRef<{ readonly form: string; readonly request: Request; readonly idempotencyKey: string }>(undefined)
  return (form: ReadonlyArray<unknown>, make: () => Request) => {
    const text = JSON.stringify(form)
    if (last.current?.form !== text) {
      last.current = { form: text, request: make(), idempotencyKey: crypto.randomUUID() }
    }
    return last.current
  }
}
