/**
 * Our files that messages contain (contract §10), and whether a file may be sent as a given kind. Pure.
 */
import { InvalidBody } from "../Errors.ts"
import type { MediaId } from "../Id.ts"

/** The stored properties of a file. */
export interface Media {
  readonly id: MediaId
  /** As detected from its bytes. */
  readonly mimeType: string
  /** In bytes. */
  readonly size: number
  /** Whether the image is animated. */
  readonly isAnimated: boolean
  /** Whether the audio is encoded as Opus. */
  readonly isOpus: boolean
}

/** The kinds of content that hold a file. */
export type FileKind = "image" | "audio" | "video" | "document" | "sticker"

const kilobyte = 1024
const megabyte = 1024 * kilobyte

/** The provider's types and maximum sizes. Documents may have any type. */
const taken: { readonly [Kind in FileKind]: { readonly types: ReadonlyArray<string> | null; readonly size: number } } =
  {
    image: { types: ["image/jpeg", "image/png"], size: 5 * megabyte },
    audio: { types: ["audio/aac", "audio/amr", "audio/mpeg", "audio/mp4", "audio/ogg"], size: 16 * megabyte },
    video: { types: ["video/mp4", "video/3gpp"], size: 16 * megabyte },
    document: { types: null, size: 100 * megabyte },
    sticker: { types: ["image/webp"], size: 500 * kilobyte }
  }

const stillSticker = 100 * kilobyte

/**
 * The reason not to send a file as this kind; undefined if it may be sent. `param` is the message's field with the
 * file.
 */
export const refusal = (
  { isAnimated, isOpus, mimeType, size }: Omit<Media, "id">,
  { isVoice, kind, param }: { readonly kind: FileKind; readonly param: string; readonly isVoice: boolean }
): InvalidBody | undefined => {
  const invalid = (message: string) => new InvalidBody({ reason: "invalid_field", param, message })
  const { size: most, types } = taken[kind]
  if (types !== null && !types.includes(mimeType)) {
    return invalid(`${kind} files must be ${types.join(", ")}; this file is ${mimeType}`)
  }
  // the provider only plays Ogg files that contain Opus
  if ((isVoice || mimeType === "audio/ogg") && !isOpus) {
    return invalid("voice messages and Ogg files must be encoded as Opus")
  }
  const limit = kind === "sticker" && !isAnimated ? stillSticker : most
  return size <= limit ? undefined : invalid(`${kind} files may have at most ${limit} bytes; this file has ${size}`)
}

/** The error for an id that names no file of the workspace. */
export const missing = (param: string): InvalidBody =>
  new InvalidBody({ reason: "invalid_field", param, message: `${param} does not name a file of this workspace` })
