/** Reports to the page that shows the portal how high its content is, so that the host can make the frame as high. */
import { portal, portalOrigins } from "../session/Service.ts"

/** Whether another page shows this one. */
export const isFramed = portal !== undefined && window.parent !== window

/** The origin of the page above, if the browser reports it; otherwise every origin that may be. */
const receivers = (): ReadonlyArray<string> => {
  const above = URL.canParse(document.referrer) ? new URL(document.referrer).origin : ""
  return portalOrigins.includes(above) ? [above] : portalOrigins
}

/** Posts `{type: "wac.portal.height", height}`, in CSS pixels, at once and after each change. Never to other origins. */
export const reportHeight = (content: Element): void => {
  if (!isFramed) return
  const origins = receivers()
  let last = 0
  new ResizeObserver(() => {
    const height = Math.ceil(content.getBoundingClientRect().height)
    if (height === last) return
    last = height
    for (const origin of origins) window.parent.postMessage({ type: "wac.portal.height", height }, origin)
  }).observe(content)
}
