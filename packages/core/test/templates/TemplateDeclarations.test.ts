import { assert, it } from "vitest"
import * as TemplateDeclarations from "../../src/templates/TemplateDeclarations.ts"
import { template } from "../samples.ts"

it("the declaration has each approved template once, in order, with its placeholders", () => {
  const written = TemplateDeclarations.of([
    template({ name: "order_update", language: "en_US", variables: ["1", "2"] }),
    template({ name: "order_update", language: "de", variables: ["1"] }),
    template({ name: "hello", language: "en_US", variables: [] }),
    template({ name: "named", language: "en_US", parameterFormat: "named", variables: ["first_name"] }),
    template({ name: "pending", status: "pending" }),
    template({ name: "other", unfillable: "it needs a flow" })
  ])
  assert.strictEqual(
    written,
    `// Written by \`wac templates types\`; do not edit.
import type { TemplateValue } from "wac"

declare module "wac" {
  interface AccountTemplates {
    readonly "hello": {
      readonly "en_US": { readonly bodyParams?: readonly [] }
    }
    readonly "named": {
      readonly "en_US": { readonly bodyParams: readonly [TemplateValue] | { readonly "first_name": TemplateValue } }
    }
    readonly "order_update": {
      readonly "de": { readonly bodyParams: readonly [TemplateValue] }
      readonly "en_US": { readonly bodyParams: readonly [TemplateValue, TemplateValue] }
    }
  }
}
`
  )
  assert.strictEqual(TemplateDeclarations.of([]), TemplateDeclarations.of([template({ status: "rejected" })]))
})
