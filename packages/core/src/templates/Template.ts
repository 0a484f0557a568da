/**
 * Message templates (specification §2, contract §7): approved upstream, referenced by name and language.
 */
import { Predicate, Schema } from "effect"
import type { TemplateId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"

/** How placeholders are named: by their number, or by a word. */
export const ParameterFormat = Schema.Literals(["positional", "named"])
export type ParameterFormat = typeof ParameterFormat.Type

/** A template as the provider lists it. Words are in lower case; unknown ones are passed through. */
export interface ProviderTemplate {
  readonly providerTemplateId: string
  readonly name: string
  readonly language: string
  readonly category: string
  readonly status: string
  readonly parameterFormat: ParameterFormat
  readonly components: ReadonlyArray<Schema.Json>
  readonly quality: string | null
  readonly rejectionReason: string | null
}

/** A template as we keep it. Name and language together are unique in an account, and so in what a number can send. */
export interface Template extends ProviderTemplate {
  readonly id: TemplateId
  readonly workspaceId: WorkspaceId
  /** The account that it belongs to (`PhoneNumber.providerAccountId`); only the numbers of that can send it. */
  readonly providerAccountId: string
  /** Names of the body's placeholders in order; see {@link variablesOf}. */
  readonly variables: ReadonlyArray<string>
  /** Why `bodyParams` alone cannot fill it; see `TemplateSlots.unfillableOf`. */
  readonly unfillable: string | null
  /** When the listing began that it was last in. */
  readonly syncedAt: Instant
}

/** What upstream tells of a template between two listings; fields left out stay. */
export type TemplateChange = Partial<Pick<ProviderTemplate, "status" | "category" | "quality" | "rejectionReason">>

/** The fields of a {@link TemplateChange}. */
export const changing = ["status", "category", "quality", "rejectionReason"] as const

/** When upstream told each field, where that was not before the listing. */
export type Told = { readonly [Field in keyof TemplateChange]?: Instant }

/** Upstream's times of changes are in whole seconds, and so may seem to be of before a listing that they came after. */
export const timeUnit = 1000

const isAfterListing = (at: Instant, listedAt: Instant): boolean => at + timeUnit > listedAt

/** A template after upstream's word of the time `at`: fields that a listing or another word told later stay. */
export const observe = <A extends Pick<Template, "syncedAt"> & ProviderTemplate>(
  template: A,
  told: Told,
  change: TemplateChange,
  at: Instant
): { readonly template: A; readonly told: Told } => {
  const news = changing.filter((field) =>
    change[field] !== undefined && isAfterListing(at, template.syncedAt) && at >= (told[field] ?? at)
  )
  return {
    template: { ...template, ...Object.fromEntries(news.map((field) => [field, change[field]])) },
    told: { ...told, ...Object.fromEntries(news.map((field) => [field, at])) }
  }
}

/** A template as it was listed, but for what upstream told of the known one after the listing had begun. */
export const relist = (
  listed: ProviderTemplate,
  known: ProviderTemplate,
  told: Told,
  listedAt: Instant
): { readonly listed: ProviderTemplate; readonly told: Told } => {
  const later = changing.filter((field) => told[field] !== undefined && isAfterListing(told[field], listedAt))
  return {
    listed: { ...listed, ...Object.fromEntries(later.map((field) => [field, known[field]])) },
    told: Object.fromEntries(later.map((field) => [field, told[field]]))
  }
}

const language = /^[a-z]{2,3}(_[A-Z]{2})?$/u

/** `<ll>_<CC>` as specified, or the language alone: the upstream has such templates. Matched exactly. */
export const Language = Schema.String.check(
  Schema.isPattern(language, {
    message: "must have the shape <ll>_<CC> or <ll>, such as en_US",
    toJsonSchema: () => ({ maxLength: "fil_PH".length, pattern: language.source })
  })
)

const typeOf = (component: Schema.Json): string | undefined =>
  Predicate.hasProperty(component, "type") && Predicate.isString(component.type)
    ? component.type.toUpperCase()
    : undefined

/** The placeholders of a text, each once: by number, or in the order in which they stand. */
export const placeholdersOf = (text: string): ReadonlyArray<string> => {
  if (!text.includes("{{")) return []
  const names = new Set<string>()
  for (const [, name] of text.matchAll(/\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g)) names.add(name!)
  // positional placeholders are filled by their number, wherever they stand in the text
  return [...names].sort((a, b) => /^\d+$/.test(a) && /^\d+$/.test(b) ? Number(a) - Number(b) : 0)
}

const hasOpenAddress = (button: Schema.Json): boolean =>
  Predicate.hasProperty(button, "url") && Predicate.isString(button.url) && placeholdersOf(button.url).length > 0

const buttonsOf = (component: Schema.Json): ReadonlyArray<Schema.Json> =>
  typeOf(component) === "BUTTONS" && Predicate.hasProperty(component, "buttons") && Array.isArray(component.buttons)
    ? component.buttons
    : []

/**
 * The place of the button by which the customer takes the code of an authentication template over: it is sent with the
 * code too, the one value of the body. Upstream lists it as an address that ends with the code; it lets such templates
 * have no other addresses. Undefined where there is no such button.
 */
export const codeButtonOf = (
  { category, components }: Pick<ProviderTemplate, "category" | "components">
): number | undefined => {
  if (category !== "authentication" || variablesOf(components).length !== 1) return undefined
  const place = components.flatMap(buttonsOf).findIndex((button) => typeOf(button) === "OTP" || hasOpenAddress(button))
  return place < 0 ? undefined : place
}

/** The body's placeholders, each once, in the order in which `bodyParams` fills them. */
export const variablesOf = (components: ReadonlyArray<Schema.Json>): ReadonlyArray<string> => {
  const texts = components.flatMap((component) =>
    typeOf(component) === "BODY" && Predicate.hasProperty(component, "text") && Predicate.isString(component.text)
      ? [component.text]
      : []
  )
  return placeholdersOf(texts.join("\n"))
}

/** Whether an opted-out contact must not be sent it (contract §7). */
export const isMarketing = (template: Pick<Template, "category">): boolean => template.category === "marketing"
