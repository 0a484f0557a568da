/** The service's words in the document of these pages: where they are, and what the service has. */

// tests of pure functions run without a document
const meta = (name: string): string | undefined =>
  globalThis.document?.querySelector<HTMLMetaElement>(`meta[name="wac-${name}"]`)?.content

/** The path of the service's own routes, with its slash at the end: a host may mount them anywhere. */
export const root = meta("root") ?? "/"

/** The workspace whose portal these pages are, for a host's customer; `undefined`: they are the dashboard. */
export const portal = meta("portal") === undefined
  ? undefined
  : location.pathname.slice(`${root}portal/`.length).split("/", 1)[0]

/** The origins whose pages may show the portal. */
export const portalOrigins: ReadonlyArray<string> = meta("portal-origins")?.split(" ") ?? []

/** The path of the pages. */
export const pages = portal === undefined ? `${root}dashboard` : `${root}portal/${portal}`

export const version = meta("version")

const lacking: ReadonlyArray<string> = (meta("lacks") ?? "").split(" ")

/** What the provider's channel has, of what these pages show. */
export const channel = {
  serviceWindow: !lacking.includes("serviceWindow"),
  templates: !lacking.includes("templates")
}

/** Whether the service has a mail server. */
export const sendsMail = !lacking.includes("mail")

/** Whether somebody has set the service up; `undefined` if that is not known. */
export const isSetUp = { yes: true, no: false }[meta("set-up") ?? ""]
