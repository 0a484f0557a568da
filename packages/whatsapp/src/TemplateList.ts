/**
 * Reads the list of an account's templates, page by page.
 */
import { Provider, Template } from "@wac/core"
import { Effect, Option } from "effect"
import * as Payload from "./Payload.ts"
import { lower } from "./PostSource.ts"

/**
 * The requested fields of each template, and the size of a page: more than the default of 25, less than Meta refuses.
 */
export const query = {
  fields: "id,name,language,status,category,parameter_format,components,quality_score,rejected_reason",
  limit: "100"
} as const

/** An account has 6,000 templates at most. */
const maxPages = 100

const Item = Payload.shape({
  id: Payload.word,
  name: Payload.word,
  language: Payload.word,
  status: lower,
  category: lower,
  parameter_format: lower,
  components: Payload.list,
  quality_score: (json) => lower(Payload.fields(json)?.["score"] ?? json),
  rejected_reason: lower
})

/** The format of the placeholders. Older templates do not report it; then the names of the placeholders decide. */
const formatOf = (
  { components, parameter_format }: Pick<ReturnType<typeof Item>, "components" | "parameter_format">
): "positional" | "named" =>
  parameter_format === "named" ||
    (parameter_format === undefined && Template.variablesOf(components).some((name) => !/^\d+$/.test(name)))
    ? "named"
    : "positional"

/** A template as the API shows it; undefined if it cannot be read. */
export const templateOf = (json: Payload.Json): Template.ProviderTemplate | undefined => {
  const item = Item(json)
  const { category, components, id, language, name, quality_score, rejected_reason, status } = item
  return id === undefined || name === undefined || language === undefined || status === undefined ||
      category === undefined
    ? undefined
    : {
      providerTemplateId: id,
      name,
      language,
      category,
      status,
      parameterFormat: formatOf(item),
      components,
      quality: quality_score === undefined || quality_score === "unknown" ? null : quality_score,
      rejectionReason: rejected_reason ?? null
    }
}

const Page = Payload.shape({
  data: (json) => Array.isArray(json) ? Payload.list(json) : undefined,
  paging: Payload.shape({ cursors: Payload.shape({ after: Payload.text }), next: Payload.text })
})

/**
 * The cursor of the next page: none after the last page; undefined if there is a next page without a cursor. Only the
 * cursor is used of the next page's address, because our token must go to no host but the configured one.
 */
const cursorOf = ({ paging: { cursors, next } }: ReturnType<typeof Page>): Option.Option<string> | undefined => {
  if (next === undefined) return Option.none()
  const after = cursors.after || (URL.canParse(next) ? new URL(next).searchParams.get("after") : null)
  return after ? Option.some(after) : undefined
}

/** The list failed. `reason` is `provider_unavailable` if there was no response, else `provider_error`. */
export const unavailable = (why: string, reason: Provider.TemplatesUnavailable["reason"] = "provider_error") =>
  new Provider.TemplatesUnavailable({ reason, message: `the provider did not list the templates: ${why}` })

/**
 * Lists all templates of all pages. Fails instead of returning a part of the list, because templates outside it count
 * as deleted. Unreadable templates are skipped, and their number is logged. A template on two pages is listed once.
 */
export const all = Effect.fnUntraced(function*(
  fetchPage: (after: string | undefined) => Effect.Effect<Payload.Json | undefined, Provider.TemplatesUnavailable>
) {
  const found = new Map<string, Template.ProviderTemplate>()
  const seen = new Set<string>()
  let unreadable = 0
  let after: string | undefined
  do {
    const page = Page(yield* fetchPage(after))
    if (page.data === undefined) return yield* unavailable("an answer is not a page of a list")
    for (const one of page.data) {
      const template = templateOf(one)
      if (template === undefined) unreadable++
      else found.set(`${template.name} ${template.language}`, template)
    }
    const cursor = cursorOf(page)
    if (cursor === undefined) return yield* unavailable("a page does not say which is the next")
    after = Option.getOrUndefined(cursor)
    if (after === undefined) break
    if (seen.has(after) || seen.size + 1 >= maxPages) return yield* unavailable("its pages do not end")
    seen.add(after)
  } while (true)
  if (unreadable > 0) yield* Effect.logWarning(`${unreadable} templates could not be read and are skipped`)
  return [...found.values()]
})
