/**
 * Message templates (specification §2, contract §7): approved by the provider and referenced by name and language. The
 * model and its rules; pure.
 */
import { Predicate, Schema } from "effect"
import type { TemplateId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import { placeholdersOf } from "./Placeholders.ts"
import * as TemplateNames from "./TemplateNames.ts"

/** How placeholders are named: by number or by word. */
export const ParameterFormat = Schema.Literals(["positional", "named"])
export type ParameterFormat = typeof ParameterFormat.Type

/** A template as the provider lists it. Enumerated values are in lower case; unknown ones are passed through. */
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

/** A stored template. Name and language together are unique in an account, and so among what a number can send. */
export interface Template extends ProviderTemplate {
  readonly id: TemplateId
  readonly workspaceId: WorkspaceId
  /** The account that owns it (`PhoneNumber.providerAccountId`). Only that account's numbers can send it. */
  readonly providerAccountId: string
  /** The names of the body's placeholders, in order; see {@link variablesOf}. */
  readonly variables: ReadonlyArray<string>
  /** Why `bodyParams` alone cannot fill it; see `TemplateSlots.unfillableOf`. */
  readonly unfillable: string | null
  /** When the last listing that contained it began. */
  readonly syncedAt: Instant
}

/** A change that the provider reports between two listings. Omitted fields stay. */
export type TemplateChange = Partial<Pick<ProviderTemplate, "status" | "category" | "quality" | "rejectionReason">>

/** The fields of a {@link TemplateChange}. */
export const changing = ["status", "category", "quality", "rejectionReason"] as const

/** For each field, the time of the provider's report, unless the listing is newer. */
export type ReportTimes = { readonly [Field in keyof TemplateChange]?: Instant }

/**
 * The precision of the provider's times, in milliseconds: they are whole seconds, so a change may seem to precede a
 * listing that it followed.
 */
export const timeUnit = 1000

const isAfterListing = (at: Instant, listedAt: Instant): boolean => at + timeUnit > listedAt

/** Applies a provider report of the time `at`. Fields that a listing or another report set later keep their values. */
export const observe = <A extends Pick<Template, "syncedAt"> & ProviderTemplate>(
  template: A,
  told: ReportTimes,
  change: TemplateChange,
  at: Instant
): { readonly template: A; readonly told: ReportTimes } => {
  const news = changing.filter((field) =>
    change[field] !== undefined && isAfterListing(at, template.syncedAt) && at >= (told[field] ?? at)
  )
  return {
    template: { ...template, ...Object.fromEntries(news.map((field) => [field, change[field]])) },
    told: { ...told, ...Object.fromEntries(news.map((field) => [field, at])) }
  }
}

/** Applies a listing, except for fields that the provider reported after the listing began. */
export const relist = (
  listed: ProviderTemplate,
  known: ProviderTemplate,
  told: ReportTimes,
  listedAt: Instant
): { readonly listed: ProviderTemplate; readonly told: ReportTimes } => {
  const later = changing.filter((field) => told[field] !== undefined && isAfterListing(told[field], listedAt))
  return {
    listed: { ...listed, ...Object.fromEntries(later.map((field) => [field, known[field]])) },
    told: Object.fromEntries(later.map((field) => [field, told[field]]))
  }
}

/** A template's language, such as `en_US`. It is matched exactly. */
export const Language = Schema.String.check(
  Schema.isPattern(TemplateNames.language.pattern, {
    message: TemplateNames.language.message,
    toJsonSchema: () => ({
      maxLength: TemplateNames.language.maxLength,
      pattern: TemplateNames.language.pattern.source
    })
  })
)

const typeOf = (component: Schema.Json): string | undefined =>
  Predicate.hasProperty(component, "type") && Predicate.isString(component.type)
    ? component.type.toUpperCase()
    : undefined

const hasOpenAddress = (button: Schema.Json): boolean =>
  Predicate.hasProperty(button, "url") && Predicate.isString(button.url) && placeholdersOf(button.url).length > 0

const buttonsOf = (component: Schema.Json): ReadonlyArray<Schema.Json> =>
  typeOf(component) === "BUTTONS" && Predicate.hasProperty(component, "buttons") && Array.isArray(component.buttons)
    ? component.buttons
    : []

/**
 * The index of the button that copies an authentication template's code. It is sent with the code too, the body's only
 * value. The provider lists it as a URL that ends with the code, and allows such templates no other URL buttons.
 * `undefined` if there is no such button.
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

/** Whether opted-out contacts must not receive it (contract §7). */
export const isMarketing = (template: Pick<Template, "category">): boolean => template.category === "marketing"

/** Whether the provider sends it only to phone numbers (contract §3). */
export const needsPhoneNumber = (template: Pick<Template, "category">): boolean =>
  template.category === "authentication"
