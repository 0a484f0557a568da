/** Reports the height of the portal's content to the host's page, so that the host can give the frame this height. */
import { portal, portalOrigins } from "../session/Document.ts"

/** Whether these pages are the portal in a frame of another page. */
const isFramed = portal !== undefined && window.parent !== window

/** The origin of the host's page, if the browser reports it; otherwise every origin that it may have. */
const receivers = (): ReadonlyArray<string> => {
  const above = URL.canParse(document.referrer) ? new URL(document.referrer).origin : ""
  return portalOrigins.includes(above) ? [above] : portalOrigins
}

/** In a frame, reserves no room for a scroll bar, because the host makes the frame as high as its content. */
export const applyFrame = (): void => {
  if (isFramed) document.documentElement.dataset["framed"] = "yes"
}

/**
 * Posts the height of the content, down to the end of this element, as `{type: "wac.portal.height", height}` in CSS
 * pixels to the host's page: first immediately, then after each change. Returns the function that stops it. To be used
 * as a React `ref`.
 */
export const reportHeight = (last: Element | null): (() => void) | undefined => {
  if (!isFramed || last === null) return undefined
  const origins = receivers()
  let reported = 0
  const observer = new ResizeObserver(() => {
    const height = Math.ceil(last.getBoundingClientRect().bottom + window.scrollY)
    if (height === reported) return
    reported = height
    for (const origin of origins) window.parent.postMessage({ type: "wac.portal.height", height }, origin)
  })
  observer.observe(last)
  return () => observer.disconnect()
}
