/**
 * The content of a template's form (a draft): made from a template, and turned into the provider's components. Pure.
 */
import type { CreateTemplate, TemplateDetail } from "@wac/client/internal"
import { placeholdersOf } from "@wac/core/templates/Placeholders"
import * as TemplateNames from "@wac/core/templates/TemplateNames"
import * as TemplateRules from "@wac/core/templates/TemplateRules"
import { Problem } from "../ui/Problem.ts"

type Component = CreateTemplate["components"][number]
type Button = Extract<Component, { readonly type: "BUTTONS" }>["buttons"][number]
type Header = Extract<Component, { readonly type: "HEADER" }>
/** The category of a template, by which the provider sets its rules and prices. */
export type Category = CreateTemplate["category"]
/** The kind of a template's header, or `NONE` without one. */
export type HeaderKind = "NONE" | Header["format"]

/** The kinds of headers, with their names. */
export const headerKinds: { readonly [Kind in HeaderKind]: string } = {
  NONE: "None",
  TEXT: "Text",
  IMAGE: "Image",
  VIDEO: "Video",
  DOCUMENT: "Document",
  LOCATION: "Location"
}

/** The kinds of buttons that the form can make. The button of authentication templates is made separately. */
export type ButtonKind = Exclude<Button["type"], "OTP">

/** The fields of a button, with the provider's names. */
export type ButtonField = "text" | "url" | "phone_number" | "example" | "flow_id"

/** The fields of each kind of button. A URL also has an example if it has a placeholder. */
export const buttonFields: { readonly [Kind in ButtonKind]: ReadonlyArray<ButtonField> } = {
  QUICK_REPLY: ["text"],
  URL: ["text", "url"],
  PHONE_NUMBER: ["text", "phone_number"],
  COPY_CODE: ["example"],
  VOICE_CALL: ["text"],
  FLOW: ["text", "flow_id"],
  CATALOG: ["text"],
  MPM: ["text"],
  SPM: ["text"]
}

/** A button in the form. */
export interface ButtonDraft {
  /** Identifies the button in the form; the provider does not get it. */
  readonly key: number
  readonly kind: ButtonKind
  readonly values: { readonly [Field in ButtonField]?: string }
  /** The button's other fields at the provider, which the form only keeps. */
  readonly rest: object
}

/** The values of the form's fields. */
export interface Draft {
  readonly name: string
  readonly language: string
  readonly category: Category
  readonly header: {
    readonly kind: HeaderKind
    readonly text: string
    readonly example: string
    /** The id of the sample file. */
    readonly media: string
  }
  readonly body: string
  /** Examples of the body's placeholders. */
  readonly examples: { readonly [placeholder: string]: string }
  readonly footer: string
  readonly buttons: ReadonlyArray<ButtonDraft>
  /** The fields of an authentication template, which has no texts of its own. */
  readonly code: { readonly isWarning: boolean; readonly minutes: string; readonly label: string }
}

/** The draft of a new template. */
export const empty: Draft = {
  name: "",
  language: "en_US",
  category: "utility",
  header: { kind: "NONE", text: "", example: "", media: "" },
  body: "",
  examples: {},
  footer: "",
  buttons: [],
  code: { isWarning: true, minutes: "", label: "" }
}

/** The format of the placeholders: `named` if there are any and each is a word, otherwise `positional`. */
export const formatOf = ({ body, header }: Draft): "positional" | "named" => {
  const names = placeholdersOf(`${body}\n${header.kind === "TEXT" ? header.text : ""}`)
  return names.length > 0 && names.every((name) => !/^\d+$/.test(name)) ? "named" : "positional"
}

/** Whether a header of this kind contains a file. */
export const isFile = (kind: HeaderKind): boolean => kind !== "NONE" && kind !== "TEXT" && kind !== "LOCATION"

/** The name of the next placeholder of the body: a number, or a word if the format is `named`. */
export const nextPlaceholder = (draft: Draft): string => {
  const names = placeholdersOf(draft.body)
  return formatOf(draft) === "named" ? `value_${names.length + 1}` : `${names.length + 1}`
}

