/**
 * A host's settings for the portal's pages: the fields after `#` in its link, except the token and the link's id. The
 * browser's session storage keeps them for when the frame is reloaded. A visitor can change them, so every reader
 * accepts only valid values.
 */
import { portal } from "../session/Document.ts"

const name = `wac-portal-${portal}`

const keptText = (): string => {
  try {
    return sessionStorage.getItem(name) ?? ""
  } catch {
    // a browser may refuse storage in a frame
    return ""
  }
}

const keep = (fields: URLSearchParams): URLSearchParams => {
  try {
    sessionStorage.setItem(name, fields.toString())
  } catch {
    // without storage, the fields hold until the page is closed
  }
  return fields
}

const fieldsOfLink = (): URLSearchParams => {
  const fields = new URLSearchParams(location.hash.slice(1))
  if (!fields.has("token")) return new URLSearchParams(keptText())
  fields.delete("token")
  fields.delete("id")
  return keep(fields)
}

/** The fields of the link in the address, or the kept fields if the address has none; empty in the dashboard. */
export const hostFields: URLSearchParams = portal === undefined ? new URLSearchParams() : fieldsOfLink()
