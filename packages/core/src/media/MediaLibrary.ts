/**
 * Port for our files, as sends use it. By default it has no files.
 */
import { Context, Effect } from "effect"
import type { DomainError } from "../Errors.ts"
import type { MediaId, WorkspaceId } from "../Id.ts"
import type { PhoneNumber } from "../numbers/PhoneNumber.ts"
import type { StoreError } from "../StoreError.ts"
import type { Media } from "./Media.ts"

export interface MediaLibrary {
  /** Finds a file of the workspace. */
  readonly find: (workspaceId: WorkspaceId, id: MediaId) => Effect.Effect<Media | undefined, StoreError>
  /** The provider's identifier of a file for sends from this number. Uploads the file if it has none yet. */
  readonly providerIdOf: (sender: PhoneNumber, media: Media) => Effect.Effect<string, DomainError | StoreError>
}

export const MediaLibrary = Context.Reference<MediaLibrary>("@wac/core/media/MediaLibrary", {
  defaultValue: () => ({ find: () => Effect.undefined, providerIdOf: () => Effect.die("there is no file") })
})
