import { assert, describe, it } from "@effect/vitest"
import * as Split from "../../src/campaigns/Split.ts"
import * as Variant from "../../src/campaigns/Variant.ts"
import type { Contact } from "../../src/contacts/Contact.ts"
import type { CampaignId } from "../../src/Id.ts"

const templateOf = (name: string) => ({ name, language: "en_US" })

const campaign = {
  id: "cmp_01ARZ3NDEKTSV4RRFFQ69G5FAV" as CampaignId,
  template: templateOf("one"),
  templateB: templateOf("other")
}

const customers = Array.from({ length: 10_000 }, (_, n) => `+1202555${`${n}`.padStart(4, "0")}` as Contact["key"])

describe("the variants of a template", () => {
  it("each variant has half of the customers, and always the same ones", () => {
    const variants = customers.map((customer) => Variant.of(campaign, customer))
    assert.deepStrictEqual(customers.map((customer) => Variant.of(campaign, customer)), variants)
    // five standard deviations
    assert.approximately(variants.filter((variant) => variant === "b").length, 5000, 250)
  })

  it("the variant of a customer does not depend on the holdout or on other campaigns", () => {
    const others = [
      (customer: Contact["key"]) => Split.isIn(0.5, "holdout", campaign.id, customer),
      (customer: Contact["key"]) => Variant.of({ ...campaign, id: "cmp_2" as CampaignId }, customer) === "b"
    ]
    for (const other of others) {
      const both = customers.filter((customer) => other(customer) && Variant.of(campaign, customer) === "b")
      assert.approximately(both.length, 2500, 250)
    }
  })

  it("a campaign with one template has no variants", () => {
    const { template } = campaign
    const plain = { ...campaign, templateB: null }
    assert.isNull(Variant.of(plain, customers[0]!))
    assert.deepStrictEqual(Variant.templatesOf(plain), [template])
    assert.strictEqual(Variant.templatesOf(plain)[Variant.placeOf(null)], template)
    assert.strictEqual(Variant.templatesOf(campaign)[Variant.placeOf("a")], template)
    assert.strictEqual(Variant.templatesOf(campaign)[Variant.placeOf("b")], campaign.templateB)
  })
})
