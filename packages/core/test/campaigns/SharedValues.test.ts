import { assert, describe, it } from "@effect/vitest"
import type { Schema } from "effect"
import * as Recipient from "../../src/campaigns/Recipient.ts"
import * as SharedValues from "../../src/campaigns/SharedValues.ts"
import type { TemplateContent } from "../../src/messages/TemplateContent.ts"
import * as TemplateFit from "../../src/messages/TemplateFit.ts"
import { variablesOf } from "../../src/templates/Template.ts"
import { unfillableOf } from "../../src/templates/TemplateSlots.ts"
import { customer, template } from "../samples.ts"

const name = { name: "order", language: "en_US" }

/** Whether all recipients share what does not fit, in a recipient's message. */
const isShared = (
  shared: Omit<TemplateContent, "name" | "language">,
  row: Omit<Recipient.Recipient, "to">,
  components: ReadonlyArray<Schema.Json>,
  category = "utility"
) => {
  const campaign = { template: { ...name, ...shared }, templateB: null, categories: [category], from: null }
  const made = Recipient.messageTo(campaign, { to: customer, ...row })
  if ("missing" in made) return assert.fail(`${made.missing} is missing`)
  const listed = { category, components }
  const present = template({ ...listed, variables: variablesOf(components), unfillable: unfillableOf(listed) })
  const misfit = TemplateFit.misfit(present, made.message.template)
  assert.isDefined(misfit)
  return SharedValues.isRefused(campaign, { content: made.message, variant: null }, {
    reason: "template_params_mismatch",
    param: misfit.param
  })
}

const body = (text: string) => ({ type: "BODY", text })
const buttons = (...all: ReadonlyArray<Schema.Json>) => ({ type: "BUTTONS", buttons: all })
const reply = { type: "QUICK_REPLY", text: "Yes" }
const link = { type: "URL", text: "Go", url: "https://example.com/{{1}}" }

describe("values that no longer fit a campaign's template", () => {
  it("another number of values, another header and another required button concern all recipients", () => {
    const two = { bodyParams: ["1", "{{name}}"] }
    const variables = { name: "Ann" }
    assert.isTrue(isShared(two, { variables }, [body("{{1}}")]))
    assert.isTrue(isShared({}, { bodyParams: ["1", "2"] }, [body("{{1}}")]))
    assert.isTrue(isShared({ bodyParams: { name: "{{name}}" } }, { variables }, [body("{{first}}")]))
    assert.isTrue(isShared({ bodyParams: { name: "x" } }, {}, [body("Hello.")]))
    assert.isTrue(isShared({ header: { text: "{{name}}" } }, { variables }, [
      { type: "HEADER", format: "IMAGE" },
      body("Hello.")
    ]))
    assert.isTrue(isShared({}, { header: { text: "x" } }, [body("Hello.")]))
    assert.isTrue(isShared({}, {}, [body("Hello."), buttons(link)]))
    assert.isTrue(isShared({}, { buttons: [{ index: 0, urlSuffix: "a" }] }, [body("Hello."), buttons(reply)]))
    assert.isTrue(isShared({}, {}, [body("Hello."), { type: "LIMITED_TIME_OFFER" }]))
  })

  it("the value of a button that needs none concerns only the recipient that has it, unless the campaign gives it", () => {
    const own = { buttons: [{ index: 0, payload: "own" }] }
    assert.isFalse(isShared({}, own, [body("Hello.")]))
    assert.isFalse(isShared({}, own, [body("Hello."), buttons(link)]))
    assert.isFalse(isShared({ buttons: [{ index: 1, payload: "x" }] }, own, [body("Hello."), buttons(link)]))
    const variables = { name: "Ann" }
    assert.isTrue(isShared({ buttons: [{ index: 0, payload: "{{name}}" }] }, { variables }, [body("Hello.")]))
  })

  it("a text that the provider does not take concerns only the recipient that has it, unless the campaign gives it", () => {
    const variables = { name: "more than fifteen characters" }
    const code = [body("{{1}}")]
    assert.isFalse(isShared({ bodyParams: ["{{name}}"] }, { variables }, code, "authentication"))
    assert.isFalse(isShared({ bodyParams: ["1"] }, { bodyParams: [variables.name] }, code, "authentication"))
    assert.isTrue(isShared({ bodyParams: [variables.name] }, {}, code, "authentication"))
    assert.isFalse(isShared({ bodyParams: ["{{name}}"] }, { variables: { name: "a\nb" } }, code))
    assert.isFalse(isShared({ bodyParams: { a: "{{name}}" } }, { variables: { name: "a\nb" } }, [body("{{a}}")]))
  })

  it("a refusal of something else concerns all recipients only if it names a file that they share", () => {
    const campaign = { template: name, templateB: null, categories: null }
    const message = { content: { type: "template", to: customer, template: name }, variant: null } as const
    assert.isFalse(SharedValues.isRefused(campaign, message, { reason: "invalid_field", param: "template.header" }))
    assert.isFalse(SharedValues.isRefused(campaign, message, { reason: "invalid_field" }))
  })
})
