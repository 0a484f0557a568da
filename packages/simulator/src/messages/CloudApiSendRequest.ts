/** Parses the body of a send, and makes the checks that need nothing but the body. */
import * as Errors from "../CloudApiErrors.ts"
import * as Contents from "./CloudApiContents.ts"
import * as Recipient from "./CloudApiRecipient.ts"

/** A valid body. */
export interface SendRequest {
  /** The recipient as given: a number, or a business-scoped user id. */
  readonly to: string
  readonly userId: boolean
  readonly type: string
  readonly content: { readonly [name: string]: unknown }
  readonly reference: string | undefined
}

const types = new Set([
  "text",
  "template",
  "image",
  "audio",
  "video",
  "document",
  "sticker",
  "location",
  "contacts",
  "interactive",
  "reaction"
])

const longestText = 4096
const longestName = 512

const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const missing = (name: string) => Errors.refusal({ code: 131008, details: `Parameter '${name}' is mandatory` })
const wrong = (details: string) => Errors.refusal({ code: 131009, details })

const inText = (content: { readonly [name: string]: unknown }): Errors.Refusal | undefined => {
  if (content.body === undefined || content.body === "") return missing("text['body']")
  if (typeof content.body !== "string") return Errors.badParameter("Param text['body'] must be a string.")
  return content.body.length > longestText
    ? Errors.refusal({
      code: 100,
      details: `Param text['body'] must be at most ${longestText} characters long.`
    })
    : undefined
}

const inTemplate = (content: { readonly [name: string]: unknown }): Errors.Refusal | undefined => {
  if (typeof content.name !== "string" || content.name === "") return missing("template['name']")
  if (content.name.length > longestName) return wrong("Template name is too long")
  const language = content.language
  if (!isObject(language) || typeof language.code !== "string") return missing("template['language']['code']")
  return content.components === undefined || Array.isArray(content.components)
    ? undefined
    : Errors.badParameter("Param template['components'] must be an array.")
}

/** Parses a body. Returns the request, or the refusal for the first mistake. */
export const read = (body: string): SendRequest | Errors.Refusal => {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch {
    return Errors.badParameter("Invalid parameter")
  }
  if (!isObject(json)) return Errors.badParameter("Invalid parameter")
  if (json.messaging_product === undefined) {
    return Errors.badParameter("The parameter messaging_product is required.")
  }
  if (json.messaging_product !== "whatsapp") {
    return Errors.badParameter("Param messaging_product must be one of {WHATSAPP}.")
  }
  const to = json.to ?? json.recipient
  if (to === undefined || to === "") return Errors.badParameter("The parameter to is required.")
  const userId = json.to === undefined
  if (typeof to !== "string") return Errors.badParameter("Param to must be a string.")
  if (userId ? !Recipient.isUserId(to) : Recipient.digitsOf(to) === undefined) {
    return wrong(`${to} is not a valid ${userId ? "user id" : "phone number"}`)
  }
  const type = json.type ?? "text"
  if (typeof type !== "string" || !types.has(type)) return Errors.refusal({ code: 131051 })
  const content = json[type]
  if (content === undefined) return missing(type)
  if (type !== "contacts" && !isObject(content)) return Errors.badParameter(`Param ${type} must be a JSON object.`)
  const reference = json.biz_opaque_callback_data
  if (reference !== undefined && typeof reference !== "string") {
    return Errors.badParameter("Param biz_opaque_callback_data must be a string.")
  }
  const request = { to, userId, type, content: isObject(content) ? content : {}, reference }
  const problem = type === "text"
    ? inText(request.content)
    : type === "template"
    ? inTemplate(request.content)
    : Contents.refused(type, content)
  return problem ?? request
}
