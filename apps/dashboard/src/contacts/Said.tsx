/** Shows the content of a message, in either direction, as text: what a customer wrote is never markup. */
import type { ConversationMessage } from "@wac/client/internal"
import type { ReactNode } from "react"
import { Id } from "../ui/Table.tsx"
import { capitalized } from "../ui/Words.ts"

type Fields = { readonly [name: string]: unknown }

/** The fields of a value if it is an object; otherwise no fields. Pure. */
export const fieldsOf = (json: unknown): Fields => typeof json === "object" && json !== null ? json as Fields : {}

/** The text or number at a path of fields, as text; empty if there is none. */
const word = (json: unknown, ...path: ReadonlyArray<string>): string => {
  const found = path.reduce<unknown>((inner, name) => fieldsOf(inner)[name], json)
  return typeof found === "string" || typeof found === "number" ? String(found) : ""
}

const joined = (...words: ReadonlyArray<string>): string => words.filter((one) => one !== "").join(" · ")

/** The value of a placeholder as text; for a currency or time value, its fallback text. Pure. */
export const textOf = (value: unknown): string =>
  typeof value === "string"
    ? value
    : word(value, "currency", "fallback_value") || word(value, "date_time", "fallback_value")

/** The values of a template, with the names of their placeholders or parts. */
const valuesOf = (template: Fields): ReadonlyArray<readonly [name: string, value: string]> => {
  const params = template["bodyParams"]
  const body = Array.isArray(params)
    ? params.map((value, i) => [`${i + 1}`, textOf(value)] as const)
    : Object.entries(fieldsOf(params)).map(([name, value]) => [name, textOf(value)] as const)
  const rest = ["header", "buttons", "cards", "limitedTimeOffer"].flatMap((name) =>
    template[name] === undefined ? [] : [[name, JSON.stringify(template[name])] as const]
  )
  return [...body, ...rest]
}

const Template = ({ template }: { readonly template: Fields }) => {
  const values = valuesOf(template)
  return (
    <>
      <span className="block">Template {joined(word(template, "name"), word(template, "language"))}</span>
      {values.length === 0 ? null : (
        <dl className="mt-1 grid grid-cols-[auto_minmax(0,1fr)] gap-x-2 text-[13px]">
          {values.map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-muted">{name}</dt>
              <dd className="break-words">{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  )
}

const files = new Set(["image", "audio", "video", "document", "sticker"])

const File = ({ file, type }: { readonly file: Fields; readonly type: string }) => {
  const id = word(file, "media_id") || word(file, "media")
  const link = word(file, "link")
  return (
    <>
      <span className="block">{joined(capitalized(type), word(file, "filename"), word(file, "mime_type"))}</span>
      {word(file, "caption") === "" ? null : <span className="block">{word(file, "caption")}</span>}
      {id === "" ? null : <Id>{id}</Id>}
      {link === "" ? null : <span className="block text-[13px] break-all text-muted">{link}</span>}
    </>
  )
}

/** The text of an interactive message: the customer's choice, or the text above the buttons. */
const interactiveOf = (content: Fields): string => {
  const type = word(content, "type")
  return word(content, type, "title") || word(content, type, "body") || word(content, "body", "text") ||
    `Interactive: ${type}`
}

const wordsOf = (type: string, content: Fields): string => {
  switch (type) {
    case "text":
      return word(content, "body")
    case "button":
      return word(content, "text") || word(content, "payload")
    case "interactive":
      return interactiveOf(content)
    case "reaction":
      return word(content, "emoji") || "Took a reaction back"
    case "location":
      return joined(
        "Location",
        word(content, "name"),
        word(content, "address"),
        `${word(content, "latitude")}, ${word(content, "longitude")}`
      )
    case "edit":
      return `Edited: ${wordsOf(word(content, "message", "type"), contentOf(fieldsOf(content["message"])))}`
    case "revoke":
      return "Deleted a message"
    case "unsupported":
      return joined("Not supported", word(content, "type"))
    default:
      return capitalized(type)
  }
}

/** The content within a message, which stands under the name of the message's type. */
const contentOf = (message: Fields): Fields => fieldsOf(message[word(message, "type")])

/** The content of a message. */
export const Said = ({ content: json, type }: Pick<ConversationMessage, "content" | "type">): ReactNode => {
  const content = fieldsOf(json)
  if (Array.isArray(json)) {
    return joined("Contacts", ...json.map((card) => word(card, "name", "formatted_name")))
  }
  if (Object.keys(content).length === 0) {
    return <span className="text-muted">{capitalized(type)}: what it said was deleted</span>
  }
  if (type === "template") return <Template template={content} />
  return files.has(type) ? <File type={type} file={content} /> : wordsOf(type, content)
}
