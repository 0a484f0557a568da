/**
 * The templates of a workspace, as the dashboard shows and syncs them.
 */
import { assert, describe, it } from "@effect/vitest"
import { Provider, type Template } from "@wac/core"
import { SandboxProvider } from "@wac/sandbox"
import { Effect, Layer } from "effect"
import * as checks from "../checks.ts"
import { call, ready, send } from "../harness.ts"

type Server = Pick<checks.Ready, "session" | "url">

const listed = ({ session, url }: Server, query = "") => call(`${url}/internal/templates${query}`, { headers: session })

const sync = ({ session, url }: Server) =>
  call(`${url}/internal/templates/sync`, { method: "POST", headers: { ...session, "sec-fetch-site": "same-origin" } })

const change = ({ session, url }: Server, method: string, path: string, body?: object) =>
  call(`${url}/internal/templates${path}`, {
    method,
    headers: { ...session, "sec-fetch-site": "same-origin" },
    ...(body === undefined ? {} : { body })
  })

const greeting = {
  name: "greeting",
  language: "en_US",
  category: "utility",
  components: [{ type: "BODY", text: "Hi {{1}}, welcome.", example: { body_text: [["Ana"]] } }]
}

/** The sandbox with other templates. */
const listing = (
  templates: Effect.Effect<ReadonlyArray<Template.ProviderTemplate>, Provider.TemplatesUnavailable>
) => ({
  provider: Layer.effect(
    Provider.Provider,
    Effect.map(
      Provider.Provider,
      (sandbox) => Provider.Provider.of({ ...sandbox, templates: () => templates })
    )
  ).pipe(Layer.provide(SandboxProvider.layer))
})

const picture: Template.ProviderTemplate = {
  providerTemplateId: "1",
  name: "picture",
  language: "pt_BR",
  category: "utility",
  status: "approved",
  parameterFormat: "positional",
  components: [{ type: "HEADER", format: "IMAGE" }, { type: "BODY", text: "Olá {{1}}" }],
  quality: null,
  rejectionReason: null
}

