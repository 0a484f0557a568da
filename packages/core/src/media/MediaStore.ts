/**
 * Port: everything that is stored about files, except their bytes. `MediaStep` decides the transitions.
 */
import { Context, type Duration, type Effect, type Option } from "effect"
import type { Forbidden } from "../Errors.ts"
import type { MediaId, PhoneNumberId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type * as Media from "./Media.ts"
import type { Begin, Claim, Keep, KeepResult, Named, Remove } from "./MediaStep.ts"

/** A file as the provider knows it. */
export interface ProviderMedia {
  readonly providerMediaId: string
  /** When the provider deletes it. */
  readonly expiresAt: Instant
}

/** A customer's file that the caller may download until its claim ends. */
export interface Claimed extends Claim {
  readonly awaited: Media.Awaited
  /** The storage's time of the claim. */
  readonly at: Instant
}

export class MediaStore extends Context.Service<MediaStore, {
  /**
   * Begins an upload, so that its bytes are found and deleted if it never ends, and reserves `size` bytes of the
   * workspace's quota until it is kept or removed. Repeated for an upload that has begun, it reserves `size` bytes
   * instead of what was reserved before. Returns the refusal if they exceed the quota; an upload that has begun then
   * keeps what it had. While a file is bound to the key, the size of this file does not count. Changes nothing once the
   * upload was kept or removed. Safe to repeat.
   */
  readonly begin: (command: Begin) => Effect.Effect<Forbidden | undefined, StoreError>
  /**
   * Keeps a file whose bytes are written, in one atomic step: checks the quota and binds the idempotency key. Of
   * concurrent uploads under one key, one is kept. A customer's file is kept only while its claim lasts. Safe to repeat.
   */
  readonly keep: (command: Keep) => Effect.Effect<KeepResult, StoreError>
  /**
   * Removes a file and gives its bytes back to the quota. Its bytes are deleted afterwards. False if there is nothing to
   * remove. Safe to repeat.
   */
  readonly remove: (command: Remove) => Effect.Effect<boolean, StoreError>
  /** A file of the workspace. Uploads that have not ended are not found. */
  readonly find: (named: Named) => Effect.Effect<Option.Option<Media.FileState>, StoreError>
  /**
   * Records a use, which lasts until `until` (by default `now`). The file is then kept for `keptFor` (by default
   * `Media.retention`) after the end of its last use, even if that is shorter than before. Safe to repeat.
   */
  readonly use: (
    named: Named,
    now: Instant,
    keptFor?: Duration.Duration,
    until?: Instant
  ) => Effect.Effect<void, StoreError>
  /** Files that are due by the storage's clock: broken-off uploads and expired files. In any order. */
  readonly due: (now: Instant, limit: number) => Effect.Effect<ReadonlyArray<Named>, StoreError>
  /**
   * Removed files whose bytes must be deleted, by id, from the first one after `after` on. A file that was removed during
   * its download is one of them once the claim of the download has ended.
   */
  readonly removed: (now: Instant, after: string, limit: number) => Effect.Effect<ReadonlyArray<Named>, StoreError>
  /**
   * Deletes a removed file's row once its bytes are deleted. While the claim of its download lasts, the row stays, so
   * that bytes that are still being written are found. Safe to repeat.
   */
  readonly forget: (named: Named, now: Instant) => Effect.Effect<void, StoreError>
  /**
   * A file's copy at the provider for sends from a number, if the provider keeps it for another `margin` milliseconds.
   */
  readonly uploaded: (
    id: MediaId,
    phoneNumberId: PhoneNumberId,
    now: Instant,
    margin: number
  ) => Effect.Effect<Option.Option<ProviderMedia>, StoreError>
  /** Records that a file was uploaded to the provider for sends from a number. The last upload counts. */
  readonly keepUploaded: (
    id: MediaId,
    phoneNumberId: PhoneNumberId,
    media: ProviderMedia
  ) => Effect.Effect<void, StoreError>
  /**
   * Forgets that a file was uploaded to the provider for sends from a number, unless it was uploaded again since: with a
   * different id at the provider. Safe to repeat.
   */
  readonly forgetUploaded: (
    id: MediaId,
    phoneNumberId: PhoneNumberId,
    providerMediaId: string
  ) => Effect.Effect<void, StoreError>
  /**
   * Registers a customer's file that the provider holds, once per number and provider id, and returns its id. With
   * `fetchAt` it is due for download from then on.
   */
  readonly expect: (
    awaited: Media.Awaited,
    fetchAt: Instant | null
  ) => Effect.Effect<MediaId, StoreError>
  /**
   * Claims awaited files until `until`, so that only one process downloads each: those that are due, which are then due
   * again at `until`; or, with `only`, the named file whether due or not.
   */
  readonly claimAwaited: (
    claim: {
      readonly now: Instant
      readonly until: Instant
      readonly limit: number
      readonly only?: Named
    }
  ) => Effect.Effect<ReadonlyArray<Claimed>, StoreError>
  /**
   * Whether the downloader of a file may delete its bytes: until its claim ends, and once the file is neither awaited nor
   * stored. Otherwise the bytes may be another process's.
   */
  readonly mayErase: (claim: Claim, now: Instant) => Effect.Effect<boolean, StoreError>
  /**
   * Gives the claim of a file back. The file is then due for download `after` milliseconds from now, unless it was
   * registered without a time. Changes nothing if somebody else has claimed the file since. Safe to repeat.
   */
  readonly postpone: (claim: Claim, now: Instant, after: number) => Effect.Effect<void, StoreError>
  /**
   * Records that the provider no longer has an awaited file. Changes nothing if somebody else has claimed the file since.
   * Safe to repeat.
   */
  readonly lose: (claim: Claim) => Effect.Effect<void, StoreError>
}>()("@wac/core/media/MediaStore") {}
