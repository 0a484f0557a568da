/**
 * Message templates (specification §2, contract §7): approved upstream, referenced by name and language.
 */
import { Predicate, Schema } from "effect"
import type { TemplateId, WorkspaceId } from "./Id.ts"
import type { Instant } from "./Time.ts"

/** A template as the provider lists it. Words are in lower case; unknown ones are passed through. */
export interface ProviderTemplate {
  readonly providerTemplateId: string
  readonly name: string
  readonly language: string
  readonly category: string
  readonly status: string
  readonly parameterFormat: "positional" | "named"
  readonly components: ReadonlyArray<Schema.Json>
  readonly quality: string | null
  readonly rejectionReason: string | null
}

/** A template as we keep it. Name and language together are unique in a workspace. */
export interface Template extends ProviderTemplate {
  readonly id: TemplateId
  readonly workspaceId: WorkspaceId
  /** Names of the body's placeholders in order; see {@link variablesOf}. */
  readonly variables: ReadonlyArray<string>
  readonly syncedAt: Instant
}

/** `<ll>_<CC>` as specified, or the language alone: the upstream has such templates. Matched exactly. */
export const Language = Schema.String.check(
  Schema.isPattern(/^[a-z]{2,3}(_[A-Z]{2})?$/, { message: "must have the shape <ll>_<CC> or <ll>, such as en_US" })
)

/** The body's placeholders, each once, in the order in which `bodyParams` fills them. */
export const variablesOf = (components: ReadonlyArray<Schema.Json>): ReadonlyArray<string> => {
  const names = new Set<string>()
  for (const component of components) {
    if (
      Predicate.hasProperty(component, "type") && Predicate.hasProperty(component, "text") &&
      Predicate.isString(component.type) && component.type.toUpperCase() === "BODY" &&
      Predicate.isString(component.text)
    ) {
      for (const [, name] of component.text.matchAll(/\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g)) names.add(name!)
    }
  }
  // positional placeholders are filled by their number, wherever they stand in the text
  return [...names].sort((a, b) => /^\d+$/.test(a) && /^\d+$/.test(b) ? Number(a) - Number(b) : 0)
}

/** Whether an opted-out contact must not be sent it (contract §7). */
export const isMarketing = (template: Pick<Template, "category">): boolean => template.category === "marketing"
