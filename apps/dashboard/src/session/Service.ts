/** The client that calls the service of these pages, and checks of its errors. */
import { createInternalClient, WacError } from "@wac/client/internal"
import { portal, root } from "./Document.ts"
import { withProof } from "./Presence.ts"
import { shownSession } from "./ShownSession.ts"

/** The address of the service, without a slash at the end. */
export const address = new URL(root, location.origin).href.replace(/\/$/, "")

/** The address of the documentation of an error. */
export const errorAddress = ({ code, reason }: { readonly code: string; readonly reason?: string | null }): string =>
  `${root}docs/errors#${reason == null ? code : `${code}-${reason}`}`

/** The client of the service's endpoints for people. The browser keeps the session's cookie. */
export const api = withProof(createInternalClient({
  baseUrl: address,
  timeout: 20_000,
  retries: 1,
  ...(portal === undefined ? { shown: shownSession } : { portal })
}))

/** Whether a call failed because nobody is signed in. */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof WacError && error.status === 401 && error.reason === "missing_session"

/** Whether a call failed because the thing does not exist (404). */
export const isNotFound = (error: unknown): boolean => error instanceof WacError && error.code === "not_found"

/** The first page of a list. */
export const firstPage = async <Page>(list: { readonly pages: () => AsyncIterable<Page> }): Promise<Page> => {
  for await (const page of list.pages()) return page
  throw new Error("a list has a first page")
}
