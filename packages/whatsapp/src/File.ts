/**
 * Files as the Cloud API names them: by its own id, or by where it fetches them.
 */
import type { FileContent, Provider } from "@wac/core"
import type { Schema } from "effect"

/** What is posted of a file: upstream's id stands in the place of ours. */
export const of = (
  { media, ...rest }: FileContent.FileContent,
  { mediaIds }: Provider.ProviderSend["refers"]
): { readonly [field: string]: Schema.Json } => {
  const id = media === undefined ? undefined : mediaIds.get(media)
  return { ...(id === undefined ? {} : { id }), ...rest }
}
