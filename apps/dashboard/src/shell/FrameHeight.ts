/** Reports to the page that shows the portal how high its content is, so that the host can make the frame as high. */
import { portal, portalOrigins } from "../session/Document.ts"

/** Whether another page shows this one. */
const isFramed = portal !== undefined && window.parent !== window

/** The origin of the page above, if the browser reports it; otherwise every origin that it may have. */
const receivers = (): ReadonlyArray<string> => {
  const above = URL.canParse(document.referrer) ? new URL(document.referrer).origin : ""
  return portalOrigins.includes(above) ? [above] : portalOrigins
}

/** Leaves no room for a scroll bar beside the content of a frame, whose host sees to it that there is none. */
export const applyFrame = (): void => {
  if (isFramed) document.documentElement.dataset["framed"] = "yes"
}

/**
 * Posts how far down the last part of the page reaches, as `{type: "wac.portal.height", height}` in CSS pixels, at once
 * and after each change, to the origins that may show the portal. Returns the function that ends this. A reference for
 * React.
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
