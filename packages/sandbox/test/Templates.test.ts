import { assert, it } from "@effect/vitest"
import { Template } from "@wac/core"
import { Effect, Schema } from "effect"
import { sender, start } from "./sandbox.ts"

it.effect("the sandbox lists its five templates", () =>
  Effect.gen(function*() {
    const { provider } = yield* start()
    assert.strictEqual(provider.name, "sandbox")
    const listed = yield* provider.templates(sender)
    assert.deepStrictEqual(
      listed.map(({ category, components, language, name, rejectionReason, status }) => ({
        name,
        language,
        category,
        status,
        variables: Template.variablesOf(components),
        rejected: rejectionReason !== null
      })),
      [
        { name: "hello_world", category: "utility", status: "approved", variables: [], rejected: false },
        { name: "order_update", category: "utility", status: "approved", variables: ["1", "2"], rejected: false },
        { name: "promo", category: "marketing", status: "approved", variables: ["1"], rejected: false },
        { name: "pending_review", category: "utility", status: "pending", variables: ["1"], rejected: false },
        { name: "rejected_offer", category: "marketing", status: "rejected", variables: [], rejected: true }
      ].map((expected) => ({ language: "en_US", ...expected }))
    )
    assert.strictEqual(new Set(listed.map(({ providerTemplateId }) => providerTemplateId)).size, 5)
    assert.isTrue(listed.every(({ language }) => Schema.is(Template.Language)(language)))
    assert.deepStrictEqual(yield* provider.templates(sender), listed)
  }))
