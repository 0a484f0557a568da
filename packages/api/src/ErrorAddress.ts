/**
 * The address at which an error is explained (contract §2 `doc_url`): an anchor on the page of errors. Pure.
 */

/** The path of the page of errors on every server. */
export const path = "/docs/errors"

/** The key of an error on that page; `not_found` has no reason. */
export interface Named {
  readonly code: string
  readonly reason: string | undefined
}

/** The anchor of an error on the page, and in `docs/errors.md`: `forbidden-outside_service_window`. */
export const anchorOf = ({ code, reason }: Named): string => reason === undefined ? code : `${code}-${reason}`

/**
 * The address of a service at `publicUrl`, below the path `mount` if a host mounts it there; without a `/` at its end.
 */
export const baseOf = (publicUrl: URL, mount: string): string => {
  // a reserved name (RFC 2606): the service does not know its address, so callers resolve a relative one
  if (publicUrl.hostname.endsWith(".invalid")) return mount
  const base = `${publicUrl.origin}${publicUrl.pathname.replace(/\/$/, "")}`
  return mount !== "" && base.endsWith(mount) ? base : `${base}${mount}`
}

/** The page of errors of a service at `publicUrl`, below the path `mount` if a host mounts it there. */
export const pageOf = (publicUrl: URL, mount: string): string => `${baseOf(publicUrl, mount)}${path}`

/** The address of an error on the page of errors at `page`. */
export const of = (page: string, error: Named): string => `${page}#${anchorOf(error)}`
