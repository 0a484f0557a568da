/**
 * Builds the media object of a Cloud API request. It refers to a file by Meta's media id or by a link. Pure.
 */
import type { FileContent, Provider } from "@wac/core"
import type { Schema } from "effect"

/** Returns the media object. Replaces our file id with Meta's media id. */
export const of = (
  { media, ...rest }: FileContent.FileContent,
  { mediaIds }: Provider.ProviderSend["refers"]
): { readonly [field: string]: Schema.Json } => {
  const id = media === undefined ? undefined : mediaIds.get(media)
  return { ...(id === undefined ? {} : { id }), ...rest }
}
