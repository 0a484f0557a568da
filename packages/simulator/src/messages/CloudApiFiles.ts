/** Finds the files in a message, uploaded ones by id and others by link, and the problems for which it fails later. */
import type { Problem } from "../CloudApiErrors.ts"

/** The media types that upstream accepts for each kind of message. */
const types: ReadonlyMap<string, RegExp> = new Map([
  ["image", /^image\/(jpeg|png)$/],
  ["audio", /^audio\//],
  ["video", /^video\/(mp4|3gpp)$/],
  ["document", /./],
  ["sticker", /^image\/webp$/]
])

interface Named {
  /** The parameter that contains the file. */
  readonly name: string
  readonly id?: string
  readonly link?: string
}

const inside = (name: string, value: unknown): ReadonlyArray<Named> => {
  if (Array.isArray(value)) return value.flatMap((each) => inside(name, each))
  if (typeof value !== "object" || value === null) return []
  const { id, link } = value as { readonly id?: unknown; readonly link?: unknown }
  return [
    ...(types.has(name)
      ? [{ name, ...(typeof id === "string" ? { id } : {}), ...(typeof link === "string" ? { link } : {}) }]
      : []),
    ...Object.entries(value).flatMap(([inner, part]) => inside(inner, part))
  ]
}

/** All files in a message, in their order. */
export const of = (
  { content, type }: { readonly type: string; readonly content: { readonly [name: string]: unknown } }
): ReadonlyArray<Named> => inside(type, content)

/** Whether a link cannot be fetched: its host is under `.invalid`, which never exists (RFC 2606). */
const isUnreachable = (link: string): boolean => URL.canParse(link) && new URL(link).hostname.endsWith(".invalid")

/**
 * Why a message with this file fails after it was accepted: upstream cannot fetch its link, or does not accept the type
 * of the uploaded file for this kind. Source: github.com/chatwoot/chatwoot/issues/12260. `typeOf` returns the type of
 * an uploaded file.
 */
export const problemOf = (
  { id, link, name }: Named,
  typeOf: (id: string) => string | undefined
): Problem | undefined => {
  const details = link !== undefined && isUnreachable(link)
    ? "Downloading media from weblink failed"
    : id !== undefined && types.get(name)?.test(typeOf(id) ?? "") === false
    ? `Unsupported ${name} mime type ${typeOf(id)}`
    : undefined
  return details === undefined ? undefined : { code: 131053, details }
}
