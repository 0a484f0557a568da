/** The uploaded files that a message names, wherever in it. */

const kinds = new Set(["image", "audio", "video", "document", "sticker"])

interface Named {
  /** The parameter that holds it. */
  readonly name: string
  readonly id: string
}

const inside = (name: string, value: unknown): ReadonlyArray<Named> => {
  if (Array.isArray(value)) return value.flatMap((each) => inside(name, each))
  if (typeof value !== "object" || value === null) return []
  const { id } = value as { readonly id?: unknown }
  return [
    ...(kinds.has(name) && typeof id === "string" ? [{ name, id }] : []),
    ...Object.entries(value).flatMap(([inner, part]) => inside(inner, part))
  ]
}

/** All of them, in their order. */
export const of = (
  { content, type }: { readonly type: string; readonly content: { readonly [name: string]: unknown } }
): ReadonlyArray<Named> => inside(type, content)
