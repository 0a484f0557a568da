/**
 * Port: the bytes of files. They may be in a different storage, such as an object store.
 */
import { Context, type Effect, type Stream } from "effect"
import type { MediaId, WorkspaceId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"

/** The file to which the bytes belong. */
export interface Named {
  readonly workspaceId: WorkspaceId
  readonly id: MediaId
}

/** The bytes from `start` up to, but not including, `end`. */
export interface Range {
  readonly start: number
  readonly end: number
}

export class MediaBytes extends Context.Service<MediaBytes, {
  /**
   * Writes the bytes of a file as they arrive, without holding all of them in memory. If the stream fails, the write
   * fails too, and may leave bytes behind, which `remove` deletes. Call it once per file.
   */
  readonly write: <E>(
    file: Named,
    bytes: Stream.Stream<Uint8Array, E>
  ) => Effect.Effect<void, E | StoreError>
  /**
   * Reads a range that lies within the file, without holding all of it in memory. Fails if bytes of the range are
   * missing because the file was removed meanwhile.
   */
  readonly read: (file: Named, range: Range) => Stream.Stream<Uint8Array, StoreError>
  /** Deletes a bounded number of a file's bytes. Returns whether more may be left. Safe to repeat. */
  readonly remove: (file: Named) => Effect.Effect<boolean, StoreError>
}>()("@wac/core/media/MediaBytes") {}
