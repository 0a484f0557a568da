/**
 * A host's wishes for the portal's pages: the fields behind `#` in its link, but the token. The frame keeps them for
 * when it is loaded again. A visitor can change them, so whatever reads one takes valid values alone.
 */
import { portal } from "../session/Document.ts"

const name = `wac-portal-${portal}`

const kept = (): string => {
  try {
    return sessionStorage.getItem(name) ?? ""
  } catch {
    // a browser may keep nothing in a frame
    return ""
  }
}

const keep = (fields: URLSearchParams): URLSearchParams => {
  try {
    sessionStorage.setItem(name, fields.toString())
  } catch {
    // then they hold for as long as the page is open
  }
  return fields
}

const fieldsOfLink = (): URLSearchParams => {
  const fields = new URLSearchParams(location.hash.slice(1))
  if (!fields.has("token")) return new URLSearchParams(kept())
  fields.delete("token")
  return keep(fields)
}

/** The fields of the link in the address, or of the link that this frame was opened with; none in the dashboard. */
export const hostFields: URLSearchParams = portal === undefined ? new URLSearchParams() : fieldsOfLink()
