/**
 * The length of URLs: of receivers, of linked files, and of paths in links.
 */

/** The maximum number of characters of a URL. */
export const maxLength = 2048
