import { assert, describe, it } from "@effect/vitest"
import { account, change, type Json, now, post, readChange, readPost, skipped } from "./posts.ts"

const named = {
  message_template_id: 1689556908129832,
  message_template_name: "order_update",
  message_template_language: "en_US"
}

const template = (change: object, language = "en_US") => ({
  _tag: "Template",
  providerAccountId: account,
  name: "order_update",
  language,
  at: now - 300_000,
  change
})
const listed = { _tag: "TemplatesChanged", providerAccountId: account }

const status = (event: string, more: { readonly [name: string]: Json } = {}) =>
  readChange("message_template_status_update", { ...named, event, reason: "NONE", ...more })

describe("a template's status", () => {
  it("a status with which a template may be sent or be a new one also has the templates listed", () => {
    for (
      const [event, status_] of [
        ["APPROVED", "approved"],
        ["REINSTATED", "approved"],
        ["PENDING", "pending"],
        ["IN_APPEAL", "in_appeal"]
      ] as const
    ) assert.deepStrictEqual<unknown>(status(event), [template({ status: status_, rejectionReason: null }), listed])
  })

  it("a status with which a template may not be sent applies immediately, without a list that could be older", () => {
    for (const event of ["PAUSED", "DISABLED", "ARCHIVED", "PENDING_DELETION", "DELETED"]) {
      assert.deepStrictEqual<unknown>(status(event), [
        template({ status: event.toLowerCase(), rejectionReason: null })
      ])
    }
    assert.deepStrictEqual<unknown>(
      status("REJECTED", { reason: "INVALID_FORMAT", message_template_category: "MARKETING", rejection_info: {} }),
      [template({ status: "rejected", rejectionReason: "invalid_format", category: "marketing" })]
    )
    assert.deepStrictEqual<unknown>(status("REJECTED", { reason: null }), [
      template({ status: "rejected", rejectionReason: null })
    ])
  })

  it("an event that is no status has the templates listed, and a flagged or locked template is still sent", () => {
    for (const event of ["FLAGGED", "LOCKED", "LIMIT_EXCEEDED", "SOMETHING_NEW"]) {
      assert.deepStrictEqual<unknown>(status(event), [listed])
    }
  })
})

describe("a template's other changes", () => {
  it("a change of quality is read, even under the field of the status as in Meta's example", () => {
    for (const field of ["message_template_quality_update", "message_template_status_update"]) {
      assert.deepStrictEqual<unknown>(
        readChange(field, { ...named, previous_quality_score: "GREEN", new_quality_score: "YELLOW" }),
        [template({ quality: "yellow" })]
      )
    }
  })

  it("a change of category is the category that the template has, not the announced one", () => {
    assert.deepStrictEqual<unknown>(
      readChange("template_category_update", { ...named, previous_category: "UTILITY", new_category: "MARKETING" }),
      [template({ category: "marketing" })]
    )
    assert.deepStrictEqual<unknown>(
      readChange("template_category_update", {
        ...named,
        new_category: "UTILITY",
        correct_category: "MARKETING",
        category_update_timestamp: now / 1000 + 86_400
      }),
      [template({ category: "utility" })]
    )
  })

  it("a change of components has the templates listed", () => {
    assert.deepStrictEqual<unknown>(
      readChange("message_template_components_update", { ...named, message_template_element: "Hello {{1}}" }),
      [listed]
    )
  })
})

describe("a template", () => {
  it("a template's language is written as in lists and sends", () => {
    assert.deepStrictEqual<unknown>(
      status("PAUSED", { message_template_language: "en-US" }),
      [template({ status: "paused", rejectionReason: null })]
    )
    assert.deepStrictEqual<unknown>(
      status("PAUSED", { message_template_language: "pt" }),
      [template({ status: "paused", rejectionReason: null }, "pt")]
    )
  })

  it("a change of a template without a name or a language has all templates listed", () => {
    for (const missing of ["message_template_name", "message_template_language"]) {
      assert.deepStrictEqual<unknown>(status("PAUSED", { [missing]: null }), [listed])
    }
  })

  it("a change of a template without an account is ignored", () => {
    const value = { ...named, event: "PAUSED" }
    assert.deepStrictEqual(readPost(post({ changes: [change("message_template_status_update", value)] })), [
      skipped("template:without_account")
    ])
  })
})
