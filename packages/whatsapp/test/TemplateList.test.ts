import { assert, describe, it } from "@effect/vitest"
import type { Template } from "@wac/core"
import { Effect, type Schema } from "effect"
import * as TemplateList from "../src/TemplateList.ts"

const item = (name: string, changes: { readonly [field: string]: Schema.Json } = {}) => ({
  id: `id_${name}`,
  name,
  language: "en_US",
  status: "APPROVED",
  category: "UTILITY",
  components: [{ type: "BODY", text: `About ${name}` }],
  ...changes
})

/** The pages by cursor; `""` is the first. */
const listed = (pages: { readonly [after: string]: Schema.Json }) => {
  const asked: Array<string> = []
  const all = TemplateList.all((after = "") => {
    asked.push(after)
    return Effect.succeed(pages[after])
  })
  return { all, asked }
}

const next = (after: string, url = `https://graph.example/v25.0/1/message_templates?limit=100&after=${after}`) => ({
  cursors: { before: "b", after },
  next: url
})

const one = (fields: { readonly [field: string]: Schema.Json }) =>
  Effect.map(listed({ "": { data: [item("a", fields)] } }).all, ([template]) => template)

describe("the list of templates", () => {
  it.effect("the list is read to its last page", () =>
    Effect.gen(function*() {
      const { all, asked } = listed({
        "": { data: [item("a"), item("b")], paging: next("c1") },
        c1: { data: [], paging: next("c2") },
        c2: { data: [item("c")], paging: { cursors: { before: "b", after: "c3" } } }
      })
      assert.deepStrictEqual((yield* all).map(({ name }) => name), ["a", "b", "c"])
      assert.deepStrictEqual(asked, ["", "c1", "c2"])
    }))

  it.effect("only the cursor is taken from the URL of the next page", () =>
    Effect.gen(function*() {
      const { all, asked } = listed({
        "": { data: [], paging: { next: "https://elsewhere.example/steal?after=c%201&access_token=t" } },
        "c 1": { data: [item("a")], paging: {} }
      })
      assert.strictEqual((yield* all).length, 1)
      assert.deepStrictEqual(asked, ["", "c 1"])
    }))

  it.effect("a template that moved between two pages is listed once, as on the later page", () =>
    Effect.gen(function*() {
      const { all } = listed({
        "": { data: [item("a"), item("a", { language: "pt_BR" })], paging: next("c1") },
        c1: { data: [item("a", { status: "PAUSED" })] }
      })
      assert.deepStrictEqual((yield* all).map(({ language, status }) => [language, status]), [
        ["en_US", "paused"],
        ["pt_BR", "approved"]
      ])
    }))

  const broken: ReadonlyArray<readonly [string, { readonly [after: string]: Schema.Json }]> = [
    ["pages in a circle", {
      "": { data: [], paging: next("a") },
      a: { data: [], paging: next("b") },
      b: {
        data: [],
        paging: next("a")
      }
    }],
    ["a next page without a cursor", { "": { data: [item("a")], paging: { next: "https://graph.example/x" } } }],
    ["a next page at no address", { "": { data: [item("a")], paging: { next: "?" } } }],
    ["a page that is none", { "": { data: [item("a")], paging: next("c1") }, c1: { error: { code: 1 } } }],
    ["a list that is none", { "": { data: {} } }],
    ["nothing", {}]
  ]
  for (const [name, pages] of broken) {
    it.effect(`the list fails as a whole for ${name}`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(listed(pages).all)
        assert.deepStrictEqual([error._tag, error.reason], ["TemplatesUnavailable", "provider_error"])
        assert.match(error.message, /^the provider did not list the templates: /)
      }))
  }

  it.effect("ends, however many pages there are", () =>
    Effect.gen(function*() {
      let pages = 0
      const error = yield* Effect.flip(
        TemplateList.all(() => Effect.succeed({ data: [], paging: next(`c${pages++}`) }))
      )
      assert.match(error.message, /do not end/)
      assert.strictEqual(pages, 100)
    }))

  it.effect("templates that cannot be read are left out", () =>
    Effect.gen(function*() {
      const { all } = listed({
        "": {
          data: [null, "x", item("a"), item("b", { language: null }), item(""), item("c", { id: {} })]
        }
      })
      assert.deepStrictEqual((yield* all).map(({ name }) => name), ["a"])
    }))
})

describe("a template of the list", () => {
  it.effect("a listed template has the core's words for its fields", () =>
    Effect.gen(function*() {
      const components: ReadonlyArray<Schema.Json> = [
        { type: "HEADER", format: "TEXT", text: "Hi" },
        { type: "BODY", text: "{{name}}", example: { body_text_named_params: [{ param_name: "name", example: "A" }] } }
      ]
      const expected: Template.ProviderTemplate = {
        providerTemplateId: "1",
        name: "a",
        language: "en_US",
        category: "marketing",
        status: "in_appeal",
        parameterFormat: "named",
        components,
        quality: "yellow",
        rejectionReason: "invalid_format"
      }
      assert.deepStrictEqual(
        yield* one({
          id: "1",
          status: "IN_APPEAL",
          category: "MARKETING",
          parameter_format: "NAMED",
          components,
          quality_score: { score: "YELLOW", date: 1_700_000_000 },
          rejected_reason: "INVALID_FORMAT",
          sub_category: "CUSTOM"
        }),
        expected
      )
    }))

  it.effect("a template has no quality and no reason for each of Meta's ways to say so", () =>
    Effect.gen(function*() {
      for (const none of [null, "NONE", "none", {}, []]) {
        const template = yield* one({ quality_score: none, rejected_reason: none })
        assert.deepInclude(template, { quality: null, rejectionReason: null })
      }
      for (const none of ["UNKNOWN", { score: "UNKNOWN" }, { score: null }, { score: "NONE" }]) {
        assert.deepInclude(yield* one({ quality_score: none }), { quality: null })
      }
      assert.deepInclude(yield* one({ quality_score: "GREEN" }), { quality: "green" })
    }))

  it.effect("a template without a format gets it from its placeholders", () =>
    Effect.gen(function*() {
      const formatOf = (text: string, parameter_format?: string) =>
        Effect.map(
          one({
            components: [{ type: "BODY", text }],
            ...(parameter_format === undefined ? {} : { parameter_format })
          }),
          (template) => template?.parameterFormat
        )
      assert.strictEqual(yield* formatOf("{{1}} {{2}}"), "positional")
      assert.strictEqual(yield* formatOf("{{first_name}}"), "named")
      assert.strictEqual(yield* formatOf("nothing"), "positional")
      assert.strictEqual(yield* formatOf("{{first_name}}", "POSITIONAL"), "positional")
      assert.strictEqual(yield* formatOf("nothing", "named"), "named")
    }))
})
