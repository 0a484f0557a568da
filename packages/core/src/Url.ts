/**
 * The maximum length of the URLs that callers give: of receivers, of linked files, and of paths in portal links.
 */

/** The maximum number of characters of a URL. */
export const maxLength = 2048
