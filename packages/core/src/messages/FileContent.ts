/**
 * Files that messages hold (contract §9): one of ours by its id (contract §10), or one that upstream fetches by a link.
 */
import { Schema } from "effect"
import { MediaId } from "../Id.ts"
import * as PlainText from "../PlainText.ts"

const longestAddress = 2048

/** An address of at most 2,048 characters, of one of these schemes. */
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

/** Where upstream fetches something. */
export const Link = address("https")

const file = {
  /** A file of ours. */
  media: Schema.optionalKey(MediaId),
  link: Schema.optionalKey(Link)
}

const caption = { caption: Schema.optionalKey(PlainText.between(1, 1024)) }
const filename = { filename: Schema.optionalKey(PlainText.between(1, 240)) }

interface Given {
  readonly media?: string
  readonly link?: string
}

/** Exactly one of the two says which file it is. */
const one = Schema.makeFilter(({ link, media }: Given) =>
  (media === undefined) !== (link === undefined) || (media === undefined
    ? "either media or link is required"
    : { path: ["link"], issue: "only one of media and link may be given" })
)

/** A file without words of its own: a sticker, and the picture or film in a header. */
export const Plain = Schema.Struct(file).check(one)

/** A picture or a film. */
export const Captioned = Schema.Struct({ ...file, ...caption }).check(one)

/** A recording; `voice` is one that is shown as spoken into the phone, and is Opus. */
export const Recording = Schema.Struct({ ...file, voice: Schema.optionalKey(Schema.Boolean) }).check(one)

/** A document. */
export const Document = Schema.Struct({ ...file, ...caption, ...filename }).check(one)

/** A document in a header. */
export const HeaderDocument = Schema.Struct({ ...file, ...filename }).check(one)

/** A file as any of these names it. */
export type FileContent = typeof Document.Type | typeof Recording.Type
