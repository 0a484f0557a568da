/**
 * Where sends find files of ours. Until there is a store of them, there are none.
 */
import { Context, Effect } from "effect"
import type { DomainError } from "../Errors.ts"
import type { MediaId, WorkspaceId } from "../Id.ts"
import type { PhoneNumber } from "../numbers/PhoneNumber.ts"
import type { StoreError } from "../StoreError.ts"
import type { Media } from "./Media.ts"

export interface MediaLibrary {
  /** A file of the workspace. */
  readonly find: (workspaceId: WorkspaceId, id: MediaId) => Effect.Effect<Media | undefined, StoreError>
  /** The provider's own name of a file, for sends from this number; brings it there if it has none yet. */
  readonly providerIdOf: (sender: PhoneNumber, media: Media) => Effect.Effect<string, DomainError | StoreError>
}

export const MediaLibrary = Context.Reference<MediaLibrary>("@wac/core/media/MediaLibrary", {
  defaultValue: () => ({ find: () => Effect.undefined, providerIdOf: () => Effect.die("there is no file") })
})
