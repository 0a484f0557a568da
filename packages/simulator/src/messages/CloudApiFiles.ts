/** The files that a message names, wherever in it: uploaded ones by id, and others by link. */
import type { Problem } from "../CloudApiErrors.ts"

/** The types that upstream takes for each kind. */
const types: ReadonlyMap<string, RegExp> = new Map([
  ["image", /^image\/(jpeg|png)$/],
  ["audio", /^audio\//],
  ["video", /^video\/(mp4|3gpp)$/],
  ["document", /./],
  ["sticker", /^image\/webp$/]
])

interface Named {
  /** The parameter that holds it. */
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

/** All of them, in their order. */
export const of = (
  { content, type }: { readonly type: string; readonly content: { readonly [name: string]: unknown } }
): ReadonlyArray<Named> => inside(type, content)

/** A host under the name that stands for none (RFC 2606): its links cannot be fetched. */
const isUnreachable = (link: string): boolean => URL.canParse(link) && new URL(link).hostname.endsWith(".invalid")

/**
 * Why a message with this file fails after it was accepted: upstream cannot fetch its link, or the uploaded file is of a
 * type that the kind does not take. Source: github.com/chatwoot/chatwoot/issues/12260. `typeOf` returns the type of an uploaded file.
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