type Format = ReturnType<typeof formatOf>

/** The example field of a header or body; none without placeholders. */
const exampleOf = <Field extends "header_text" | "body_text">(
  field: Field,
  format: Format,
  names: ReadonlyArray<string>,
  values: ReadonlyArray<string>
) =>
  names.length === 0 ? {} : {
    example: format === "named"
      ? { [`${field}_named_params`]: names.map((name, i) => ({ param_name: name, example: values[i] })) }
      : { [field]: field === "header_text" ? values : [values] }
  }

const buttonOf = ({ kind, rest, values }: ButtonDraft, or: string): Button => ({
  ...rest,
  type: kind,
  ...Object.fromEntries(buttonFields[kind].map((field) => [field, values[field] || or])),
  ...(kind === "URL" && placeholdersOf(values.url ?? "").length > 0 ? { example: [values.example || or] } : {})
} as Button)

const ofCode = ({ isWarning, label, minutes }: Draft["code"]): ReadonlyArray<Component> => [
  { type: "BODY", ...(isWarning ? { add_security_recommendation: true } : {}) },
  ...(minutes === "" ? [] : [{ type: "FOOTER" as const, code_expiration_minutes: Number(minutes) }]),
  { type: "BUTTONS", buttons: [{ type: "OTP", otp_type: "COPY_CODE", ...(label === "" ? {} : { text: label }) }] }
]

const ofHeader = ({ example, kind, media, text }: Draft["header"], format: Format, or: string): Header => {
  if (kind === "TEXT") {
    const names = placeholdersOf(text)
    return {
      type: "HEADER",
      format: kind,
      text: text || or,
      ...exampleOf("header_text", format, names, names.map(() => example || or))
    }
  }
  return {
    type: "HEADER",
    format: kind as Exclude<HeaderKind, "NONE">,
    ...(isFile(kind) ? { example: { media: media || or } } : {})
  }
}

/**
 * The provider's components of a draft, in a fixed order, with examples in the given format. Empty required fields
 * become `or`.
 */
export const componentsOf = (draft: Draft, format: Format, or = ""): ReadonlyArray<Component> => {
  if (draft.category === "authentication") return ofCode(draft.code)
  const { body, buttons, examples, footer, header } = draft
  const names = placeholdersOf(body)
  return [
    ...(header.kind === "NONE" ? [] : [ofHeader(header, format, or)]),
    {
      type: "BODY",
      text: body || or,
      ...exampleOf("body_text", format, names, names.map((name) => examples[name] || or))
    },
    ...(footer === "" ? [] : [{ type: "FOOTER" as const, text: footer }]),
    ...(buttons.length === 0
      ? []
      : [{ type: "BUTTONS" as const, buttons: buttons.map((button) => buttonOf(button, or)) }])
  ]
}

/** The path of a draft's component in the request. */
export const pathOf = (draft: Draft, type: Component["type"]): string =>
  `components[${componentsOf(draft, "positional", "…").findIndex((component) => component.type === type)}]`

/** The problem of a name or language that does not have the required form; none while the text is empty. */
const misshapen = (param: "name" | "language", text: string): Problem | undefined => {
  const { message, pattern } = TemplateNames[param]
  return text === "" || pattern.test(text) ? undefined : new Problem(param, message)
}

/**
 * The first problem of a draft for which the provider would refuse it, by the service's rules; ignores empty fields.
 */
export const problemOf = (draft: Draft, parameterFormat: Format): Problem | undefined => {
  const { category, language, name } = draft
  const wrong = misshapen("name", name) ?? misshapen("language", language)
  if (wrong !== undefined) return wrong
  const problem = TemplateRules.problemOf({
    category,
    parameterFormat,
    // the browser itself asks for empty required fields
    components: componentsOf(draft, parameterFormat, "…")
  })
  return problem && new Problem(problem.param, problem.message)
}

type Json = { readonly [name: string]: unknown }

