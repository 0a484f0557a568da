/** Keeps a stream of the service's events open. */
import { hasEnded } from "./SessionEnd.ts"

/** The pause before a stream that the browser has given up is opened again, in milliseconds. */
const pause = 5000

/** The state of an `EventSource` that the browser does not open again. */
const closed = 2

/**
 * Opens a stream until the returned function is called. A browser opens a stream again if its connection broke, but not
 * if its response had a status other than 200, for example from a proxy while the service restarts. In that case it is
 * opened again here, except while nobody is signed in. `listen` is called with each source.
 */
export const open = (address: string, listen: (source: EventSource) => void): () => void => {
  let source: EventSource
  let timer: ReturnType<typeof setTimeout> | undefined
  const begin = () => {
    source = new EventSource(address)
    source.addEventListener("error", () => {
      if (source.readyState === closed) timer = setTimeout(again, pause)
    })
    listen(source)
  }
  const again = () => {
    if (hasEnded()) timer = setTimeout(again, pause)
    else begin()
  }
  begin()
  return () => {
    clearTimeout(timer)
    source.close()
  }
}
