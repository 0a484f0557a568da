import { hmac } from "#hmac"
import { createHmac } from "node:crypto"
import { assert, describe, it } from "vitest"
import * as NodeCrypto from "../src/HmacNodeCrypto.ts"
import * as WebCrypto from "../src/HmacWebCrypto.ts"
import { random } from "./random.ts"

describe("the HMAC of the runtime", () => {
  it("each test project uses its own HMAC, so every test of the package runs with both", () => {
    const project: { readonly [name: string]: unknown } = { node: NodeCrypto.hmac, web: WebCrypto.hmac }
    assert.strictEqual<unknown>(hmac, project[process.env["HMAC"]!])
  })

  it("both HMACs are equal for keys and messages of any length", async () => {
    const source = random(7)
    for (let round = 0; round < 1_000; round++) {
      const key = source.bytes(1 + source.below(200))
      const message = source.bytes(source.below(300))
      const head = source.text(source.below(20))
      const encoding = source.pick(["hex", "base64"] as const)
      const expected = createHmac("sha256", key).update(head).update(message).digest(encoding)
      assert.strictEqual(await NodeCrypto.hmac(key, head, message, encoding), expected)
      assert.strictEqual(await WebCrypto.hmac(key, head, message, encoding), expected)
    }
  })

  it("both HMACs are equal for text, even with lone surrogates", async () => {
    const source = random(8)
    for (let round = 0; round < 1_000; round++) {
      const text = () => source.text(source.below(100)) + source.pick(["", "\ud800", "\udc00x", "\ufeff"])
      const [key, head, body] = [`k${text()}`, text(), text()]
      const bytes = new TextEncoder().encode(body)
      const expected = createHmac("sha256", Buffer.from(new TextEncoder().encode(key)))
        .update(new TextEncoder().encode(head + body)).digest("hex")
      assert.strictEqual(await NodeCrypto.hmac(key, head, body, "hex"), expected)
      assert.strictEqual(await WebCrypto.hmac(key, head, body, "hex"), expected)
      assert.strictEqual(await NodeCrypto.hmac(key, "", bytes, "hex"), await WebCrypto.hmac(key, "", body, "hex"))
    }
  })
})
