/**
 * Files that we store for messages (contract §10): the model, how long files are kept, and whether a file may be sent
 * as a kind of content. Pure.
 */
import { Duration } from "effect"
import { Forbidden, InvalidBody, NotFound, ServerError } from "../Errors.ts"
import type { MediaId, PhoneNumberId, WorkspaceId } from "../Id.ts"
import * as Retention from "../Retention.ts"
import type { Instant } from "../Time.ts"

/** The properties of a file that its bytes determine. */
export interface FileProperties {
  /** The type as detected from the bytes. */
  readonly mimeType: string
  /** The size in bytes. */
  readonly size: number
  /** Whether the image is animated. */
  readonly isAnimated: boolean
  /** Whether the audio is encoded as Opus. */
  readonly isOpus: boolean
}

/** A file of a workspace. */
export interface Media extends FileProperties {
  readonly id: MediaId
  readonly workspaceId: WorkspaceId
  /** SHA-256 of the bytes, in lower-case hexadecimal. */
  readonly sha256: string
  /** The name with which the file was uploaded, cleaned ({@link nameOf}); `null` if it had none. */
  readonly filename: string | null
  readonly createdAt: Instant
  /**
   * When the file was last uploaded, sent or downloaded. In the future if a queued message or a campaign needs it until
   * then.
   */
  readonly lastUsedAt: Instant
}

/** A customer's file that the provider still holds, before it is downloaded. */
export interface Awaited {
  readonly id: MediaId
  readonly workspaceId: WorkspaceId
  /** The number that received the file. */
  readonly phoneNumberId: PhoneNumberId
  readonly providerMediaId: string
  /** As the provider reported it; unverified. */
  readonly filename: string | null
  /** SHA-256 in lower-case hexadecimal, as the provider reported it; `null` if it reported none. */
  readonly sha256: string | null
  /** When the customer's message arrived. */
  readonly createdAt: Instant
}

/** What is stored under a file's id. */
export type FileState =
  | { readonly _tag: "Stored"; readonly media: Media }
  /** A customer's file that was not downloaded yet. */
  | { readonly _tag: "Awaited"; readonly awaited: Awaited }
  /** A customer's file that the provider no longer has. */
  | { readonly _tag: "Gone" }

/** How long a file is kept after its last use, unless `RETENTION` says otherwise. */
export const retention = Retention.keptFor(Retention.standard, "media")

/** The maximum size of any file, in bytes. */
export const maxSize = 100 * 1024 * 1024

/** How long an upload may take. After this, it counts as broken off, and its bytes are deleted. */
export const uploadTimeout = Duration.minutes(30)

/**
 * How many bytes of an upload may arrive beyond those that are reserved of the quota, so that small files, and the form
 * around an announced file, need no further step.
 */
export const unreserved = 64 * 1024

/** How many bytes are reserved at a time for an upload whose size was not announced. */
export const reservedAhead = 1024 * 1024

/** How long the provider holds a customer's file. */
export const providerRetention = Duration.days(7)

/** The shortest and the longest time until a failed download is tried again, in milliseconds. */
const fetchAgainFrom = Duration.toMillis(Duration.minutes(5))
const fetchAgainTo = Duration.toMillis(Duration.hours(6))

/** After how many milliseconds a download that failed at `at` is tried again: the older the file, the later. */
export const fetchAgainAfter = ({ createdAt }: Pick<Awaited, "createdAt">, at: Instant): number =>
  Math.min(Math.max(at - createdAt, fetchAgainFrom), fetchAgainTo)

/** When a file is deleted unless it is used again. */
export const expiresAt = (
  { lastUsedAt }: Pick<Media, "lastUsedAt">,
  keptFor: Duration.Duration = retention
): Instant => lastUsedAt + Duration.toMillis(keptFor)

/** The minimum time between two recorded uses, in milliseconds, so that frequent downloads write little. */
const recordedEvery = Duration.toMillis(Duration.hours(1))

/** Whether a use now must be recorded. */
export const isUseRecorded = ({ lastUsedAt }: Pick<Media, "lastUsedAt">, now: Instant): boolean =>
  now - lastUsedAt >= recordedEvery

const longestName = 240

/** How much of a given name is read, in UTF-16 code units. Cleaning may remove many characters, but not most. */
const longestGiven = 4 * longestName

/**
 * The name under which a file is kept: the last part of a path, without control characters and characters that change
 * the direction of text. Characters that file systems reserve become `_`. `null` if nothing is left.
 */
