/**
 * The workspace's files, as sends need them. `MediaLibrary` provides them; by default there are no files.
 */
import { Context, Effect } from "effect"
import type { DomainError } from "../Errors.ts"
import type { MediaId, WorkspaceId } from "../Id.ts"
import type { PhoneNumber } from "../numbers/PhoneNumber.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { FileProperties } from "./Media.ts"

/** A file of the workspace that may be sent. */
export interface SendableFile extends FileProperties {
  readonly id: MediaId
}

/** The operations on files that sends and templates need. */
export interface SendableMedia {
  /** Finds a file of the workspace. */
  readonly find: (
    workspaceId: WorkspaceId,
    id: MediaId
  ) => Effect.Effect<SendableFile | undefined, DomainError | StoreError>
  /** The provider's identifier of a file for sends from this number. Uploads the file if it has no valid one. */
  readonly providerIdOf: (
    sender: PhoneNumber,
    file: Pick<SendableFile, "id">
  ) => Effect.Effect<string, DomainError | StoreError>
  /** Forgets an identifier that the provider no longer knows, so that the next send uploads the file again. */
  readonly forgetProviderId: (
    sender: PhoneNumber,
    file: Pick<SendableFile, "id">,
    providerId: string
  ) => Effect.Effect<void, StoreError>
  /** The provider's handle of a file that a template shows as a sample. Uploads the file each time. */
  readonly sampleHandleOf: (
    sender: PhoneNumber,
    file: Pick<SendableFile, "id">
  ) => Effect.Effect<string, DomainError | StoreError>
  /**
   * Keeps files of the workspace at least until this time, for what is to be sent by then. Returns those that exist, with
   * `null` for a customer's file that is not downloaded yet.
   */
  readonly keepUntil: (
    workspaceId: WorkspaceId,
    ids: ReadonlyArray<MediaId>,
    until: Instant
  ) => Effect.Effect<ReadonlyMap<MediaId, SendableFile | null>, StoreError>
}

/** The operations in this process. By default, no file exists. */
export const SendableMedia = Context.Reference<SendableMedia>("@wac/core/media/SendableMedia", {
  defaultValue: () => ({
    find: () => Effect.undefined,
    providerIdOf: () => Effect.die("there is no file"),
    forgetProviderId: () => Effect.void,
    sampleHandleOf: () => Effect.die("there is no file"),
    keepUntil: () => Effect.succeed(new Map())
  })
})
