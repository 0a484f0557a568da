/** Templates created, changed and deleted at the simulated Cloud API. */
import { assert, it } from "@effect/vitest"
import type { Id, Media, Template } from "@wac/core"
import { Effect, Stream } from "effect"
import { simulated } from "./simulation.ts"

const draft = {
  name: "greeting",
  language: "en_US",
  category: "utility",
  components: [{ type: "BODY", text: "Hi {{1}}, welcome.", example: { body_text: [["Ana"]] } }]
} as const

const stored = (template: Template.ProviderTemplate): Template.Template => ({
  ...template,
  id: "tpl_01K8ZPZ1P6E8F0G4H5J7K9M1TV" as Id.TemplateId,
  workspaceId: "wks_01K8ZPZ1P6E8F0G4H5J7K9M1TV" as Id.WorkspaceId,
  providerAccountId: "1",
  variables: [],
  unfillable: null,
  syncedAt: 0
})

const unreviewed = { settings: { reviewAfter: null } }

it.live("a template is created for review, listed, changed after its approval and deleted in one language", () =>
  Effect.gen(function*() {
    const { api, number, provider } = yield* simulated(unreviewed)
    const editor = provider.templateEditor!
    const of = Effect.map(
      provider.templates(number),
      (all) => all.filter(({ name }) => name === "greeting").map(({ language, status }) => `${language} ${status}`)
    )
    const made = yield* editor.create(number, draft)
    assert.deepInclude(made, { ...draft, status: "pending", parameterFormat: "positional" })
    yield* editor.create(number, { ...draft, language: "pt_BR" })
    assert.deepStrictEqual(yield* of, ["en_US pending", "pt_BR pending"])

    const early = yield* Effect.flip(editor.edit(number, stored(made), { category: "marketing" }))
    assert.strictEqual(early._tag, "InvalidBody")
    yield* api.changeTemplate({ name: "greeting", language: "en_US", status: "APPROVED" })
    const components = [{ type: "BODY", text: "Welcome." }] as const
    const edited = yield* editor.edit(number, stored(made), { components })
    assert.deepInclude(edited, { providerTemplateId: made.providerTemplateId, components, status: "pending" })

    yield* editor.remove(number, stored(made))
    assert.deepStrictEqual(yield* of, ["pt_BR pending"])
    // once more, as after an answer that was lost
    yield* editor.remove(number, stored(made))
    assert.deepStrictEqual(yield* of, ["pt_BR pending"])
  }))

const pdf = new TextEncoder().encode("%PDF-1.7 a sample")

const sample: Media.Media = {
  id: "med_01K8ZPZ1P6E8F0G4H5J7K9M1TV" as Id.MediaId,
  workspaceId: "wks_01K8ZPZ1P6E8F0G4H5J7K9M1TV" as Id.WorkspaceId,
  mimeType: "application/pdf",
  size: pdf.length,
  isAnimated: false,
  isOpus: false,
  sha256: "0",
  filename: "sample.pdf",
  createdAt: 0,
  lastUsedAt: 0
}

it.live("a sample file is uploaded whole, and its handle is taken in a header", () =>
  Effect.gen(function*() {
    const { number, provider } = yield* simulated(unreviewed)
    const { create, uploadSample } = provider.templateEditor!
    const bytes = Stream.make(pdf.subarray(0, 5), pdf.subarray(5))
    const handle = yield* uploadSample({ sender: number, media: sample, bytes })
    assert.match(handle, /^4::/)
    const header = { type: "HEADER", format: "DOCUMENT", example: { header_handle: [handle] } } as const
    const made = yield* create(number, { ...draft, components: [header, ...draft.components] })
    assert.deepStrictEqual(made.components[0], header)

    const text = yield* Effect.flip(
      uploadSample({ sender: number, media: { ...sample, mimeType: "text/plain" }, bytes })
    )
    assert.strictEqual(text._tag, "InvalidBody")
  }))

it.live("a large sample file's handle has a line for each part, and all lines are passed on", () =>
  Effect.gen(function*() {
    const { number, provider } = yield* simulated(unreviewed)
    const { create, uploadSample } = provider.templateEditor!
    const parts = Array.from({ length: 20 }, () => new Uint8Array(64 * 1024))
    const media: Media.Media = { ...sample, mimeType: "video/mp4", size: 20 * 64 * 1024, filename: "sample.mp4" }
    const handle = yield* uploadSample({ sender: number, media, bytes: Stream.fromIterable(parts) })
    assert.lengthOf(new Set(handle.split("\n")), 5)
    for (const line of handle.split("\n")) assert.match(line, /^4::.{180,190}$/)
    const header = { type: "HEADER", format: "VIDEO", example: { header_handle: [handle] } } as const
    const made = yield* create(number, { ...draft, components: [header, ...draft.components] })
    assert.deepStrictEqual(made.components[0], header)
  }))

it.live("a template is approved by itself after a while", () =>
  Effect.gen(function*() {
    const { api, number, provider } = yield* simulated({ settings: { reviewAfter: 0 } })
    yield* provider.templateEditor!.create(number, draft)
    const status = Effect.map(api.templates, (all) => all.find(({ name }) => name === "greeting")?.status)
    yield* Effect.repeat(Effect.tap(status, () => Effect.yieldNow), {
      until: (now) => now === "APPROVED",
      times: 10_000
    })
    assert.strictEqual(yield* status, "APPROVED")
  }))

it.live("a template that upstream refuses is refused with its words", () =>
  Effect.gen(function*() {
    const { number, provider } = yield* simulated(unreviewed)
    const { create } = provider.templateEditor!
    yield* create(number, draft)
    const taken = yield* Effect.flip(create(number, draft))
    assert.strictEqual(taken._tag, "InvalidBody")
    assert.strictEqual(taken.provider?.code, "100")
    assert.include(taken.provider?.message, "There is already en_US content for greeting.")
  }))

it.live("an edit of a template that upstream no longer has is refused with words about the template", () =>
  Effect.gen(function*() {
    const { number, provider } = yield* simulated(unreviewed)
    const editor = provider.templateEditor!
    const made = yield* editor.create(number, draft)
    yield* editor.remove(number, stored(made))
    const refused = yield* Effect.flip(editor.edit(number, stored(made), { category: "marketing" }))
    assert.deepInclude(refused, { _tag: "Forbidden", reason: "template_not_found" })
    assert.include(refused.message, "template")
    assert.notInclude(refused.message, "number")
    assert.strictEqual(refused.provider?.code, "100")
  }))

it.live("a lost answer is an error, and the template is listed afterwards", () =>
  Effect.gen(function*() {
    const { api, number, provider } = yield* simulated(unreviewed)
    yield* api.fault({ next: [{ kind: "reset_after" }], target: "all" })
    const lost = yield* Effect.flip(provider.templateEditor!.create(number, draft))
    assert.deepInclude(lost, { _tag: "ServerError", reason: "provider_unavailable" })
    assert.isTrue((yield* provider.templates(number)).some(({ name }) => name === "greeting"))
  }))
