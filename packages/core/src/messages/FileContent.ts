/**
 * The content of messages with a file (contract §9): one of our files by id (contract §10), or one that the provider
 * downloads from a link. Defines schemas only.
 */
import { Schema } from "effect"
import { MediaId } from "../Id.ts"
import * as PlainText from "../PlainText.ts"
import * as Url from "../Url.ts"

/** A URL of at most 2,048 characters with one of these schemes. */
export const address = (...schemes: readonly [string, ...ReadonlyArray<string>]) => {
  const pattern = `^(?:${schemes.join("|")})://[^\\s\\x00-\\x20]+$`
  const form = new RegExp(pattern, "u")
  const message = `must be an ${schemes.join(" or ")} address of at most ${Url.maxLength} characters`
  return Schema.String.check(
    Schema.makeFilter(
      (text: string) =>
        text.length <= Url.maxLength && form.test(text) && text.isWellFormed() && URL.canParse(text) || message,
      { toJsonSchema: () => ({ pattern, maxLength: Url.maxLength }) }
    )
  )
}

/** The URL of a file that the provider downloads. */
export const Link = address("https")

const file = {
  media: Schema.optionalKey(MediaId).annotateKey({ description: "`med_…`: a file that is stored in the service" }),
  link: Schema.optionalKey(Link).annotateKey({
    description: `A file that the provider fetches: \`https\`, at most ${Url.maxLength.toLocaleString("en")} characters`
  })
}

const caption = {
  caption: Schema.optionalKey(PlainText.between(1, 1024)).annotateKey({ description: "At most 1,024 characters" })
}
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
export const Plain = Schema.Struct(file).check(one).annotate({
  identifier: "FileContent",
  description: "A file: a stored one by its id, or one that the provider fetches from a link. Exactly one of the two."
})

/** An image or a video, with an optional caption. */
export const Captioned = Schema.Struct({ ...file, ...caption }).check(one).annotate({
  identifier: "CaptionedContent",
  description: "A picture (JPEG, PNG: 5 MB) or a video (MP4, 3GPP: 16 MB)."
})

/** An audio file. With `voice` it is shown as a voice message, and must be Opus. */
export const Recording = Schema.Struct({
  ...file,
  voice: Schema.optionalKey(Schema.Boolean).annotateKey({ description: "Shown as a voice message; Opus only" })
}).check(one).annotate({
  identifier: "AudioContent",
  description: "An audio file (AAC, AMR, MP3, M4A, or Ogg with Opus: 16 MB)."
})

/** A document, with an optional caption and filename. */
export const Document = Schema.Struct({ ...file, ...caption, ...filename }).check(one).annotate({
  identifier: "DocumentContent",
  description: "A document of any type, up to 100 MB."
})

/** A document in a header. */
export const HeaderDocument = Schema.Struct({ ...file, ...filename }).check(one).annotate({
  identifier: "HeaderDocument",
  description: "A document above the text."
})

/** A file of any of these kinds. */
export type FileContent = typeof Document.Type | typeof Recording.Type
