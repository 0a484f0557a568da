/**
 * The content of messages with a file (contract §9): one of our files by id (contract §10), or one that the provider
 * downloads from a link. Defines schemas only.
 */
import { Schema } from "effect"
import { MediaId } from "../Id.ts"
import * as PlainText from "../PlainText.ts"

const longestAddress = 2048

/** A URL of at most 2,048 characters with one of these schemes. */
export const address = (...schemes: readonly [string, ...ReadonlyArray<string>]) => {
  const pattern = `^(?:${schemes.join("|")})://[^\\s\\x00-\\x20]+$`
  const form = new RegExp(pattern, "u")
  const message = `must be an ${schemes.join(" or ")} address of at most ${longestAddress} characters`
  return Schema.String.check(
    Schema.makeFilter(
      (text: string) =>
        text.length <= longestAddress && form.test(text) && text.isWellFormed() && URL.canParse(text) || message,
      { toJsonSchema: () => ({ pattern, maxLength: longestAddress }) }
    )
  )
}

/** The URL of a file that the provider downloads. */
export const Link = address("https")

const file = {
  /** The id of one of our files. */
  media: Schema.optionalKey(MediaId),
  link: Schema.optionalKey(Link)
}

const caption = { caption: Schema.optionalKey(PlainText.between(1, 1024)) }
const filename = { filename: Schema.optionalKey(PlainText.between(1, 240)) }

interface Given {
  readonly media?: string
  readonly link?: string
}

/** Requires exactly one of `media` and `link`. */
const one = Schema.makeFilter(({ link, media }: Given) =>
  (media === undefined) !== (link === undefined) || (media === undefined
    ? "either media or link is required"
    : { path: ["link"], issue: "only one of media and link may be given" })
)

/** A file without a caption: a sticker, or the image or video of a header. */
export const Plain = Schema.Struct(file).check(one)

/** An image or a video, with an optional caption. */
export const Captioned = Schema.Struct({ ...file, ...caption }).check(one)

/** An audio file. With `voice` it is shown as a voice message, and must be Opus. */
export const Recording = Schema.Struct({ ...file, voice: Schema.optionalKey(Schema.Boolean) }).check(one)

/** A document, with an optional caption and filename. */
export const Document = Schema.Struct({ ...file, ...caption, ...filename }).check(one)

/** A document in a header. */
export const HeaderDocument = Schema.Struct({ ...file, ...filename }).check(one)

/** A file of any of these kinds. */
export type FileContent = typeof Document.Type | typeof Recording.Type