describe.concurrent("templates", () => {
  it.live("templates are shown by page and filter", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const all = yield* listed(server)
      assert.strictEqual(all.status, 200, all.text)
      assert.strictEqual(all.body.data.length, 5)
      const one = yield* listed(server, "?limit=1")
      assert.deepStrictEqual(one.body.data, all.body.data.slice(0, 1))
      assert.isTrue(one.body.hasMore)
      const rest = yield* listed(server, `?cursor=${one.body.nextCursor}`)
      assert.deepStrictEqual(rest.body, { data: all.body.data.slice(1), hasMore: false, nextCursor: null })
      const rejected = yield* listed(server, "?status=rejected")
      assert.deepStrictEqual(rejected.body.data.map(({ name }: { readonly name: string }) => name), ["rejected_offer"])
      const found = yield* listed(server, "?nameContains=order")
      assert.deepStrictEqual(found.body.data.map(({ name }: { readonly name: string }) => name), ["order_update"])
      assert.deepStrictEqual((yield* listed(server, "?nameContains=order&name=promo")).body.data, [])
      checks.assertInvalid(yield* listed(server, "?nameContains="), "invalid_field", "nameContains")
      checks.assertInvalid(yield* listed(server, "?limit=0"), "invalid_field", "limit")
      checks.assertInvalid(yield* listed(server, "?tatus=x"), "unknown_field", "tatus")
    }))

  it.live("a template is created, sent, changed and deleted, which the audit tells", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const created = yield* change(server, "POST", "", greeting)
      assert.strictEqual(created.status, 201, created.text)
      const { id, syncedAt: _, ...shown } = created.body
      assert.deepStrictEqual(shown, {
        ...greeting,
        status: "approved",
        parameterFormat: "positional",
        variables: ["1"],
        unfillable: null,
        quality: null,
        rejectionReason: null,
        providerAccountId: "sandbox",
        providerTemplateId: "sandbox_greeting_en_US"
      })
      const sent = yield* send(server, {
        to: "+15551234567",
        type: "template",
        template: { name: "greeting", language: "en_US", bodyParams: ["Ana"] }
      })
      assert.strictEqual(sent.status, 200, sent.text)
      checks.assertInvalid(
        yield* change(server, "POST", "", { ...greeting, category: "marketing" }),
        "invalid_field",
        "name"
      )

      const edited = yield* change(server, "PATCH", `/${id}`, { components: [{ type: "BODY", text: "Welcome." }] })
      assert.strictEqual(edited.status, 200, edited.text)
      assert.deepStrictEqual([edited.body.id, edited.body.variables], [id, []])
      yield* sync(server)
      assert.strictEqual((yield* listed(server, "?name=greeting")).body.data[0].id, id)

      const read = yield* listed(server, `/${id}`)
      assert.strictEqual(read.status, 200, read.text)
      assert.deepStrictEqual(read.body, (yield* listed(server, "?name=greeting")).body.data[0])

      assert.strictEqual((yield* change(server, "DELETE", `/${id}`)).status, 204)
      yield* sync(server)
      assert.deepStrictEqual((yield* listed(server, "?name=greeting")).body.data, [])
      for (const gone of [id, "tpl_nothing"]) {
        checks.assertError(yield* listed(server, `/${gone}`), 404, { code: "not_found" })
        checks.assertError(yield* change(server, "DELETE", `/${gone}`), 404, { code: "not_found" })
        checks.assertError(yield* change(server, "PATCH", `/${gone}`, { category: "utility" }), 404, {
          code: "not_found"
        })
      }
      const audit = yield* call(`${server.url}/internal/audit?target=${id}`, { headers: server.session })
      assert.deepStrictEqual(
        audit.body.data.map(({ action, detail }: { readonly action: string; readonly detail: object }) => [
          action,
          detail
        ]),
        ["template.remove", "template.edit", "template.create"].map((action) => [
          action,
          { name: "greeting", language: "en_US" }
        ])
      )
    }))

  it.live("a template beyond the provider's limits is refused with the field's path", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const [body] = greeting.components
      for (
        const [param, fields] of [
          ["name", { name: "Greeting" }],
          ["category", { category: "news" }],
          ["components", { components: [{ type: "FOOTER", text: "Bye" }] }],
          ["components[0].text", { components: [{ ...body, text: "{{1}}" }] }],
          ["components[0].example.body_text", { components: [{ type: "BODY", text: "Hi {{1}}, hello." }] }],
          ["components[1].buttons[0].text", {
            components: [body, { type: "BUTTONS", buttons: [{ type: "QUICK_REPLY", text: "x".repeat(26) }] }]
          }],
          ["messageSendTtlSeconds", { messageSendTtlSeconds: 60_000 }],
          ["phoneNumberId", { phoneNumberId: "pn_nothing" }]
        ] as const
      ) {
        checks.assertInvalid(
          yield* change(server, "POST", "", { ...greeting, ...fields }),
          "invalid_field",
          param
        )
      }
    }))

  it.live("a sync replaces the templates with the provider's, and shows which ones bodyParams cannot fill", () =>
    Effect.gen(function*() {
      let templates: ReadonlyArray<Template.ProviderTemplate> = []
      const server = yield* ready({ adapters: listing(Effect.sync(() => templates)) })
      assert.deepStrictEqual((yield* listed(server)).body.data, [])
      templates = [picture]
      const answer = yield* sync(server)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.body.count, 1)
      const { body: { data: [{ id, syncedAt, ...shown }] } } = yield* listed(server)
      assert.match(id, /^tpl_/)
      // each account's listing begins a moment after the sync, and the background may have listed once more
      assert.isAtLeast(Date.parse(syncedAt), Date.parse(answer.body.syncedAt))
      assert.deepStrictEqual(shown, {
        ...picture,
        providerAccountId: "sandbox",
        variables: ["1"],
        unfillable: "its header needs a value of its own: image"
      })
      const refused = yield* send(server, {
        to: "+15551234567",
        type: "template",
        template: { name: "picture", language: "pt_BR", bodyParams: ["Ana"] }
      })
      checks.assertError(refused, 400, {
        code: "invalid_body",
        reason: "template_params_mismatch",
        param: "template.header.image"
      })
    }))

  it.live("templates stay unchanged if the provider cannot list them", () =>
    Effect.gen(function*() {
      let reason: "provider_unavailable" | "provider_error" | undefined
      const templates = Effect.suspend(() =>
        reason === undefined
          ? Effect.succeed([picture])
          : Effect.fail(
            new Provider.TemplatesUnavailable({ reason, message: "the provider did not list the templates" })
          )
      )
      const server = yield* ready({ adapters: listing(templates) })
      yield* sync(server)
      const before = (yield* listed(server)).body
      for (reason of ["provider_unavailable", "provider_error"] as const) {
        checks.assertError(yield* sync(server), 502, { code: "server_error", reason })
      }
      assert.deepStrictEqual((yield* listed(server)).body, before)
      assert.strictEqual(before.data.length, 1)
    }))
})
