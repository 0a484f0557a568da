import { assert, it } from "vitest"
import * as TemplateDeclarations from "../../src/templates/TemplateDeclarations.ts"
import { template } from "../samples.ts"

const body = (text: string) => ({ type: "BODY", text })

it("the declaration has each approved template once, in order, with the values that it takes", () => {
  const written = TemplateDeclarations.of([
    template({ name: "order_update", language: "en_US", components: [body("{{1}}, order {{2}}")] }),
    template({ name: "order_update", language: "de", components: [body("{{1}}")] }),
    template({ name: "hello", language: "en_US", components: [body("Hello")] }),
    template({ name: "named", language: "en_US", parameterFormat: "named", components: [body("{{first_name}}")] }),
    template({
      name: "offer",
      language: "en_US",
      components: [
        { type: "HEADER", format: "IMAGE" },
        body("{{1}}"),
        { type: "LIMITED_TIME_OFFER", limited_time_offer: { text: "Today", has_expiration: true } },
        {
          type: "BUTTONS",
          buttons: [
            { type: "QUICK_REPLY", text: "No" },
            { type: "URL", text: "See", url: "https://shop.example/{{1}}" },
            { type: "URL", text: "Shop", url: "https://shop.example" }
          ]
        }
      ]
    }),
    template({ name: "pending", status: "pending" }),
    template({ name: "other", components: [{ type: "BUTTONS", buttons: [{ type: "MPM", text: "See" }] }] })
  ])
  assert.strictEqual(
    written,
    `// Written by \`wac templates types\`; do not edit.
interface Templates {
  readonly "hello": {
    readonly "en_US": { readonly body: readonly [] }
  }
  readonly "named": {
    readonly "en_US": { readonly body: readonly ["first_name"]; readonly isNamed: true }
  }
  readonly "offer": {
    readonly "en_US": { readonly body: readonly ["1"]; readonly header: "image"; readonly buttons: { readonly 1: "urlSuffix" }; readonly optionalButtons: { readonly 0: "payload" }; readonly hasOffer: true }
  }
  readonly "order_update": {
    readonly "de": { readonly body: readonly ["1"] }
    readonly "en_US": { readonly body: readonly ["1", "2"] }
  }
}

// @ts-ignore: a program may have only some of these packages
declare module "wac" {
  interface AccountTemplates extends Templates {}
}

// @ts-ignore: a program may have only some of these packages
declare module "@wac/effect/promises" {
  interface AccountTemplates extends Templates {}
}

// @ts-ignore: a program may have only some of these packages
declare module "@wac/client" {
  interface AccountTemplates extends Templates {}
}

export {}
`
  )
  assert.strictEqual(TemplateDeclarations.of([]), TemplateDeclarations.of([template({ status: "rejected" })]))
})
