/** The service that these pages belong to: where it is, what it says of itself, and how it is called. */
import { createInternalClient, WacError } from "@wac/client/internal"
import { withProof } from "./Presence.ts"

const meta = (name: string): string | undefined =>
  document.querySelector<HTMLMetaElement>(`meta[name="wac-${name}"]`)?.content

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

/** The address of the service, without a slash at the end. */
export const address = new URL(root, location.origin).href.replace(/\/$/, "")

/** Where the documentation says what to do about an error. */
export const errorAddress = ({ code, reason }: { readonly code: string; readonly reason?: string | null }): string =>
  `${root}docs/errors#${reason == null ? code : `${code}-${reason}`}`

/** The service's endpoints for people. The browser keeps the session's cookie. */
export const api = withProof(createInternalClient({
  baseUrl: address,
  timeout: 20_000,
  retries: 1,
  ...(portal === undefined ? {} : { portal })
}))

/** Whether an error says that nobody is signed in. */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof WacError && error.status === 401 && error.reason === "missing_session"

export const isNotFound = (error: unknown): boolean => error instanceof WacError && error.code === "not_found"

/** The first page of a list. */
export const firstPage = async <Page>(list: { readonly pages: () => AsyncIterable<Page> }): Promise<Page> => {
  for await (const page of list.pages()) return page
  throw new Error("a list has a first page")
}
