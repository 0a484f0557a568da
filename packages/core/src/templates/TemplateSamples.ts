/**
 * Finds header sample files and replaces them with the provider's handles. Pure.
 */
import type { Component } from "./TemplateDraft.ts"

type Header = Extract<Component, { readonly type: "HEADER" }>

/** The types of a header's sample, by its format, as the provider takes them. */
const sampleTypes: { readonly [format in Header["format"]]: ReadonlyArray<string> } = {
  TEXT: [],
  LOCATION: [],
  IMAGE: ["image/jpeg", "image/png"],
  VIDEO: ["video/mp4"],
  DOCUMENT: ["application/pdf"]
}

/** A file that a header shows as its sample. */
export interface FileSample {
  readonly param: string
  /** The id of the file as the caller gave it. */
  readonly media: string
  /** The types that the header's format allows. */
  readonly types: ReadonlyArray<string>
}

/** The sample files of all headers, including those of cards. */
export const fileSamplesOf = (components: ReadonlyArray<Component>, at = "components"): ReadonlyArray<FileSample> =>
  components.flatMap((part, i) => {
    if (part.type === "CAROUSEL") {
      return part.cards.flatMap((card, j) => fileSamplesOf(card.components, `${at}[${i}].cards[${j}].components`))
    }
    return part.type === "HEADER" && part.example?.media !== undefined
      ? [{ param: `${at}[${i}].example.media`, media: part.example.media, types: sampleTypes[part.format] }]
      : []
  })

const headerWithHandle = (part: Header, handles: ReadonlyMap<string, string>): Header => {
  const { media, ...example } = part.example ?? {}
  return media === undefined ? part : { ...part, example: { ...example, header_handle: [handles.get(media)!] } }
}

/** The components as the provider accepts them: each sample file is replaced by its handle, found by the file's id. */
export const withHandles = (
  components: ReadonlyArray<Component>,
  handles: ReadonlyMap<string, string>
): ReadonlyArray<Component> =>
  components.map((part) => {
    if (part.type === "HEADER") return headerWithHandle(part, handles)
    if (part.type !== "CAROUSEL") return part
    return {
      ...part,
      cards: part.cards.map((card) => ({
        components: card.components.map((one) => one.type === "HEADER" ? headerWithHandle(one, handles) : one)
      }))
    }
  })
