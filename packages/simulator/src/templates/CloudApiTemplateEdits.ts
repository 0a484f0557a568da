/** Creates, changes and deletes templates of the simulated Cloud API, by upstream's rules. */
import { Result, Schema } from "effect"
import * as Errors from "../CloudApiErrors.ts"
import { type Component, Template } from "./CloudApiTemplates.ts"

const Draft = Schema.Struct({
  name: Schema.String,
  language: Schema.String,
  category: Schema.Literals(["MARKETING", "UTILITY", "AUTHENTICATION"]),
  parameter_format: Schema.optionalKey(Template.fields.parameter_format),
  components: Template.fields.components,
  message_send_ttl_seconds: Schema.optionalKey(Schema.Int)
})

const Edit = Schema.Struct({
  category: Schema.optionalKey(Draft.fields.category),
  components: Schema.optionalKey(Template.fields.components),
  message_send_ttl_seconds: Schema.optionalKey(Schema.Int)
})

const draftOf = Schema.decodeResult(Schema.fromJsonString(Draft))
const editOf = Schema.decodeResult(Schema.fromJsonString(Edit))

const bad = Errors.badTemplate

/** The number of different placeholders in a text. */
const placeholdersOf = (text: string): number => new Set(text.match(/\{\{\s*\w+\s*\}\}/g)).size

/** How many sample values an example has: a list, a list in a list, or named ones. */
const samplesIn = (example: Schema.Json | undefined, names: ReadonlyArray<string>): number => {
  if (typeof example !== "object" || example === null || Array.isArray(example)) return 0
  const found = names.map((name) => (example as Schema.JsonObject)[name]).find(Array.isArray)
  const list: ReadonlyArray<Schema.Json> = found ?? []
  return Array.isArray(list[0]) ? list[0].length : list.length
}

/** Source: help.chakrahq.com, "Template Errors", 2388040 and 2388047. */
const longest: { readonly [type: string]: readonly [characters: number, subcode: number] } = {
  HEADER: [60, 2388047],
  BODY: [1024, 2388072],
  FOOTER: [60, 2388073]
}

const judge = (components: ReadonlyArray<Component>, category: string): Errors.Refusal | undefined => {
  const body = components.find(({ type }) => type === "BODY")
  if (body === undefined) return bad(2388043, "Missing component", "Message templates must have a body.")
  if (category !== "AUTHENTICATION" && body.text === undefined) {
    return bad(2388043, "Missing field", "Component of type BODY is missing expected field(s) (text)")
  }
  for (const { buttons, example, format = "TEXT", text = "", type } of components) {
    const [characters = Infinity, subcode = 0] = longest[type] ?? []
    if ([...text].length > characters) {
      return bad(subcode, "Message too long", `The text of the ${type} has more than ${characters} characters.`)
    }
    const count = placeholdersOf(text)
    if (type === "FOOTER" && count > 0) return bad(2388073, "Footer format", "A footer cannot have variables.")
    if (type === "HEADER" && count > 1) return bad(2388047, "Header format", "A header can have one variable.")
    if (type === "BODY" && /^\s*\{\{|\}\}\s*$/.test(text)) {
      return bad(2388299, "Leading or trailing variables", "Variables can't be at the start or end of the template.")
    }
    const names = type === "HEADER"
      ? ["header_text", "header_text_named_params"]
      : ["body_text", "body_text_named_params"]
    if (count > 0 && samplesIn(example, names) !== count) {
      return bad(2388043, "Missing sample", `Component of type ${type} is missing expected field(s) (example)`)
    }
    if (
      type === "HEADER" && format !== "TEXT" && format !== "LOCATION" && samplesIn(example, ["header_handle"]) !== 1
    ) {
      return bad(2388043, "Missing sample", "Component of type HEADER is missing expected field(s) (example)")
    }
    if (buttons !== undefined && buttons.length > 10) {
      return bad(2388040, "Too many buttons", "A template has ten buttons at most.")
    }
    const label = buttons?.find((button) => typeof button.text === "string" && [...button.text].length > 25)
    if (label !== undefined) return bad(2388040, "Button text too long", "A button's text has 25 characters at most.")
  }
  return undefined
}

const unreadable = () => Errors.badParameter("Invalid parameter")

/** Makes a new template, still to be reviewed, or refuses it. */
export const created = (
  templates: ReadonlyArray<Template>,
  body: string,
  id: string,
  now: number
): Template | Errors.Refusal => {
  const read = draftOf(body)
  if (Result.isFailure(read)) return unreadable()
  const { category, components, language, name, parameter_format = "POSITIONAL" } = read.success
  if (!/^[a-z0-9_]{1,512}$/.test(name)) {
    return bad(2388026, "Invalid name", "A name has lower-case letters, digits and underscores only.")
  }
  if (templates.some((known) => known.name === name && known.language === language)) {
    return bad(2388024, "Content in This Language Already Exists", `There is already ${language} content for ${name}.`)
  }
  return judge(components, category) ?? {
    id,
    name,
    language,
    status: "PENDING",
    category,
    parameter_format,
    components,
    quality_score: { score: "UNKNOWN", date: Math.floor(now / 1000) },
    rejected_reason: "NONE"
  }
}

const editable = new Set(["APPROVED", "REJECTED", "PAUSED"])

/** Makes the changed template, to be reviewed again, or refuses the change. */
export const edited = (template: Template, body: string): Template | Errors.Refusal => {
  const read = editOf(body)
  if (Result.isFailure(read)) return unreadable()
  const { category = template.category, components = template.components } = read.success
  if (!editable.has(template.status)) {
    return bad(2388025, "Template cannot be edited", "Only approved, rejected and paused templates can be edited.")
  }
  if (template.status === "APPROVED" && category !== template.category) {
    return bad(2388025, "Category cannot be edited", "The category of an approved template cannot be changed.")
  }
  return judge(components, category) ??
    { ...template, category, components, status: "PENDING", rejected_reason: "NONE" }
}

/** The templates to delete: one by its id and name, or all languages of a name. */
export const deleted = (
  templates: ReadonlyArray<Template>,
  query: URLSearchParams
): ReadonlyArray<Template> | Errors.Refusal => {
  const [id, name] = [query.get("hsm_id"), query.get("name")]
  if (name === null) return Errors.badParameter("The parameter name is required.")
  const found = templates.filter((known) => known.name === name && (id === null || known.id === id))
  return found.length > 0
    ? found
    : bad(2593002, "Message template not found", `The message template ${name} wasn't found for this account.`)
}