export const nameOf = (given: string | undefined): string | null => {
  const text = given ?? ""
  const from = Math.max(text.lastIndexOf("/"), text.lastIndexOf("\\")) + 1
  // cut first, so that a very long name costs no more than any other
  const name = text.slice(from, from + longestGiven).toWellFormed()
    // remove what separates, hides or reverses the rest of a name
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\uFFFD]/gu, "")
    .normalize("NFC")
    .replace(/["*:<>?|]/g, "_")
    .replace(/^[.\s]+/, "")
  // clean the end last, since the cut may leave a dot or space there; so cleaning a cleaned name changes nothing
  const short = [...name].slice(0, longestName).join("").replace(/(?<![.\s])[.\s]+$/, "")
  return short === "" ? null : short
}

/** The error for an upload that does not fit into the workspace's quota; `undefined` if it does. */
export const quotaRefusal = (quota: number | null, used: number, size: number): Forbidden | undefined =>
  quota === null || used + size <= quota
    ? undefined
    : new Forbidden({
      reason: "media_quota",
      message: `the workspace's files may have ${quota} bytes together; delete some that are no longer needed`
    })

/** The error for a customer's file that the provider no longer has. */
export const expired = (): NotFound =>
  new NotFound({ reason: "media_expired", message: "the provider no longer has this file" })

/** The error for a file whose transfer takes longer than a request waits. */
export const notReady = (): ServerError =>
  new ServerError({
    reason: "provider_unavailable",
    message: "the file is still being transferred from or to the provider; repeat the request"
  })

/** The error for a file that is too large. */
export const tooLarge = (): InvalidBody =>
  new InvalidBody({ reason: "too_large", param: "file", message: `a file may have at most ${maxSize} bytes` })

/** The kinds of content that hold a file. */
export type FileKind = "image" | "audio" | "video" | "document" | "sticker"

const kilobyte = 1024
const megabyte = 1024 * kilobyte

/** The provider's file types for each kind of content, and their maximum sizes. The provider accepts no other types. */
const made: { readonly [Kind in FileKind]: { readonly types: ReadonlyArray<string>; readonly size: number } } = {
  image: { types: ["image/jpeg", "image/png"], size: 5 * megabyte },
  audio: { types: ["audio/aac", "audio/amr", "audio/mpeg", "audio/mp4", "audio/ogg"], size: 16 * megabyte },
  video: { types: ["video/mp4", "video/3gpp"], size: 16 * megabyte },
  document: {
    types: [
      "application/pdf",
      "text/plain",
      "application/msword",
      "application/vnd.ms-excel",
      "application/vnd.ms-powerpoint",
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
      "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
      "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    ],
    size: 100 * megabyte
  },
  sticker: { types: ["image/webp"], size: 500 * kilobyte }
}

/**
 * The types that a kind of content accepts. A document may be a file of any type, with the maximum size of that type.
 */
const taken = (kind: FileKind): ReadonlyArray<typeof made[FileKind]> =>
  kind === "document" ? Object.values(made) : [made[kind]]

const stillSticker = 100 * kilobyte

/**
 * The error for a file that cannot be sent as this kind; `undefined` if it can. `param` is the message's field that
 * holds the file.
 */
export const refusal = (
  { isAnimated, isOpus, mimeType, size }: FileProperties,
  { isVoice, kind, param }: { readonly kind: FileKind; readonly param: string; readonly isVoice: boolean }
): InvalidBody | undefined => {
  const invalid = (message: string) => new InvalidBody({ reason: "invalid_field", param, message })
  const all = taken(kind)
  const found = all.find(({ types }) => types.includes(mimeType))
  if (found === undefined) {
    return invalid(`${kind} files must be ${all.flatMap(({ types }) => types).join(", ")}; this file is ${mimeType}`)
  }
  // the provider only plays Ogg files that contain Opus
  if ((isVoice || mimeType === "audio/ogg") && !isOpus) {
    return invalid("voice messages and Ogg files must be encoded as Opus")
  }
  const limit = kind === "sticker" && !isAnimated ? stillSticker : found.size
  const what = kind === "document" ? mimeType : kind
  return size <= limit ? undefined : invalid(`${what} files may have at most ${limit} bytes; this file has ${size}`)
}

/** The error for an id that names no file of the workspace. */
export const missing = (param: string): InvalidBody =>
  new InvalidBody({ reason: "invalid_field", param, message: `${param} does not name a file of this workspace` })