const fieldsOf = (json: unknown): Json => typeof json === "object" && json !== null ? json as Json : {}
const listOf = (json: unknown): ReadonlyArray<unknown> => Array.isArray(json) ? json : []
const textOf = (json: unknown): string => typeof json === "string" ? json : ""

/** The example of each placeholder in a text, from either format. */
const examplesOf = (text: string, inOrder: unknown, named: unknown): { readonly [placeholder: string]: string } => ({
  ...Object.fromEntries(placeholdersOf(text).map((name, i) => [name, textOf(listOf(inOrder)[i])])),
  ...Object.fromEntries(
    listOf(named).map(fieldsOf).map((one) => [textOf(one["param_name"]), textOf(one["example"])])
  )
})

const buttonDraft = (json: unknown, key: number): ButtonDraft => {
  const { example, text, type, ...rest } = fieldsOf(json)
  const kind = textOf(type).toUpperCase() as ButtonKind
  const { flow_id, phone_number, url, ...others } = rest
  const values = { text, url, phone_number, flow_id, example: listOf(example)[0] ?? example }
  return {
    key,
    kind,
    values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, textOf(value)])),
    rest: others
  }
}

/** The draft with the content of a template. The sample file of its header has to be given again. */
export const draftOf = ({ category, components, language, name }: TemplateDetail): Draft => {
  const of = (type: string): Json =>
    components.map(fieldsOf).find((component) => textOf(component["type"]).toUpperCase() === type) ?? {}
  const [header, body, footer] = [of("HEADER"), of("BODY"), of("FOOTER")]
  const buttons = listOf(of("BUTTONS")["buttons"])
  const [inHeader, inBody] = [fieldsOf(header["example"]), fieldsOf(body["example"])]
  const [headerText, text] = [textOf(header["text"]), textOf(body["text"])]
  const minutes = footer["code_expiration_minutes"]
  return {
    name,
    language,
    category: category as Category,
    header: {
      kind: "type" in header ? (textOf(header["format"]).toUpperCase() || "TEXT") as HeaderKind : "NONE",
      text: headerText,
      example: Object.values(
        examplesOf(headerText, inHeader["header_text"], inHeader["header_text_named_params"])
      )[0] ?? "",
      media: ""
    },
    body: text,
    examples: examplesOf(text, listOf(inBody["body_text"])[0], inBody["body_text_named_params"]),
    footer: textOf(footer["text"]),
    buttons: category === "authentication" ? [] : buttons.map(buttonDraft),
    code: {
      isWarning: body["add_security_recommendation"] === true,
      minutes: typeof minutes === "number" ? `${minutes}` : "",
      label: textOf(fieldsOf(buttons[0])["text"])
    }
  }
}

const known: ReadonlyArray<string> = ["HEADER", "BODY", "FOOTER", "BUTTONS"]

/** The name of the first part of a template that the form cannot edit; `undefined` if it can edit all parts. */
export const beyondForm = ({ category, components }: TemplateDetail): string | undefined => {
  const isCode = category === "authentication"
  if (!isCode && category !== "marketing" && category !== "utility") return `the category ${category}`
  for (const component of components.map(fieldsOf)) {
    const type = textOf(component["type"]).toUpperCase()
    if (!known.includes(type)) return type.toLowerCase().replaceAll("_", " ")
    const format = textOf(component["format"]).toUpperCase()
    if (format !== "" && !(format in headerKinds)) return `a header of the format ${format.toLowerCase()}`
    for (const button of listOf(component["buttons"])) {
      const kind = textOf(fieldsOf(button)["type"]).toUpperCase()
      // a code that is handed over to an app needs fields that the form does not have
      const isHandedOver = isCode && /ONE_TAP|ZERO_TAP/.test(JSON.stringify(button))
      if (isHandedOver || (!isCode && !(kind in buttonFields))) {
        return `a button of the kind ${kind.toLowerCase().replaceAll("_", " ")}`
      }
    }
  }
  return undefined
}
