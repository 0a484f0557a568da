import { Capabilities } from "@wac/core"
import { OpenApi } from "effect/http-api"
import { assert, describe, it } from "vitest"
import { Api } from "../src/Api.ts"
import * as OpenApiChannel from "../src/OpenApiChannel.ts"

const document = OpenApi.fromApi(Api)

describe("the document of a channel", () => {
  it("a channel that has everything has the whole document", () => {
    assert.strictEqual(OpenApiChannel.of(document, Capabilities.all), document)
  })

  it("a channel of texts has no other kind of message, no templates and no campaigns, and refers to nothing missing", () => {
    const made = OpenApiChannel.of(document, Capabilities.none)
    const text = JSON.stringify(made)
    assert.notMatch(Object.keys(made.paths).join(" "), /templates|campaigns/)
    assert.isUndefined((made.paths["/v1/media"] as { readonly post?: unknown } | undefined)?.post)
    assert.notMatch(text, /schemas\/Send(Template|Image|Audio|Interactive|Reaction)"/)
    assert.match(text, /schemas\/SendText"/)
    assert.notProperty(made.components.schemas["SendText"]!["properties"], "context")
    for (const [, name] of text.matchAll(/#\/components\/schemas\/(\w+)/g)) {
      assert.property(made.components.schemas, name!)
    }
    const body = JSON.stringify(made.paths["/v1/messages"]!.post!.requestBody)
    assert.notInclude(body, "\"type\":\"template\"")
  })

  it("each kind is in the document exactly if its capability is", () => {
    const made = JSON.stringify(OpenApiChannel.of(document, { ...Capabilities.none, location: true, templates: true }))
    assert.match(made, /schemas\/SendLocation"/)
    assert.match(made, /schemas\/SendTemplate"/)
    assert.match(made, /"\/v1\/campaigns"/)
    assert.notMatch(made, /schemas\/SendContacts"/)
  })
})
