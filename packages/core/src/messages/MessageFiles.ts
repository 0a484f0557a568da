/**
 * Lists the files that a message to be sent refers to by our ids (contract §9). Pure.
 */
import type { MediaId } from "../Id.ts"
import type * as Media from "../media/Media.ts"
import type { FileContent } from "./FileContent.ts"
import type { OutboundMessage } from "./Message.ts"
import type { TemplateContent } from "./TemplateContent.ts"

/** A file of ours in a message. */
export interface File {
  readonly id: MediaId
  readonly kind: Media.FileKind
  readonly param: string
  readonly isVoice: boolean
}

/** The kinds of messages and headers that hold one file. */
const fileKinds = ["image", "audio", "video", "document", "sticker"] as const satisfies ReadonlyArray<Media.FileKind>

/** A message with one file, or a header. */
type Holder = { readonly type?: string } & { readonly [Kind in Media.FileKind]?: FileContent }

/** A template, a card or an interactive message, which may have a header. */
interface Headed {
  readonly type?: string
  readonly header?: Holder
}

/** The files with one of our ids among these fields. */
const fileIn = (holder: Holder, param: string): ReadonlyArray<File> =>
  fileKinds.flatMap((kind) => {
    const file = holder[kind]
    return file?.media === undefined ? [] : [{
      id: file.media,
      kind,
      param: param === "" ? `${kind}.media` : `${param}.${kind}.media`,
      isVoice: "voice" in file && file.voice === true
    }]
  })

const inHeaders = (
  { header }: Headed,
  cards: ReadonlyArray<Headed>,
  of: string,
  ofCards: string
): ReadonlyArray<File> => [
  ...header === undefined ? [] : fileIn(header, `${of}.header`),
  ...cards.flatMap(({ header }, i) => header === undefined ? [] : fileIn(header, `${ofCards}[${i}].header`))
]

/** The files of ours that the values of a template refer to, with their fields. */
export const ofTemplate = (template: TemplateContent): ReadonlyArray<File> =>
  inHeaders(template, template.cards ?? [], "template", "template.cards")

/** The files of ours that a message refers to, with their fields. */
export const of = (message: OutboundMessage): ReadonlyArray<File> => {
  switch (message.type) {
    case "template":
      return ofTemplate(message.template)
    case "interactive": {
      const { interactive } = message
      const cards = interactive.type === "carousel" ? interactive.action.cards : []
      return inHeaders(interactive, cards, "interactive", "interactive.action.cards")
    }
    case "image":
    case "audio":
    case "video":
    case "document":
    case "sticker":
      return fileIn(message, "")
    case "text":
    case "location":
    case "contacts":
    case "reaction":
      return []
  }
}
