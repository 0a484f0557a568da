/**
 * What the service writes into the HTML document of these pages, as `meta` elements: their address, its version, and
 * what it supports.
 */

// tests of pure functions run without a document
const meta = (name: string): string | undefined =>
  globalThis.document?.querySelector<HTMLMetaElement>(`meta[name="wac-${name}"]`)?.content

/** The path of the service's own routes, with a slash at the end: a host may mount them anywhere. */
export const root = meta("root") ?? "/"

/** The id of the workspace whose portal these pages are, for a host's customer; `undefined` in the dashboard. */
export const portal = meta("portal") === undefined
  ? undefined
  : location.pathname.slice(`${root}portal/`.length).split("/", 1)[0]

/** The origins whose pages may show the portal. */
export const portalOrigins: ReadonlyArray<string> = meta("portal-origins")?.split(" ") ?? []

/** The path at which the pages begin, without a slash at the end. */
export const pages = portal === undefined ? `${root}dashboard` : `${root}portal/${portal}`

/** The version of the service, if its document has one. */
export const version = meta("version")

const lacking: ReadonlyArray<string> = (meta("lacks") ?? "").split(" ")

/** What the provider's channel supports, of the things that these pages show. */
export const channel = {
  serviceWindow: !lacking.includes("serviceWindow"),
  templates: !lacking.includes("templates")
}

/** Whether the service has a mail server. */
export const sendsMail = !lacking.includes("mail")

/** Whether people have accounts here. If not, the application that embeds the service has the people. */
export const hasAccounts = !lacking.includes("accounts")

/** Whether the service has been set up; `undefined` if that is not known. */
export const isSetUp = { yes: true, no: false }[meta("set-up") ?? ""]
