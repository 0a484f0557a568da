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
      checks.assertInvalid(yield* listed(server, "?limit=0"), "invalid_field", "limit")
      checks.assertInvalid(yield* listed(server, "?tatus=x"), "unknown_field", "tatus")
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
