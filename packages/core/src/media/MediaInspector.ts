/**
 * Port: recognizes a file's type by its first bytes, and computes its digest while the bytes pass. This file also holds
 * the rule for files without a known signature (contract §10).
 */
import { Context, type Effect } from "effect"
import { InvalidBody } from "../Errors.ts"
import type { FileProperties } from "./Media.ts"

/** How many of the first bytes of a file are used to recognize its type. */
export const headSize = 256 * 1024

/** A file during its inspection. */
export interface Inspection {
  /** Takes the next bytes. */
  readonly take: (bytes: Uint8Array) => void
  /** SHA-256 of everything taken, in lower-case hexadecimal. Ends the inspection. */
  readonly digest: () => string
}

export class MediaInspector extends Context.Service<MediaInspector, {
  readonly begin: () => Inspection
  /**
   * The type of a file by its first {@link headSize} bytes, such as `audio/ogg; codecs=opus`; `undefined` if they have no
   * known signature. Never fails, whatever the bytes.
   */
  readonly typeOf: (head: Uint8Array) => Effect.Effect<string | undefined>
}>()("@wac/core/media/MediaInspector") {}

/** Checks whether bytes that arrive in pieces are UTF-8 text without NUL. */
export class TextCheck {
  #isText = true
  readonly #decoder = new TextDecoder("utf-8", { fatal: true })

  take(bytes: Uint8Array): void {
    if (!this.#isText) return
    this.#isText = !bytes.includes(0) && this.#decodes(bytes, true)
  }

  /** Whether everything taken was text. Ends the check. */
  end(): boolean {
    return this.#isText && this.#decodes(new Uint8Array(), false)
  }

  #decodes(bytes: Uint8Array, stream: boolean): boolean {
    try {
      this.#decoder.decode(bytes, { stream })
      return true
    } catch {
      return false
    }
  }
}

/** The first bytes of the container that files of Office before 2007 are. */
const compoundFile = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]

/** The types of files of Office before 2007, by the name of the stream that holds the document. */
const officeTypes: ReadonlyArray<readonly [stream: string, type: string]> = [
  ["WordDocument", "application/msword"],
  ["Workbook", "application/vnd.ms-excel"],
  ["PowerPoint Document", "application/vnd.ms-powerpoint"]
]

/**
 * Tells apart the files of Office before 2007, which have one signature, while their bytes pass. The names of their
 * streams stand anywhere, in UTF-16 at even places. What a document embeds comes after the document itself.
 */
export class OfficeCheck {
  readonly #decoder = new TextDecoder("utf-16le")
  #isCompound: boolean | undefined
  /** The end of the text before, in which a name may begin. */
  #left = ""
  #type: string | undefined

  take(bytes: Uint8Array): void {
    if (bytes.length === 0 || this.#type !== undefined) return
    this.#isCompound ??= compoundFile.every((byte, i) => i >= bytes.length || bytes[i] === byte)
    if (!this.#isCompound) return
    const text = this.#left + this.#decoder.decode(bytes, { stream: true })
    const found = officeTypes
      .map(([stream, type]) => ({ type, at: text.indexOf(`${stream}\0`) }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at)
    this.#type = found[0]?.type
    this.#left = text.slice(-32)
  }

  /** The type, if one was recognized. */
  end(): string | undefined {
    return this.#type
  }
}

/** Other names of a type, with the name that the provider uses. */
const providerNames: ReadonlyMap<string, string> = new Map([
  ["audio/x-m4a", "audio/mp4"],
  ["audio/opus", "audio/ogg"],
  ["audio/vnd.wave", "audio/wav"]
])

const ascii = (bytes: Uint8Array, start: number, end: number): string =>
  String.fromCharCode(...bytes.subarray(start, end))

/** The flag in an extended WebP header for an animated image. */
const webpAnimation = 0x02

const isAnimatedWebp = (head: Uint8Array): boolean =>
  head.length > 20 && ascii(head, 8, 16) === "WEBPVP8X" && (head[20]! & webpAnimation) !== 0

/** The type that is detected in any file of Office before 2007. */
const anyCompound = "application/x-cfb"

/**
 * The properties of a file, from the type that its first bytes show (`signature`), the type of a file of Office before
 * 2007 (`office`), its first bytes and whether it is text; or the error for a file that is not accepted. A text is one
 * whatever its first letters are, but for a PDF.
 */
export const propertiesOf = (
  { head, isText, office, signature, size }: {
    readonly signature: string | undefined
    readonly office: string | undefined
    readonly head: Uint8Array
    readonly isText: boolean
    readonly size: number
  }
): FileProperties | InvalidBody => {
  const detected = isText && signature !== "application/pdf"
    ? undefined
    : signature === anyCompound
    ? office ?? signature
    : signature
  if (detected === undefined && !(isText && size > 0)) {
    return new InvalidBody({
      reason: "unsupported_media_type",
      param: "file",
      message: size === 0 ? "the file is empty" : "the type of the file is not known, and the file is not UTF-8 text"
    })
  }
  const [essence, parameter] = (detected ?? "text/plain").split(";").map((part) => part.trim())
  const mimeType = providerNames.get(essence!) ?? essence!
  return {
    mimeType,
    size,
    isAnimated: mimeType === "image/webp" && isAnimatedWebp(head),
    isOpus: essence === "audio/opus" || mimeType === "audio/ogg" && parameter === "codecs=opus"
  }
}
