/**
 * Files of ours that messages hold (contract §10), as far as sending looks at them.
 */
import { InvalidBody } from "../Errors.ts"
import type { MediaId } from "../Id.ts"

/** What is known of a file. */
export interface Media {
  readonly id: MediaId
  /** As found in its bytes. */
  readonly mimeType: string
  /** In bytes. */
  readonly size: number
  /** Whether the picture moves. */
  readonly isAnimated: boolean
  /** Whether the sound is coded with Opus. */
  readonly isOpus: boolean
}

/** What takes a file. */
export type FileKind = "image" | "audio" | "video" | "document" | "sticker"

const kilobyte = 1024
const megabyte = 1024 * kilobyte

/** What upstream takes; types of documents are not limited. */
const taken: { readonly [Kind in FileKind]: { readonly types: ReadonlyArray<string> | null; readonly size: number } } =
  {
    image: { types: ["image/jpeg", "image/png"], size: 5 * megabyte },
    audio: { types: ["audio/aac", "audio/amr", "audio/mpeg", "audio/mp4", "audio/ogg"], size: 16 * megabyte },
    video: { types: ["video/mp4", "video/3gpp"], size: 16 * megabyte },
    document: { types: null, size: 100 * megabyte },
    sticker: { types: ["image/webp"], size: 500 * kilobyte }
  }

const stillSticker = 100 * kilobyte

/** Why a file may not be sent as what it is to be sent as; `param` is where the message names it. */
export const refusal = (
  { isAnimated, isOpus, mimeType, size }: Omit<Media, "id">,
  { isVoice, kind, param }: { readonly kind: FileKind; readonly param: string; readonly isVoice: boolean }
): InvalidBody | undefined => {
  const invalid = (message: string) => new InvalidBody({ reason: "invalid_field", param, message })
  const { size: most, types } = taken[kind]
  if (types !== null && !types.includes(mimeType)) {
    return invalid(`${kind} files must be ${types.join(", ")}; this file is ${mimeType}`)
  }
  // upstream plays Ogg only with Opus in it
  if ((isVoice || mimeType === "audio/ogg") && !isOpus) {
    return invalid("voice messages and Ogg files must be encoded as Opus")
  }
  const limit = kind === "sticker" && !isAnimated ? stillSticker : most
  return size <= limit ? undefined : invalid(`${kind} files may have at most ${limit} bytes; this file has ${size}`)
}

/** There is none of this id in the workspace. */
export const missing = (param: string): InvalidBody =>
  new InvalidBody({ reason: "invalid_field", param, message: `${param} does not name a file of this workspace` })
