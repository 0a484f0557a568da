/**
 * The list of an account's templates, page by page.
 */
import { PlainText, Provider, Template } from "@wac/core"
import { Effect, Option, Predicate, Schema } from "effect"

/** What is asked of each template, and how many at a time: more than the default of 25, less than Meta refuses. */
export const query = {
  fields: "id,name,language,status,category,parameter_format,components,quality_score,rejected_reason",
  limit: "100"
} as const

/** An account has 6,000 templates at most. */
const maxPages = 100

const Word = PlainText.between(1, 512)

const Item = Schema.Struct({
  id: Word,
  name: Word,
  language: Word,
  status: Word,
  category: Word,
  parameter_format: Schema.optionalKey(Schema.Unknown),
  components: Schema.optionalKey(Schema.Array(Schema.Json)),
  quality_score: Schema.optionalKey(Schema.Unknown),
  rejected_reason: Schema.optionalKey(Schema.Unknown)
})
const item = Schema.decodeUnknownOption(Item)

const Page = Schema.Struct({
  data: Schema.Array(Schema.Unknown),
  paging: Schema.optionalKey(Schema.NullOr(Schema.Struct({
    cursors: Schema.optionalKey(Schema.Unknown),
    next: Schema.optionalKey(Schema.NullOr(Schema.String))
  })))
})
const page = Schema.decodeUnknownOption(Page)

const isWord = Schema.is(Word)

/** A word of Meta's in lower case; null for none, and for those that say none. */
const word = (u: unknown): string | null =>
  Predicate.isString(u) && isWord(u) && !["NONE", "UNKNOWN"].includes(u.toUpperCase()) ? u.toLowerCase() : null

const qualityOf = (u: unknown): string | null => word(Predicate.hasProperty(u, "score") ? u.score : u)

/** Templates made before formats were told have none; then the names of the placeholders tell. */
const formatOf = (u: unknown, components: ReadonlyArray<Schema.Json>): "positional" | "named" =>
  word(u) === "named" || (word(u) === null && Template.variablesOf(components).some((name) => !/^\d+$/.test(name)))
    ? "named"
    : "positional"

const templateOf = (u: unknown): Option.Option<Template.ProviderTemplate> =>
  Option.map(item(u), ({ category, components = [], id, language, name, ...rest }) => ({
    providerTemplateId: id,
    name,
    language,
    category: category.toLowerCase(),
    status: rest.status.toLowerCase(),
    parameterFormat: formatOf(rest.parameter_format, components),
    components,
    quality: qualityOf(rest.quality_score),
    rejectionReason: word(rest.rejected_reason)
  }))

/**
 * The cursor of the page after this one; undefined after the last. Only the cursor is taken from the address of the
 * next page: a call with our token goes nowhere but to the configured host.
 */
const cursorOf = ({ paging }: typeof Page.Type): Option.Option<string> | undefined => {
  if (paging?.next == null) return undefined
  const { cursors, next } = paging
  const after = Predicate.hasProperty(cursors, "after") ? cursors.after : undefined
  if (Predicate.isString(after) && after !== "") return Option.some(after)
  return Option.fromNullishOr(URL.canParse(next) ? new URL(next).searchParams.get("after") : undefined)
}

const unavailable = (why: string) =>
  new Provider.TemplatesUnavailable({ message: `the provider did not list the templates: ${why}` })

/**
 * Every template, of every page. Fails rather than to give a part of the list: what is not in it is taken for deleted.
 * A template that cannot be read is left out, and logged; one that moved between two pages is there once.
 */
export const all = Effect.fnUntraced(function*(
  fetchPage: (after: string | undefined) => Effect.Effect<unknown, Provider.TemplatesUnavailable>
) {
  const found = new Map<string, Template.ProviderTemplate>()
  const seen = new Set<string>()
  let unreadable = 0
  let after: string | undefined
  do {
    const read = page(yield* fetchPage(after))
    if (Option.isNone(read)) return yield* unavailable("an answer of it is not a page of a list")
    for (const one of read.value.data) {
      const template = templateOf(one)
      if (Option.isSome(template)) found.set(`${template.value.name} ${template.value.language}`, template.value)
      else unreadable++
    }
    const cursor = cursorOf(read.value)
    if (cursor !== undefined && Option.isNone(cursor)) {
      return yield* unavailable("a page does not say which is the next")
    }
    after = cursor?.value
    if (after === undefined) break
    if (seen.has(after) || seen.size + 1 >= maxPages) return yield* unavailable("its pages do not end")
    seen.add(after)
  } while (true)
  if (unreadable > 0) yield* Effect.logWarning(`${unreadable} templates could not be read and are left out`)
  return [...found.values()]
})
