import { hmac } from "#hmac"
import { createHmac } from "node:crypto"
import { assert, describe, it } from "vitest"
import * as NodeCrypto from "../src/HmacNodeCrypto.ts"
import * as WebCrypto from "../src/HmacWebCrypto.ts"
import { random } from "./random.ts"

describe("the HMAC of the runtime", () => {
  it("is that of this test project: every test of the package runs with each", () => {
    const project: { readonly [name: string]: unknown } = { node: NodeCrypto.hmac, web: WebCrypto.hmac }
    assert.strictEqual<unknown>(hmac, project[process.env["HMAC"]!])
  })

  it("is the same by either, for keys and messages of any length", async () => {
    const source = random(7)
    for (let round = 0; round < 1_000; round++) {
      const key = source.bytes(1 + source.below(200))
      const message = source.bytes(source.below(300))
      const expected = new Uint8Array(createHmac("sha256", key).update(message).digest())
      assert.deepEqual(await NodeCrypto.hmac(key, message), expected)
      assert.deepEqual(await WebCrypto.hmac(key, message), expected)
    }
  })
})
